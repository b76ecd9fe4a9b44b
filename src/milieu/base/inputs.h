// SPDX-License-Identifier: Apache-2.0
// Further data that a method takes beside its samples, declared once. Beside a method's input
// struct is
//
//   template <class Visitor>
//   void visit_inputs(KMeansInput& in, Visitor&& v) {
//     v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
//   }
//
// and file flags, the explorer's form, docs tables and bindings follow from it. Shapes name n for
// the samples, d for their columns and k for the clusters.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

enum class InputKind {
  Samples,   // further samples with the columns of the input: from a file, or rows of the input
  Rows,      // a matrix with one row per sample
  Table,     // a matrix with its own shape
  Weights,   // one number per sample
  Numbers,   // a list of numbers with its own length
  Classes,   // one class per sample, by name
  Parts,     // one whole number per sample, -1 for none
  Integers,  // a list of whole numbers with its own length
  Pairs,     // pairs of samples, by row
  Groups,    // samples that occur together: lists of rows
  Links,     // pairs of samples; each sample occurs with those it is linked with
  Costs,     // triples: a sample, a sample that may represent it, the cost
  Views,     // other descriptions of the same samples, one file per view
};

struct InputRule {
  InputKind kind = InputKind::Rows;
  std::string shape;        // "n", "k x d"
  std::string python = {};  // its name in Python, where it is another one
};

// One further input of a method.
struct InputField {
  std::string name;  // snake_case; the flag is --name with dashes
  InputRule rule;
  std::string help;  // one sentence without a full stop

  std::string flag() const;
  // scikit-learn's name where it has one: weights is sample_weight.
  std::string python_name() const;
};

namespace internal {

// The visitor handed to visit_inputs by inputs_of: records the declarations only.
class InputCollector {
 public:
  explicit InputCollector(std::vector<InputField>& fields) : fields_(fields) {}

  template <class Value>
  void operator()(const char* name, Value&, InputRule rule, const char* help) {
    fields_.push_back({name, std::move(rule), help});
  }

 private:
  std::vector<InputField>& fields_;
};

}  // namespace internal

// What a method declares, in the order of declaration; nothing for an input without visit_inputs.
template <class Input>
std::vector<InputField> inputs_of() {
  std::vector<InputField> fields;
  Input input;
  if constexpr (requires { visit_inputs(input, internal::InputCollector(fields)); })
    visit_inputs(input, internal::InputCollector(fields));
  return fields;
}

// "one row per sample": what a kind is, for tables and messages.
const char* describe(InputKind kind);

// A Markdown table: the "Inputs" part of a method's docs page; "" where there are none.
std::string inputs_table(const std::vector<InputField>& fields);

}  // namespace milieu
