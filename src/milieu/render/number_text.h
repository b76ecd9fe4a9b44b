// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them on a page: thousands separated, few digits, a real minus sign. Exact
// values belong into title attributes or JSON, not here.
#pragma once

#include <cstdint>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// "1,234,567".
std::string count_text(int64_t count);

// "1 cluster", "12 clusters", "3 classes" (plural: singular + "s" unless given).
std::string count_text(int64_t count, const std::string& singular, const std::string& plural = {});

// About `digits` significant digits: "1,234.5", "0.01234", "1.235×10⁹"; "not a number", "infinite"
// and "minus infinite" where there is no number.
std::string real_text(double value, int digits = 5);

// `value` with exactly `decimals` decimals and separated thousands: "−12,345.60".
std::string fixed_text(double value, int decimals);

// A share in [0, 1] as "12.3%"; "not a number" for NaN.
std::string percent_text(double share);

// "0.8 ms", "0.31 s", "2 min 5 s", "3 h 12 min".
std::string seconds_text(double seconds);

// "×10⁶"; empty for 0.
std::string power_of_ten_text(int exponent);

}  // namespace milieu
