// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace milieu {

std::string InputField::flag() const {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return "--" + dashed;
}

std::string InputField::python_name() const {
  if (!rule.python.empty()) return rule.python;
  return name == "weights" ? "sample_weight" : name;
}

const char* describe(InputKind kind) {
  switch (kind) {
    case InputKind::Samples:
      return "further samples";
    case InputKind::Rows:
      return "one row per sample";
    case InputKind::Table:
      return "matrix";
    case InputKind::Weights:
      return "one number per sample";
    case InputKind::Numbers:
      return "list of numbers";
    case InputKind::Classes:
      return "one class per sample";
    case InputKind::Parts:
      return "one whole number per sample, -1 for none";
    case InputKind::Integers:
      return "list of whole numbers";
    case InputKind::Pairs:
      return "pairs of samples";
    case InputKind::Groups:
      return "groups of samples";
    case InputKind::Links:
      return "links between samples";
    case InputKind::Costs:
      return "triples: sample, sample that may represent it, cost";
    case InputKind::Views:
      return "one matrix per view";
  }
  return "";
}

std::string inputs_table(const std::vector<InputField>& fields) {
  if (fields.empty()) return "";
  std::string text = "| input | flag | kind | shape | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const InputField& field : fields)
    text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", field.name, field.flag(),
                        describe(field.rule.kind), field.rule.shape, field.help);
  return text;
}

}  // namespace milieu
