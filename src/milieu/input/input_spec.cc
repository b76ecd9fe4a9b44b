// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input_spec.h"

#include <fmt/format.h>

#include <charconv>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

InputFiles::InputFiles(std::vector<InputField> declared) {
  for (const InputField& field : declared) {
    const bool is_repeated = field.rule.kind == InputKind::Views;
    const bool is_samples = field.rule.kind == InputKind::Samples;
    entries_.push_back(
        {field.name, (is_samples ? "file or image folder: " : "") + field.help, "", is_repeated});
    if (field.rule.kind != InputKind::Samples) continue;
    entries_.push_back({field.name + "_select",
                        fmt::format("take the {} from INPUT: these classes, such as 7", field.name),
                        "", false});
    entries_.push_back(
        {field.name + "_rows",
         fmt::format("take the {} from INPUT: the rows whose numbers are in this file", field.name),
         "", false});
  }
}

std::vector<Field> InputFiles::fields() {
  std::vector<Field> fields;
  internal::FieldCollector collect(fields);
  for (Entry& entry : entries_) {
    FieldRule rule = anything();
    rule.is_repeated = entry.is_repeated;
    collect(entry.name.c_str(), entry.path, rule, entry.help.c_str());
  }
  return fields;
}

const std::string& InputFiles::operator[](std::string_view name) const {
  static const std::string none;
  for (const Entry& entry : entries_)
    if (entry.name == name) return entry.path;
  return none;
}

std::string input_value_name(const Field& field) {
  if (field.name == "feature") return "LIST";
  if (field.name == "model") return "DIR";
  if (field.name == "max_side") return "N";
  if (field.name == "label_column") return "NAME";
  if (field.name.ends_with("select")) return "CLASSES";
  if (field.name == "image_size") return "WxH";
  return "FILE";
}

ImageSize parse_image_size(const std::string& text) {
  ImageSize size;
  if (text.empty()) return size;
  const char* end = text.data() + text.size();
  const auto [cross, error] = std::from_chars(text.data(), end, size.width);
  const bool has_cross = error == std::errc() && cross != end && *cross == 'x';
  const auto [rest, second_error] = std::from_chars(has_cross ? cross + 1 : end, end, size.height);
  if (!has_cross || second_error != std::errc() || rest != end || size.width < 1 || size.height < 1)
    throw InvalidArgument(fmt::format("image_size is '{}', must be WxH, such as 16x16", text));
  return size;
}

ImageSize image_size_of(const Dataset& data, const std::string& given) {
  const int64_t cols = data.points.cols();
  if (!given.empty()) {
    const ImageSize size = parse_image_size(given);
    if (int64_t{size.width} * size.height != cols)
      throw InvalidArgument(
          fmt::format("image_size is {}, but {} has {}: width times "
                      "height must give the columns",
                      given, data.source, counted(cols, "column")));
    return size;
  }
  if (data.sample_shape.size() != 2) return {};
  return {.width = static_cast<int>(data.sample_shape[1]),
          .height = static_cast<int>(data.sample_shape[0])};
}

}  // namespace milieu
