// SPDX-License-Identifier: Apache-2.0
// What milieu explore is given for single methods, and how their runs read the collection. All of
// it comes from the table of methods (run/methods.h).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/input/input_spec.h"
#include "milieu/input/labels/label_source.h"
#include "milieu/run/methods.h"

namespace milieu::cli {

// The files that methods share among all runs on a collection: one flag each.
class SharedFiles {
 public:
  SharedFiles();
  SharedFiles(const SharedFiles&) = delete;
  SharedFiles& operator=(const SharedFiles&) = delete;

  // They refer to this object.
  const std::vector<Field>& fields() const { return fields_; }
  // "" when not given.
  const std::string& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].empty(); }
  // Those that describe the samples, in the order of the table; files such as a learned model do
  // not.
  std::vector<std::string> given_inputs() const;
  // Whether one of the files that `method` shares is given.
  bool has_any_of(const MethodEntry& method) const;

 private:
  struct File {
    std::string name, help, methods, value;
    bool is_input = false, is_repeated = false;
  };

  void add(const MethodEntry& method, const Field& field, bool is_input);

  std::deque<File> files_;
  std::vector<Field> fields_;
};

// The fields of INPUT that make sense for a whole collection; the path is the first.
std::vector<Field> collection_fields(InputSpec& input);

// The same images described by another feature; "": as they are.
InputSpec by_feature(InputSpec input, const std::string& feature);

// INPUT and flags with which a run of `method` reads the collection and names its parts; without a
// method, as the collection itself is read.
std::vector<std::string> collection_arguments(InputSpec input);
std::vector<std::string> collection_arguments(const MethodEntry& method, InputSpec input,
                                              DescribeSpec describe, const SharedFiles& shared);

}  // namespace milieu::cli
