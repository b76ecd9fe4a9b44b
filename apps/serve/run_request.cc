// SPDX-License-Identifier: Apache-2.0
#include "serve/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/selection.h"
#include "serve/message.h"

namespace milieu::serve {

namespace {

constexpr size_t kMaxName = 200;  // bytes of a run's or a part's name
constexpr size_t kMaxPartNames = 10'000;
constexpr size_t kMaxSelectText = 2000;  // a longer list of classes goes into a file of rows

const char* kind_word(FieldKind kind) {
  switch (kind) {
    case FieldKind::Flag:
      return "flag";
    case FieldKind::Integer:
      return "integer";
    case FieldKind::Real:
      return "real";
    case FieldKind::Choice:
      return "choice";
    case FieldKind::Text:
      break;
  }
  return "text";
}

Json value_to_json(const FieldValue& value) {
  return std::visit(
      [](const auto& one) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, double>)
          if (!std::isfinite(one)) return to_text(one);
        return one;
      },
      value);
}

FieldValue value_from_json(const Json& json, const std::string& name) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  throw InvalidArgument(fmt::format("options.{} must be a number, a text or true or false", name));
}

Json limit(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Options that have their own place in the request.
// Set by the explorer itself, or no longer an option.
bool is_set_elsewhere(const Field& field) {
  return field.name == "rank_contexts" || !field.rule.deprecated.empty();
}

// The name under which `options` has the field: its own, or one it had in an earlier version.
std::string name_in(const Json& options, const Field& field) {
  if (options.contains(field.name)) return field.name;
  for (std::string alias : field.rule.aliases) {
    std::replace(alias.begin(), alias.end(), '-', '_');
    if (alias.size() > 1 && options.contains(alias)) return alias;
  }
  return field.name;
}

Json field_to_json(const Field& field) {
  return {{"name", field.name},
          {"flag", field.flag()},
          {"kind", kind_word(field.kind)},
          {"default", value_to_json(field.get())},
          {"choices", field.choices},
          {"min", limit(field.rule.min)},
          {"max", limit(field.rule.max)},
          {"min_excluded", field.rule.min_is_excluded},
          {"word", field.rule.word},
          {"advanced", field.rule.is_advanced || field.name == "num_threads"},
          {"help", field.help}};
}

void require_object(const Json& json, const std::string& what) {
  if (!json.is_object()) throw InvalidArgument(fmt::format("{} must be an object", what));
}

std::string text_of(const Json& json, const std::string& what) {
  if (!json.is_string()) throw InvalidArgument(fmt::format("{} must be a text", what));
  std::string text = json.get<std::string>();
  if (text.size() > kMaxName)
    throw InvalidArgument(fmt::format("{} is too long: at most {} bytes", what, kMaxName));
  return text;
}

int64_t row_of(const Json& json, const Collection& collection, const std::string& what) {
  if (!json.is_number_integer() || json.get<double>() < 0 ||
      json.get<double>() >= static_cast<double>(collection.size()))
    throw InvalidArgument(fmt::format("{} names row {}, must be a whole number from 0 to {}", what,
                                      json.dump(), collection.size() - 1));
  return json.get<int64_t>();
}

// A class as --select reads it back; nothing when it cannot.
std::optional<std::string> class_item(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return selection_item(name);
}

// "6,0" for rows that are whole classes; nothing when they are not.
std::optional<std::string> classes_text(const std::vector<int64_t>& rows,
                                        const Collection& collection) {
  const std::vector<std::string>& names = collection.data().labels.names;
  std::vector<int64_t> counts(names.size());
  for (const int64_t row : rows) {
    const int index = collection.class_of(row);
    if (index < 0) return std::nullopt;
    ++counts[static_cast<size_t>(index)];
  }
  std::string text;
  for (size_t c = 0; c < names.size(); ++c) {
    if (counts[c] == 0) continue;
    const std::optional<std::string> item = class_item(names[c]);
    if (counts[c] != collection.class_sizes()[c] || !item) return std::nullopt;
    text += (text.empty() ? "" : ",") + *item;
  }
  return text.size() > kMaxSelectText ? std::nullopt : std::optional(text);
}

std::string rows_text(const std::vector<int64_t>& rows) {
  std::string text;
  for (const int64_t row : rows) text += fmt::format("{}\n", row);
  return text;
}

bool has_input(const MethodInfo& method, std::string_view name) {
  return std::ranges::any_of(method.inputs,
                             [&](const InputField& input) { return input.name == name; });
}

bool needs_context(const MethodInfo& method) {
  return std::ranges::find(method.needs, "context") != method.needs.end();
}

bool ranks_contexts(const MethodInfo& method) {
  const OptionFields own = method.make_fields();
  return std::ranges::any_of(own.fields,
                             [](const Field& field) { return field.name == "rank_contexts"; });
}

class Planner {
 public:
  Planner(const Json& request, const Collection& collection, const MethodInfo& method)
      : request_(request), collection_(collection), method_(method) {}

  RunPlan make() {
    plan_.method = method_.name;
    plan_.name = request_.contains("name") ? text_of(request_["name"], "name") : "";
    plan_.ranks_contexts = request_.value("rank_contexts", false);
    plan_.request = request_;
    std::istringstream words(method_.name);
    for (std::string word; words >> word;) plan_.arguments.push_back(word);
    plan_.feature = request_.contains("feature") ? text_of(request_["feature"], "feature") : "";
    for (std::string& argument : method_.input_arguments(plan_.feature))
      plan_.arguments.push_back(std::move(argument));
    check_needs();
    add_set();
    add_context();
    add_constraints();
    add_initial_labels();
    add_part_names();
    add_options();
    return std::move(plan_);
  }

 private:
  void add(const std::string& flag, const std::string& value) {
    plan_.arguments.push_back(flag);
    plan_.arguments.push_back(value);
  }

  void add_file(const std::string& flag, const std::string& name, std::string content) {
    add(flag, "{}/" + name);
    plan_.files.emplace_back(name, std::move(content));
  }

  void check_needs() const {
    for (const std::string& need : method_.needs) {
      if (need == "classes" && collection_.data().labels.empty())
        throw InvalidArgument(
            fmt::format("{} needs classes: start milieu explore with --labels or on class folders",
                        method_.name));
      if (need == "binary" && !collection_.is_binary())
        throw InvalidArgument(fmt::format(
            "{} needs vectors of zeros and ones: threshold the data first", method_.name));
      if (need == "images" && !collection_.has_image_files())
        throw InvalidArgument(fmt::format("{} needs an image folder", method_.name));
    }
  }

  void check_classes() const {
    if (!method_.judges_classes) return;
    for (const int64_t row : plan_.rows)
      if (collection_.class_of(row) < 0)
        throw InvalidArgument(
            fmt::format("set has row {}, which has no class, and {} judges classes: choose classes",
                        row, method_.name));
  }

  void add_set() {
    if (!request_.contains("set")) throw InvalidArgument("set is missing: choose what to split");
    plan_.rows = resolve_rows(request_["set"], collection_, {}, "set");
    if (plan_.rows.empty()) throw InvalidArgument("set is empty: choose a class or some rows");
    check_classes();
    const bool is_all = static_cast<int64_t>(plan_.rows.size()) == collection_.size();
    if (is_all) return;
    const std::optional<std::string> classes = classes_text(plan_.rows, collection_);
    if (classes)
      add("--select", *classes);
    else
      add_file("--rows", "rows.txt", rows_text(plan_.rows));
  }

  void add_context() {
    const bool has_context = request_.contains("context") && !request_["context"].is_null();
    if (has_context && !takes_context(method_))
      throw InvalidArgument(fmt::format("{} takes no context", method_.name));
    if (plan_.ranks_contexts && !ranks_contexts(method_))
      throw InvalidArgument(fmt::format("{} ranks no contexts", method_.name));
    if (plan_.ranks_contexts) {
      plan_.arguments.push_back("--rank-contexts");
      add("--resume", "{}/contexts.json");
    }
    if (!has_context) {
      if (!plan_.ranks_contexts && needs_context(method_))
        throw InvalidArgument("context is missing: choose what to compare the set with");
      return;
    }
    std::vector<int64_t> rows =
        resolve_rows(request_["context"], collection_, plan_.rows, "context");
    std::set_difference(rows.begin(), rows.end(), plan_.rows.begin(), plan_.rows.end(),
                        std::back_inserter(plan_.context_rows));
    if (plan_.context_rows.empty())
      throw InvalidArgument("context is empty: choose a class or some rows outside of the set");
    const std::optional<std::string> classes = classes_text(plan_.context_rows, collection_);
    if (classes)
      add("--context-select", *classes);
    else if (plan_.ranks_contexts)
      throw InvalidArgument("a ranking takes whole classes as contexts");
    else
      add_file("--context-rows", "context_rows.txt", rows_text(plan_.context_rows));
    if (plan_.ranks_contexts) plan_.context_rows.clear();
  }

  void add_constraints() {
    if (!request_.contains("constraints") || request_["constraints"].is_null()) return;
    const Json& constraints = request_["constraints"];
    require_object(constraints, "constraints");
    bool has_any = false;
    for (const auto& [name, list] : constraints.items()) {
      if (name != "memberships" && name != "must_link" && name != "cannot_link")
        throw InvalidArgument(fmt::format("constraints has no part '{}'", name));
      if (!list.is_array())
        throw InvalidArgument(fmt::format("constraints.{} must be a list", name));
      has_any = has_any || !list.empty();
    }
    if (!has_any) return;
    if (!takes_constraints(method_) || plan_.ranks_contexts)
      throw InvalidArgument(fmt::format("{} takes no constraints here", method_.name));
    add_memberships(constraints.value("memberships", Json::array()));
    add_links(constraints.value("must_link", Json::array()), "--must-link", "must_link.csv");
    add_links(constraints.value("cannot_link", Json::array()), "--cannot-link", "cannot_link.csv");
  }

  // The split that a corrected run starts from: a part for every row of the set.
  void add_initial_labels() {
    if (!request_.contains("initial") || request_["initial"].is_null()) return;
    if (!has_input(method_, "initial_labels") || plan_.ranks_contexts)
      throw InvalidArgument(fmt::format("{} takes no initial labels here", method_.name));
    const std::vector<int64_t> parts = parts_of(request_["initial"], "initial");
    for (const int64_t row : plan_.rows)
      if (parts[static_cast<size_t>(row)] < 0)
        throw InvalidArgument(fmt::format("initial has no part for row {} of the set", row));
    add_file("--initial-labels", "initial_labels.txt", rows_text(parts));
  }

  void add_part_names() {
    if (!request_.contains("part_names")) return;
    if (!request_["part_names"].is_array() || request_["part_names"].size() > kMaxPartNames)
      throw InvalidArgument(
          fmt::format("part_names must be a list of at most {} texts", kMaxPartNames));
    for (const Json& name : request_["part_names"])
      plan_.part_names.push_back(text_of(name, "part_names"));
  }

  int64_t set_row(const Json& json, const std::string& what) const {
    const int64_t row = row_of(json, collection_, what);
    if (!std::binary_search(plan_.rows.begin(), plan_.rows.end(), row))
      throw InvalidArgument(fmt::format("{} names row {}, which is not in the set", what, row));
    return row;
  }

  void add_memberships(const Json& list) {
    if (list.empty()) return;
    add_file("--memberships", "memberships.txt",
             rows_text(parts_of(list, "constraints.memberships")));
  }

  // Pairs of a row of the set and its part, as one number per row of the collection; -1 for none.
  std::vector<int64_t> parts_of(const Json& list, const std::string& what) const {
    if (!list.is_array()) throw InvalidArgument(fmt::format("{} must be a list", what));
    std::vector<int64_t> parts(static_cast<size_t>(collection_.size()), -1);
    for (const Json& pair : list) {
      if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_integer() || pair[1] < 0)
        throw InvalidArgument(fmt::format("{} must hold pairs: row, part", what));
      parts[static_cast<size_t>(set_row(pair[0], what))] = pair[1].get<int64_t>();
    }
    return parts;
  }

  void add_links(const Json& list, const std::string& flag, const std::string& file) {
    if (list.empty()) return;
    CsvWriter table;
    for (const Json& pair : list) {
      if (!pair.is_array() || pair.size() != 2)
        throw InvalidArgument("constraints must hold pairs of rows");
      table.row(set_row(pair[0], file), set_row(pair[1], file));
    }
    add_file(flag, file, table.text());
  }

  void add_options() {
    if (!request_.contains("options") || request_["options"].is_null()) return;
    const Json& options = request_["options"];
    require_object(options, "options");
    const OptionFields own = method_.make_fields(), defaults = method_.make_fields();
    std::set<std::string> names;
    for (size_t i = 0; i < own.fields.size(); ++i) {
      const Field& field = own.fields[i];
      const std::string name = name_in(options, field);
      names.insert(name);
      if (!options.contains(name) || field.name == "rank_contexts") continue;
      field.set(value_from_json(options[name], name));
      field.validate();
      if (field.get() != defaults.fields[i].get()) add(field.flag(), to_text(field.get()));
    }
    for (const auto& [name, value] : options.items())
      if (!names.contains(name))
        throw InvalidArgument(fmt::format("{} has no option '{}'", method_.name, name));
  }

  const Json& request_;
  const Collection& collection_;
  const MethodInfo& method_;
  RunPlan plan_;
};

}  // namespace

