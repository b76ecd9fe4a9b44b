// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace milieu {
namespace {

constexpr std::string_view kMinus = "\u2212";

// "-12345.60" with commas between groups of three digits and a real minus sign.
std::string group_thousands(std::string_view number) {
  std::string out;
  if (number.starts_with('-')) {
    out = kMinus;
    number.remove_prefix(1);
  }
  const size_t whole = std::min(number.find('.'), number.size());
  for (size_t i = 0; i < number.size(); ++i) {
    if (i > 0 && i < whole && (whole - i) % 3 == 0) out += ',';
    out += number[i];
  }
  return out;
}

// "-0.00" is "0.00".
std::string_view without_minus_zero(std::string_view number) {
  if (number.starts_with('-') && number.find_first_of("123456789") == std::string_view::npos)
    number.remove_prefix(1);
  return number;
}

// "12.500" is "12.5", "12.000" is "12".
std::string_view without_trailing_zeros(std::string_view number) {
  if (number.find('.') == std::string_view::npos) return number;
  number = number.substr(0, number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.remove_suffix(1);
  return number;
}

std::string non_finite_text(double value) {
  if (std::isnan(value)) return "not a number";
  return value > 0 ? "infinite" : "minus infinite";
}

}  // namespace

std::string count_text(int64_t count) { return group_thousands(fmt::format("{}", count)); }

std::string count_text(int64_t count, const std::string& singular, const std::string& plural) {
  const std::string& many = plural.empty() ? singular + "s" : plural;
  return count_text(count) + " " + (count == 1 ? singular : many);
}

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return non_finite_text(value);
  return group_thousands(without_minus_zero(fmt::format("{:.{}f}", value, decimals)));
}

std::string real_text(double value, int digits) {
  if (!std::isfinite(value)) return non_finite_text(value);
  if (value == 0) return "0";
  // Through the printed form, so that 9.9999999 counts as 10.
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  const size_t e = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(e + 1));
  if (exponent >= 7 || exponent < -4)
    return group_thousands(without_trailing_zeros(scientific.substr(0, e))) +
           power_of_ten_text(exponent);
  const std::string number = fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
  return group_thousands(without_trailing_zeros(number));
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return non_finite_text(share);
  return fixed_text(100 * share, 1) + "%";
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return non_finite_text(seconds);
  if (seconds < 0.01) return fmt::format("{:.1f} ms", 1000 * seconds);
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string power_of_ten_text(int exponent) {
  constexpr std::array<std::string_view, 10> kSuperscripts = {"⁰", "¹", "²", "³", "⁴",
                                                              "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent == 0) return {};
  std::string out = exponent < 0 ? "×10⁻" : "×10";
  for (char digit : std::to_string(std::abs(exponent))) out += kSuperscripts[digit - '0'];
  return out;
}

}  // namespace milieu
