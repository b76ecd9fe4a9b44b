// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "milieu/base/error.h"

namespace milieu {

namespace {

std::string join_choices(const std::vector<std::string>& choices) {
  if (choices.size() == 1) return choices[0];
  const std::vector<std::string> head(choices.begin(), choices.end() - 1);
  return fmt::format("{} or {}", fmt::join(head, ", "), choices.back());
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

[[noreturn]] void throw_unparsed(const Field& field, std::string_view text, const char* wanted) {
  throw InvalidArgument(fmt::format("{} is '{}', must be {}", field.name, text, wanted));
}

const char* kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::Flag: return "true or false";
    case FieldKind::Integer: return "a whole number";
    case FieldKind::Real: return "a number";
    case FieldKind::Text: return "text";
    case FieldKind::Choice: return "a word";
  }
  return "";
}

}  // namespace

FieldRule at_least(double min) {
  FieldRule rule;
  rule.min = min;
  return rule;
}

FieldRule above(double min) {
  FieldRule rule = at_least(min);
  rule.min_is_excluded = true;
  return rule;
}

FieldRule between(double min, double max) {
  FieldRule rule = at_least(min);
  rule.max = max;
  return rule;
}

std::string to_text(const FieldValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::string Field::flag() const {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return "--" + dashed;
}

std::string Field::range_text() const {
  if (kind == FieldKind::Choice) return choices.empty() ? "" : join_choices(choices);
  const bool has_min = std::isfinite(rule.min);
  const bool has_max = std::isfinite(rule.max);
  if (has_min && has_max) return fmt::format("between {} and {}", rule.min, rule.max);
  if (has_min) return fmt::format("{} {}", rule.min_is_excluded ? "above" : "at least", rule.min);
  if (has_max) return fmt::format("at most {}", rule.max);
  return "";
}

void Field::validate() const {
  const FieldValue value = get();
  double number = 0;
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const double* real = std::get_if<double>(&value)) {
    number = *real;
    if (std::isnan(number))
      throw InvalidArgument(fmt::format("{} is NaN, must be a number", name));
  } else {
    return;  // flags, texts and choices are right by construction
  }
  const bool low = rule.min_is_excluded ? number <= rule.min : number < rule.min;
  if (low || number > rule.max)
    throw InvalidArgument(fmt::format("{} is {}, must be {}", name, to_text(value), range_text()));
}

void Field::set_from_text(std::string_view text) const {
  switch (kind) {
    case FieldKind::Flag: {
      if (text == "true" || text == "1" || text == "yes" || text == "on") return set(true);
      if (text == "false" || text == "0" || text == "no" || text == "off") return set(false);
      throw_unparsed(*this, text, "true or false");
    }
    case FieldKind::Integer: {
      int64_t number = 0;
      if (!parse_number(text, number)) throw_unparsed(*this, text, "a whole number");
      return set(number);
    }
    case FieldKind::Real: {
      double number = 0;
      if (!parse_number(text, number)) throw_unparsed(*this, text, "a number");
      return set(number);
    }
    case FieldKind::Text:
    case FieldKind::Choice: return set(std::string(text));
  }
}

namespace internal {

void FieldCollector::throw_wrong_value(const std::string& name, const FieldValue& given,
                                       const std::string& rule_text) {
  throw InvalidArgument(fmt::format("{} is '{}', must be {}", name, to_text(given), rule_text));
}

Field& FieldCollector::add(const char* name, FieldKind kind, const FieldRule& rule,
                           const char* help) {
  Field field;
  field.name = name;
  field.help = help;
  field.kind = kind;
  field.rule = rule;
  fields_.push_back(std::move(field));
  return fields_.back();
}

template <class Number>
void FieldCollector::add_integer(const char* name, Number& value, const FieldRule& rule,
                                 const char* help) {
  Field& field = add(name, FieldKind::Integer, rule, help);
  field.get = [&value]() -> FieldValue { return static_cast<int64_t>(value); };
  field.set = [&value, key = field.name](const FieldValue& given) {
    const int64_t* number = std::get_if<int64_t>(&given);
    if (!number) throw_wrong_value(key, given, kind_name(FieldKind::Integer));
    if (!std::in_range<Number>(*number))
      throw_wrong_value(key, given,
                        fmt::format("between {} and {}", std::numeric_limits<Number>::min(),
                                    std::numeric_limits<Number>::max()));
    value = static_cast<Number>(*number);
  };
}

void FieldCollector::operator()(const char* name, int& value, FieldRule rule, const char* help) {
  add_integer(name, value, rule, help);
}
void FieldCollector::operator()(const char* name, int64_t& value, FieldRule rule,
                                const char* help) {
  add_integer(name, value, rule, help);
}
void FieldCollector::operator()(const char* name, uint64_t& value, FieldRule rule,
                                const char* help) {
  add_integer(name, value, rule, help);
}

void FieldCollector::operator()(const char* name, bool& value, FieldRule rule, const char* help) {
  Field& field = add(name, FieldKind::Flag, rule, help);
  field.get = [&value]() -> FieldValue { return value; };
  field.set = [&value, key = field.name](const FieldValue& given) {
    const bool* flag = std::get_if<bool>(&given);
    if (!flag) throw_wrong_value(key, given, kind_name(FieldKind::Flag));
    value = *flag;
  };
}

void FieldCollector::operator()(const char* name, double& value, FieldRule rule, const char* help) {
  Field& field = add(name, FieldKind::Real, rule, help);
  field.get = [&value]() -> FieldValue { return value; };
  field.set = [&value, key = field.name](const FieldValue& given) {
    if (const int64_t* number = std::get_if<int64_t>(&given)) {
      value = static_cast<double>(*number);
    } else if (const double* real = std::get_if<double>(&given)) {
      value = *real;
    } else {
      throw_wrong_value(key, given, kind_name(FieldKind::Real));
    }
  };
}

void FieldCollector::operator()(const char* name, std::string& value, FieldRule rule,
                                const char* help) {
  Field& field = add(name, FieldKind::Text, rule, help);
  field.get = [&value]() -> FieldValue { return value; };
  field.set = [&value, key = field.name](const FieldValue& given) {
    const std::string* text = std::get_if<std::string>(&given);
    if (!text) throw_wrong_value(key, given, kind_name(FieldKind::Text));
    value = *text;
  };
}

}  // namespace internal

void validate_fields(const std::vector<Field>& fields) {
  for (const Field& field : fields) field.validate();
}

std::string options_table(const std::vector<Field>& fields) {
  std::string table = "| flag | default | range | meaning |\n| --- | --- | --- | --- |\n";
  for (const Field& field : fields) {
    std::string flags = "`" + field.flag() + "`";
    for (const std::string& alias : field.rule.aliases)
      flags += fmt::format(", `{}{}`", alias.size() == 1 ? "-" : "--", alias);
    const std::string text = to_text(field.get());
    const std::string shown = text.empty() ? "" : "`" + text + "`";
    table += fmt::format("| {} | {} | {} | {} |\n", flags, shown, field.range_text(), field.help);
  }
  return table;
}

}  // namespace milieu