bool takes_context(const MethodInfo& method) {
  return std::ranges::any_of(
      method.inputs, [](const InputField& input) { return input.rule.kind == InputKind::Samples; });
}

bool takes_constraints(const MethodInfo& method) { return has_input(method, "memberships"); }

Json method_to_json(const MethodInfo& method) {
  Json fields = Json::array();
  const OptionFields own = method.make_fields();
  for (const Field& field : own.fields)
    if (!is_set_elsewhere(field)) fields.push_back(field_to_json(field));
  Json inputs = Json::array();
  for (const InputField& input : method.inputs)
    inputs.push_back({{"name", input.name},
                      {"kind", describe(input.rule.kind)},
                      {"shape", input.rule.shape},
                      {"help", input.help}});
  return {{"name", method.name},
          {"title", method.title},
          {"summary", method.summary},
          {"takes_context", takes_context(method)},
          {"ranks_contexts", ranks_contexts(method)},
          {"takes_constraints", takes_constraints(method)},
          {"needs", method.needs},
          {"inputs", std::move(inputs)},
          {"fields", std::move(fields)}};
}

std::vector<int64_t> resolve_rows(const Json& set, const Collection& collection,
                                  const std::vector<int64_t>& others, const std::string& what) {
  require_object(set, what);
  std::vector<bool> chosen(static_cast<size_t>(collection.size()), false);
  for (const auto& [key, value] : set.items())
    if (key != "classes" && key != "rows" && key != "rest")
      throw InvalidArgument(fmt::format("{} has no part '{}'", what, key));
  const Json classes = set.value("classes", Json::array()), rows = set.value("rows", Json::array());
  if (!classes.is_array() || !rows.is_array())
    throw InvalidArgument(fmt::format("{}.classes and {}.rows must be lists", what, what));
  const Labels& labels = collection.data().labels;
  for (const Json& name : classes) {
    const auto found = std::find(labels.names.begin(), labels.names.end(),
                                 name.is_string() ? name.get<std::string>() : "");
    if (!name.is_string() || found == labels.names.end())
      throw InvalidArgument(
          fmt::format("{} names the class {}, which is not in the collection", what, name.dump()));
    const int index = static_cast<int>(found - labels.names.begin());
    for (size_t i = 0; i < chosen.size(); ++i)
      if (labels.indices[i] == index) chosen[i] = true;
  }
  for (const Json& row : rows) chosen[static_cast<size_t>(row_of(row, collection, what))] = true;
  if (set.contains("rest") && set["rest"] == true) {
    std::vector<bool> is_other(chosen.size(), false);
    for (const int64_t row : others) is_other[static_cast<size_t>(row)] = true;
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = chosen[i] || !is_other[i];
  }
  std::vector<int64_t> out;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) out.push_back(static_cast<int64_t>(i));
  return out;
}

RunPlan plan_run(const Json& request, const Collection& collection,
                 const std::vector<MethodInfo>& methods) {
  require_object(request, "the request");
  constexpr std::array kParts = {"method",  "name",          "set",         "context",
                                 "options", "rank_contexts", "constraints", "initial",
                                 "feature", "part_names",    "follows"};
  for (const auto& [key, value] : request.items())
    if (std::ranges::find(kParts, key) == kParts.end())
      throw InvalidArgument(fmt::format("the request has no part '{}'", key));
  if (request.contains("rank_contexts") && !request["rank_contexts"].is_boolean())
    throw InvalidArgument("rank_contexts must be true or false");
  const std::string name = request.contains("method") ? text_of(request["method"], "method") : "";
  for (const MethodInfo& method : methods)
    if (method.name == name) return Planner(request, collection, method).make();
  throw InvalidArgument(fmt::format("method is '{}', which does not exist", name));
}

}  // namespace milieu::serve
