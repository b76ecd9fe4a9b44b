// SPDX-License-Identifier: Apache-2.0
// JSON inside store/: careful parsing of untrusted text, and readable writing.
// Included by .cc files only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace milieu::internal {

using OrderedJson = nlohmann::ordered_json;  // for writing: keys stay in the order given
using Json = nlohmann::json;                 // for reading: finding a key does not take linear time

// Lists and objects inside each other, the outermost counted.
inline constexpr int kMaxJsonDepth = 16;

struct ParsedJson {
  Json value;
  // Empty when all is well; else the rest of a sentence that begins with the text's name:
  // "is not JSON (line 1, column 5)", "has the key 'centers' twice", "is nested deeper than 16".
  std::string problem;
};

// Parses strict JSON. A key that occurs twice in one object is a problem, not "the last one
// counts".
ParsedJson parse_json(std::string_view text);

// On one line.
std::string to_line(const OrderedJson& value);
// Objects with one key per line, indented by two; lists on one line.
std::string to_lines(const OrderedJson& value);

}  // namespace milieu::internal
