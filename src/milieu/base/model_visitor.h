// SPDX-License-Identifier: Apache-2.0
// The arrays of a model, declared once. Beside every model struct is
//
//   template <MaybeConst<GmmModel> Model, class Visitor>
//   void visit_arrays(Model& m, Visitor&& v) {
//     visit_enum(v, "covariance", m.covariance, gmm_covariance_from);
//     v("means", m.means);
//   }
//
// A writer visits a const model, a reader one that it fills: see milieu/store/model_file.h.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// T is Model or const Model.
template <class T, class Model>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Model>;

// Visits an enum as the text that to_string() gives it. A model that is not const takes the value
// of what the visitor left in the text; `from_text` throws for an unknown one.
template <class Visitor, class Enum, class FromText>
void visit_enum(Visitor&& v, const char* name, Enum& value, FromText from_text) {
  if constexpr (std::is_const_v<Enum>) {
    const std::string text = to_string(value);
    v(name, text);
  } else {
    std::string text = to_string(value);
    v(name, text);
    value = from_text(text);
  }
}

// Visits an array that older files, and models without it, do not have: an empty one is not
// written, a missing one is left empty.
template <class Visitor, class Array>
void visit_optional(Visitor&& v, const char* name, Array& value) {
  if constexpr (std::is_const_v<Array>) {
    if (!value.empty()) v(name, value);
  } else if constexpr (requires { v.has(name); }) {
    if (v.has(name)) v(name, value);
  } else {
    v(name, value);
  }
}

}  // namespace milieu
