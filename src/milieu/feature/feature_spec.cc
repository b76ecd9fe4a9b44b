// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/feature_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/error.h"

namespace milieu {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string all_names() {
  std::vector<std::string> names;
  for (const FeatureEntry& entry : feature_catalog())
    names.push_back(entry.file.empty() ? entry.name : entry.name + ":" + entry.file);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_called(const Field& field, std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  const auto& aliases = field.rule.aliases;
  return field.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

void set_option(FeatureSpec& spec, const std::string& text) {
  const size_t equals = text.find('=');
  const std::vector<Field> fields = spec.fields();
  const std::string name = text.substr(0, equals);
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& f) { return is_called(f, name); });
  if (field == fields.end()) {
    std::vector<std::string> names;
    for (const Field& known : fields) names.push_back(known.name);
    throw InvalidArgument(fmt::format("feature {} has no option '{}': it has {}", spec.entry->name,
                                      name, fmt::join(names, ", ")));
  }
  const bool is_flag = field->kind == FieldKind::Flag;
  if (equals == std::string::npos && !is_flag)
    throw InvalidArgument(fmt::format("feature {}: option {} needs a value: write {}:{}=VALUE",
                                      spec.entry->name, name, spec.entry->name, name));
  field->set_from_text(equals == std::string::npos ? "true" : text.substr(equals + 1));
  field->validate();
}

}  // namespace

std::vector<Field> FeatureSpec::fields() {
  std::vector<Field> fields = feature->fields();
  if (is_local())
    for (Field& field : fields_of(words)) fields.push_back(std::move(field));
  return fields;
}

FeatureSpec parse_feature(std::string_view text) {
  std::vector<std::string> parts = split(text, ':');
  FeatureSpec spec;
  spec.entry = find_feature(parts[0]);
  if (!spec.entry)
    throw InvalidArgument(fmt::format("feature is '{}', must be one of {}", parts[0], all_names()));
  spec.id = parts[0];
  size_t first_option = 1;
  if (!spec.entry->file.empty()) {
    if (parts.size() < 2 || parts[1].empty())
      throw InvalidArgument(fmt::format("feature {} needs a file: write {}:{}", parts[0], parts[0],
                                        spec.entry->file));
    spec.file = parts[1];
    spec.id += "-" + std::filesystem::path(spec.file).stem().string();
    first_option = 2;
  }
  spec.feature = spec.entry->make(spec.file);
  for (size_t i = first_option; i < parts.size(); ++i) set_option(spec, parts[i]);
  return spec;
}

std::vector<FeatureSpec> parse_features(std::string_view list) {
  std::vector<FeatureSpec> specs;
  for (const std::string& text : split(list, ',')) {
    specs.push_back(parse_feature(text));
    for (size_t i = 0; i + 1 < specs.size(); ++i)
      if (specs[i].id == specs.back().id)
        throw InvalidArgument(
            fmt::format("feature {} is listed twice in '{}': keep one, or write to another folder",
                        specs.back().id, list));
  }
  return specs;
}

std::string to_text(FeatureSpec& spec) {
  std::string text = spec.entry->name;
  if (!spec.file.empty()) text += ":" + spec.file;
  FeatureSpec fresh;
  fresh.entry = spec.entry;
  fresh.feature = spec.entry->make(spec.file);
  const std::vector<Field> fields = spec.fields(), defaults = fresh.fields();
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].get() != defaults[i].get())
      text += fmt::format(":{}={}", fields[i].name, to_text(fields[i].get()));
  return text;
}

}  // namespace milieu
