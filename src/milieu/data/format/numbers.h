// SPDX-License-Identifier: Apache-2.0
// Numbers in text files. One grammar everywhere: an optional sign, digits with an optional decimal
// point, an optional exponent; or nan, inf, infinity in any case. Nothing depends on the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace milieu::internal {

// The number that the whole of `text` is; nothing when there is more or less than one.
std::optional<double> parse_double(std::string_view text);
// Likewise, rounded once to float; a number too large for float becomes an infinity.
std::optional<float> parse_float(std::string_view text);
// Digits with an optional sign that fit into 64 bits.
std::optional<int64_t> parse_integer(std::string_view text);
// The number in a text such as "3", "3.0" or "-1e0" if it is whole and, when it has a point or an
// exponent, at most 2^53 in size.
std::optional<int64_t> parse_whole_number(std::string_view text);

// `text` without blanks (spaces, tabs, carriage returns) at either end.
std::string_view trim(std::string_view text);

}  // namespace milieu::internal
