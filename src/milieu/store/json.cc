// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/store/json_internal.h"

namespace milieu {

using internal::Json;
using internal::OrderedJson;

namespace {

OrderedJson metrics_object(const Metrics& m) {
  return {{"accuracy", m.accuracy},
          {"error", m.error},
          {"balanced_error", m.balanced_error},
          {"nmi", m.nmi},
          {"nmi_max", m.nmi_max},
          {"nmi_sqrt", m.nmi_sqrt},
          {"ari", m.ari},
          {"f", m.f},
          {"f_pairwise", m.f_pairwise},
          {"precision_pairwise", m.precision_pairwise},
          {"recall_pairwise", m.recall_pairwise},
          {"f_bcubed", m.f_bcubed},
          {"precision_bcubed", m.precision_bcubed},
          {"recall_bcubed", m.recall_bcubed},
          {"purity", m.purity},
          {"num_clusters", m.num_clusters},
          {"num_classes", m.num_classes},
          {"n", m.n}};
}

OrderedJson value_of(const FieldValue& value) {
  if (const double* real = std::get_if<double>(&value); real && !std::isfinite(*real))
    return to_text(value);
  return std::visit([](const auto& v) { return OrderedJson(v); }, value);
}

// The value in the kind that Field::set takes; lists, objects and null are shown in the complaint.
FieldValue field_value(const Json& value, const Field& field) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    throw InvalidArgument(fmt::format("{} is {}, must be at most {}", field.name,
                                      printable(value.dump()),
                                      std::numeric_limits<int64_t>::max()));
  if (value.is_number_integer()) return value.get<int64_t>();
  throw InvalidArgument(fmt::format("{} is {}, must be a number, a string, true or false",
                                    field.name, printable(value.dump())));
}

void set_field(const Json& value, const Field& field) {
  const FieldValue given = field_value(value, field);
  if (const std::string* text = std::get_if<std::string>(&given);
      text && field.kind == FieldKind::Real) {
    field.set_from_text(*text);  // "inf"
  } else {
    field.set(given);
  }
  field.validate();
}

std::string names_of(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_alias(const Field& field, const std::string& name) {
  for (std::string alias : field.rule.aliases) {
    std::ranges::replace(alias, '-', '_');
    if (alias.size() > 1 && alias == name) return true;
  }
  return false;
}

// The field that JSON calls `name`: by its name, by an alias, or by a former name; or nothing.
std::optional<Field> find_field(const std::vector<Field>& fields, const std::string& name) {
  for (const Field& field : fields)
    if (field.name == name) return field;
  for (const Field& field : fields) {
    if (is_alias(field, name)) return field;
    for (Field& former : field.former_fields())
      if (former.name == name) return std::move(former);
  }
  return std::nullopt;
}

OrderedJson labels_list(const std::vector<NamedLabel>& labels) {
  OrderedJson list = OrderedJson::array();
  for (const NamedLabel& label : labels)
    list.push_back({{"label", label.label},
                    {"name", label.name},
                    {"sure", label.sure},
                    {"mean", label.mean},
                    {"lead", label.lead},
                    {"p", label.p}});
  return list;
}

OrderedJson part_names_object(const PartNames& part) {
  OrderedJson json = {{"name", part.title()}, {"labels", labels_list(part.labels)}};
  if (!part.exemplar.empty()) json["exemplar"] = labels_list(part.exemplar);
  return json;
}

}  // namespace

std::string summary_to_json(const RunSummary& s, const Metrics* metrics,
                            std::span<const NamedMetrics> more,
                            std::span<const PartNames> part_names) {
  const std::string termination = to_string(s.termination);
  OrderedJson json = {{"method", s.method},
                      {"version", s.version},
                      {"seed", s.seed},
                      {"termination", termination},
                      {"message", s.message},
                      {"objective", s.objective},
                      {"iterations", s.iterations},
                      {"restart", s.restart},
                      {"num_restarts", s.num_restarts},
                      {"seconds", s.seconds},
                      {"n", s.n},
                      {"d", s.d},
                      {"clusters", s.clusters},
                      {"sizes", s.sizes},
                      {"warnings", s.warnings},
                      {"trace", s.trace}};
  for (const auto& [name, value] : s.extra) {
    MILIEU_ASSERT(!json.contains(name) && name != "metrics");
    json[name] = std::visit([](const auto& v) { return OrderedJson(v); }, value);
  }
  if (metrics) json["metrics"] = metrics_object(*metrics);
  for (const NamedMetrics& named : more) {
    OrderedJson list = OrderedJson::array();
    for (const Metrics& one : named.metrics) list.push_back(metrics_object(one));
    if (named.metrics.size() == 1) list = OrderedJson(list[0]);
    json[named.name] = std::move(list);
  }
  for (const PartNames& part : part_names) json["part_names"].push_back(part_names_object(part));
  return internal::to_lines(json);
}

std::string metrics_to_json(const Metrics& metrics) {
  return internal::to_lines(metrics_object(metrics));
}

std::string options_to_json(const std::vector<Field>& fields) {
  OrderedJson json = OrderedJson::object();
  for (const Field& field : fields) json[field.name] = value_of(field.get());
  return internal::to_lines(json);
}

std::string json_problem(std::string_view text) { return internal::parse_json(text).problem; }

void options_from_json(std::string_view text, const std::vector<Field>& fields,
                       const std::string& source) {
  const internal::ParsedJson parsed = internal::parse_json(text);
  if (!parsed.problem.empty()) throw InvalidArgument(source + " " + parsed.problem);
  if (!parsed.value.is_object())
    throw InvalidArgument(source + " must hold one JSON object: {\"option\": value, ...}");
  for (const auto& [name, value] : parsed.value.items()) {
    const std::optional<Field> field = find_field(fields, name);
    if (!field)
      throw InvalidArgument(fmt::format("{}: {} is not an option; the options are {}", source,
                                        printable(name), names_of(fields)));
    try {
      set_field(value, *field);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(source + ": " + error.what());
    }
  }
}

}  // namespace milieu
