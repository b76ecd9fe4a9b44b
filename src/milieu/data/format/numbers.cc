// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/numbers.h"

#include <fast_float/fast_float.h>

#include <charconv>
#include <cmath>

namespace milieu::internal {
namespace {

// from_chars does not accept "+".
std::string_view without_plus(std::string_view text) {
  const bool has_plus = text.size() >= 2 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return has_plus ? text.substr(1) : text;
}

template <class T>
std::optional<T> parse_floating(std::string_view text) {
  text = without_plus(text);
  if (text.empty()) return std::nullopt;
  T value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = fast_float::from_chars(text.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) { return parse_floating<double>(text); }

std::optional<float> parse_float(std::string_view text) { return parse_floating<float>(text); }

std::optional<int64_t> parse_integer(std::string_view text) {
  text = without_plus(text);
  int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || end != last || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_whole_number(std::string_view text) {
  if (const auto integer = parse_integer(text)) return integer;
  constexpr double kLargest = 9007199254740992.0;  // 2^53
  const auto number = parse_double(text);
  if (!number || !(std::abs(*number) <= kLargest) || *number != std::trunc(*number))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace milieu::internal
