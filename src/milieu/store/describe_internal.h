// SPDX-License-Identifier: Apache-2.0
// The parts of describe_file. Each gives the whole text for its kind of file.
#pragma once

#include <string>
#include <string_view>

namespace milieu::internal {

// Lines of a description.
class Description {
 public:
  Description(const std::string& path, std::string_view what) {
    text_.append(path).append(": ").append(what).append("\n");
  }
  void add(std::string_view name, std::string_view value) {
    text_.append("  ").append(name).append(": ").append(value).append("\n");
  }
  void add_line(std::string_view line) { text_.append("  ").append(line).append("\n"); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// describe_store.cc: what Milieu itself writes.
std::string describe_model(const std::string& path);
std::string describe_run_folder(const std::string& path);
std::string describe_json(const std::string& path);

// describe_data.cc: what users bring.
std::string describe_data_file(const std::string& path);
std::string describe_image_folder(const std::string& path);

}  // namespace milieu::internal
