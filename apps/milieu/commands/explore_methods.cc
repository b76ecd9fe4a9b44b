// SPDX-License-Identifier: Apache-2.0
#include "commands/explore_methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/input/views.h"

namespace milieu::cli {

namespace {

bool shares(const MethodEntry& method, const std::string& name) {
  return std::ranges::find(method.shared_files, name) != method.shared_files.end();
}

// The fields of the files that a method shares, in the order of the table.
std::vector<Field> shared_fields(const MethodEntry& entry, Method& method) {
  std::vector<Field> all = method.files().fields();
  for (Field& field : method.own_fields()) all.push_back(std::move(field));
  std::vector<Field> fields;
  for (const std::string& name : entry.shared_files)
    for (const Field& field : all)
      if (field.name == name) fields.push_back(field);
  return fields;
}

void add_flags(const Field& field, std::vector<std::string>& arguments) {
  const std::string value = to_text(field.get());
  if (value.empty()) return;
  for (const std::string& each :
       field.rule.is_repeated ? split_text(value, '\n') : std::vector<std::string>{value})
    arguments.insert(arguments.end(), {field.flag(), each});
}

}  // namespace

SharedFiles::SharedFiles() {
  for (const MethodEntry& entry : methods()) {
    const std::unique_ptr<Method> method = entry.make();
    const std::vector<Field> inputs = method->files().fields();
    for (const Field& field : shared_fields(entry, *method))
      add(entry, field, std::ranges::find(inputs, field.name, &Field::name) != inputs.end());
  }
  internal::FieldCollector collect(fields_);
  for (File& file : files_) {
    FieldRule rule = anything();
    rule.is_repeated = file.is_repeated;
    const std::string help = fmt::format("for {}: {}", file.methods, file.help);
    collect(file.name.c_str(), file.value, rule, help.c_str());
  }
}

void SharedFiles::add(const MethodEntry& method, const Field& field, bool is_input) {
  for (File& file : files_)
    if (file.name == field.name) {
      file.methods += ", " + method.name;
      return;
    }
  files_.push_back({field.name, field.help, method.name, "", is_input, field.rule.is_repeated});
}

const std::string& SharedFiles::operator[](std::string_view name) const {
  static const std::string none;
  for (const File& file : files_)
    if (file.name == name) return file.value;
  return none;
}

std::vector<std::string> SharedFiles::given_inputs() const {
  std::vector<std::string> given;
  for (const File& file : files_)
    if (file.is_input && !file.value.empty()) given.push_back(file.value);
  return given;
}

bool SharedFiles::has_any_of(const MethodEntry& method) const {
  return std::ranges::any_of(
      files_, [&](const File& file) { return !file.value.empty() && shares(method, file.name); });
}

std::vector<Field> collection_fields(InputSpec& input) {
  std::vector<Field> fields = fields_of(input);
  std::erase_if(fields,
                [](const Field& field) { return field.name == "select" || field.name == "rows"; });
  return fields;
}

InputSpec by_feature(InputSpec input, const std::string& feature) {
  if (feature.empty()) return input;
  input.feature = feature;
  input.vectors = input.vector_names = input.codebook = "";
  return input;
}

std::vector<std::string> collection_arguments(InputSpec input) {
  std::vector<std::string> arguments;
  if (!input.path.empty()) arguments.push_back(input.path);
  for (const Field& field : collection_fields(input))
    if (field.name != "path") add_flags(field, arguments);
  return arguments;
}

std::vector<std::string> collection_arguments(const MethodEntry& entry, InputSpec input,
                                              DescribeSpec describe, const SharedFiles& shared) {
  const std::unique_ptr<Method> method = entry.make();
  const std::vector<Field> files = shared_fields(entry, *method);
  for (const Field& field : files) field.set(shared[field.name]);
  method->adapt_to_collection(input, describe);
  std::vector<std::string> arguments = collection_arguments(std::move(input));
  for (const Field& field : fields_of(describe)) add_flags(field, arguments);
  for (const Field& field : files) add_flags(field, arguments);
  return arguments;
}

}  // namespace milieu::cli
