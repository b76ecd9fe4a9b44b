// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "milieu/base/error.h"

namespace milieu {

namespace {

std::string join_choices(const std::vector<std::string>& choices) {
  if (choices.size() == 1) return choices[0];
  const std::vector<std::string> head(choices.begin(), choices.end() - 1);
  return fmt::format("{} or {}", fmt::join(head, ", "), choices.back());
}

// The whole text must be a number. std::from_chars takes no plus sign; people write one.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The whole number that `given` is, also when it is written as a real (1e3); nothing otherwise.
std::optional<int64_t> whole_number(const FieldValue& given) {
  if (const int64_t* number = std::get_if<int64_t>(&given)) return *number;
  const double* real = std::get_if<double>(&given);
  if (!real || *real != std::floor(*real) || std::abs(*real) >= 0x1p63) return std::nullopt;
  return static_cast<int64_t>(*real);
}

// The word of a rule in place of a number, in both directions.
template <class Number>
FieldValue word_or_number(const FieldRule& rule, Number value) {
  if (!rule.word.empty() && static_cast<double>(value) == rule.word_value) return rule.word;
  return value;
}

bool is_word_of(const FieldRule& rule, const FieldValue& given) {
  const std::string* text = std::get_if<std::string>(&given);
  return text && !rule.word.empty() && *text == rule.word;
}

bool is_outside(const FieldRule& rule, double number) {
  return number > rule.max || (rule.min_is_excluded ? number <= rule.min : number < rule.min);
}

[[noreturn]] void throw_unparsed(const Field& field, std::string_view text,
                                 const std::string& wanted) {
  throw InvalidArgument(fmt::format("{} is '{}', must be {}", field.name, text, wanted));
}

// A number that has a name ("auto") is always written as that name.
void refuse_word_value(const Field& field, std::string_view text, double number) {
  if (!field.rule.word.empty() && number == field.rule.word_value && is_outside(field.rule, number))
    throw_unparsed(field, text, field.range_text());
}

const char* kind_name(FieldKind kind) {
  // In the order of FieldKind. Choices say which they are instead.
  static constexpr const char* kNames[] = {"true or false", "a whole number", "a number", "text",
                                           "a choice"};
  return kNames[static_cast<size_t>(kind)];
}

std::string escape_table_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
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

std::string Field::python_name() const {
  if (!rule.python.empty()) return rule.python;
  static constexpr std::pair<std::string_view, std::string_view> kScikitLearn[] = {
      {"num_restarts", "n_init"}, {"max_iterations", "max_iter"}, {"rel_tolerance", "tol"},
      {"seed", "random_state"},   {"num_threads", "n_jobs"},      {"distance", "metric"}};
  for (const auto& [ours, theirs] : kScikitLearn)
    if (name == ours) return std::string(theirs);
  return name.starts_with("num_") ? "n_" + name.substr(4) : name;
}

std::string Field::flag() const {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return "--" + dashed;
}

std::vector<Field> Field::former_fields() const {
  std::vector<Field> fields;
  for (const auto& [former, factor] : rule.former_names) {
    Field field = *this;
    field.name = former;
    field.help = fmt::format("former name of {}, times {}", flag(), factor);
    field.rule.aliases.clear();
    field.rule.former_names.clear();
    field.rule.min /= factor;
    field.rule.max /= factor;
    field.get = [get = get, factor = factor]() -> FieldValue {
      return std::get<double>(get()) / factor;
    };
    field.set = [set = set, factor = factor](const FieldValue& given) {
      if (const int64_t* number = std::get_if<int64_t>(&given)) {
        set(static_cast<double>(*number) * factor);
      } else if (const double* real = std::get_if<double>(&given)) {
        set(*real * factor);
      } else {
        set(given);  // refuses it
      }
    };
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string Field::range_text() const {
  if (kind == FieldKind::Choice) return choices.empty() ? "" : join_choices(choices);
  const bool has_min = std::isfinite(rule.min);
  const bool has_max = std::isfinite(rule.max);
  std::string text;
  if (has_min && has_max) {
    text = fmt::format("between {} and {}", rule.min, rule.max);
  } else if (has_min) {
    text = fmt::format("{} {}", rule.min_is_excluded ? "above" : "at least", rule.min);
  } else if (has_max) {
    text = fmt::format("at most {}", rule.max);
  }
  if (rule.word.empty()) return text;
  return fmt::format("{} or {}", text.empty() ? kind_name(kind) : text, rule.word);
}

void Field::validate() const {
  const FieldValue value = get();
  double number = 0;
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const double* real = std::get_if<double>(&value)) {
    number = *real;
    if (std::isnan(number)) throw InvalidArgument(fmt::format("{} is NaN, must be a number", name));
  } else {
    if (kind == FieldKind::Choice && std::get<std::string>(value).empty())
      throw InvalidArgument(fmt::format("{} has no such value, must be {}", name, range_text()));
    return;  // flags and texts are right by construction
  }
  if (is_outside(rule, number))
    throw InvalidArgument(fmt::format("{} is {}, must be {}", name, to_text(value), range_text()));
}

void Field::set_from_text(std::string_view text) const {
  if (!rule.word.empty() && text == rule.word) return set(rule.word);
  const auto wanted = [&] {
    return rule.word.empty() ? kind_name(kind)
                             : fmt::format("{} or {}", kind_name(kind), rule.word);
  };
  switch (kind) {
    case FieldKind::Flag: {
      if (text == "true" || text == "1" || text == "yes" || text == "on") return set(true);
      if (text == "false" || text == "0" || text == "no" || text == "off") return set(false);
      throw_unparsed(*this, text, kind_name(kind));
    }
    case FieldKind::Integer: {
      int64_t number = 0;
      if (parse_number(text, number)) {
        refuse_word_value(*this, text, static_cast<double>(number));
        return set(number);
      }
      double real = 0;  // 1e3, or too large for int64_t: set() judges
      if (!parse_number(text, real)) throw_unparsed(*this, text, wanted());
      return set(real);
    }
    case FieldKind::Real: {
      double number = 0;
      if (!parse_number(text, number)) throw_unparsed(*this, text, wanted());
      refuse_word_value(*this, text, number);
      return set(number);
    }
    case FieldKind::Text:
    case FieldKind::Choice:
      return set(std::string(text));
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
  static constexpr uint64_t kLargest =
      std::min(static_cast<uint64_t>(std::numeric_limits<Number>::max()),
               static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  field.get = [&value, key = field.name, rule]() -> FieldValue {
    if (!std::in_range<int64_t>(value))
      throw InvalidArgument(fmt::format("{} is {}, must be at most {}", key, value, kLargest));
    return word_or_number(rule, static_cast<int64_t>(value));
  };
  field.set = [&value, key = field.name, rule](const FieldValue& given) {
    if (is_word_of(rule, given)) {
      value = static_cast<Number>(rule.word_value);
      return;
    }
    const std::optional<int64_t> number = whole_number(given);
    const double* real = std::get_if<double>(&given);
    const bool is_huge = real && std::isfinite(*real) && std::abs(*real) >= 0x1p63;
    if (!number && !is_huge) throw_wrong_value(key, given, kind_name(FieldKind::Integer));
    if (is_huge || !std::in_range<Number>(*number))
      throw_wrong_value(
          key, given,
          fmt::format("between {} and {}", std::numeric_limits<Number>::min(), kLargest));
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
  field.get = [&value, rule]() -> FieldValue { return word_or_number(rule, value); };
  field.set = [&value, key = field.name, rule](const FieldValue& given) {
    if (is_word_of(rule, given)) {
      value = rule.word_value;
    } else if (const int64_t* number = std::get_if<int64_t>(&given)) {
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
    if (std::holds_alternative<bool>(given))
      throw_wrong_value(key, given, kind_name(FieldKind::Text));
    value = to_text(given);  // a number may stand for a list of one
  };
}

}  // namespace internal

void validate_fields(const std::vector<Field>& fields) {
  for (const Field& field : fields) field.validate();
}

std::string options_table(const std::vector<Field>& fields) {
  std::string table = "| flag | default | range | meaning |\n| --- | --- | --- | --- |\n";
  for (const Field& field : fields) {
    if (!field.rule.deprecated.empty()) continue;
    std::string flags = "`" + field.flag() + "`";
    for (const std::string& alias : field.rule.aliases)
      flags += fmt::format(", `{}{}`", alias.size() == 1 ? "-" : "--", alias);
    const std::string text = to_text(field.get());
    const std::string shown = text.empty() ? "" : "`" + text + "`";
    std::string range = field.range_text();
    if (range.empty() && field.kind != FieldKind::Text) range = kind_name(field.kind);
    table += fmt::format("| {} | {} | {} | {} |\n", flags, escape_table_cell(shown),
                         escape_table_cell(range), escape_table_cell(field.help));
  }
  return table;
}

}  // namespace milieu
