// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/conformance.h"

#include <cmath>
#include <limits>

namespace milieu::internal {

bool set_field(const std::vector<Field>& fields, const std::string& name, const FieldValue& value) {
  for (const Field& field : fields) {
    if (field.name != name) continue;
    field.set(value);
    return true;
  }
  return false;
}

std::vector<FieldValue> values_out_of_range(const Field& field) {
  std::vector<FieldValue> values;
  const FieldRule& rule = field.rule;
  if (field.kind == FieldKind::Integer) {
    // The value behind a rule's word is allowed whatever the range: the next one is not.
    const auto is_word = [&](int64_t value) {
      return !rule.word.empty() && static_cast<double>(value) == rule.word_value;
    };
    const auto add = [&](double limit, int64_t step) {
      if (!std::isfinite(limit)) return;  // infinity has no whole number
      const int64_t value = static_cast<int64_t>(limit) + step;
      values.push_back(is_word(value) ? value + step : value);
    };
    add(rule.min, -1);
    add(rule.max, 1);
  } else if (field.kind == FieldKind::Real) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (std::isfinite(rule.min))
      values.push_back(rule.min_is_excluded ? rule.min : std::nextafter(rule.min, -kInfinity));
    if (std::isfinite(rule.max)) values.push_back(std::nextafter(rule.max, kInfinity));
    values.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

}  // namespace milieu::internal
