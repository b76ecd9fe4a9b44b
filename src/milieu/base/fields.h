// SPDX-License-Identifier: Apache-2.0
// Option fields, declared once. Beside every options struct is
//
//   template <class Visitor>
//   void visit_fields(KMeansOptions& o, Visitor&& v) {
//     v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
//   }
//
// and everything else follows from it: command line flags, JSON in and out, range checks, the docs
// table, bindings, the explorer's form. They all work on the type-erased list
// `fields_of(options)`.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// The value of a field as it appears in JSON or in a flag. Choices (enums) appear by name. Whole
// numbers are at most 2^63 - 1, seeds included.
using FieldValue = std::variant<bool, int64_t, double, std::string>;

enum class FieldKind { Flag, Integer, Real, Text, Choice };

// The rule a field obeys, and how users may call it. Made by at_least(), between(), one_of(), ...
struct FieldRule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_is_excluded = false;
  std::vector<std::string> aliases;  // "k" is the flag -k, longer ones are --alias
  bool is_advanced = false;          // folded away in the explorer's form, last in --help
  std::string word;       // what users may write for `word_value` ("auto"); empty: nothing
  double word_value = 0;  // allowed whatever the range

  std::vector<std::pair<std::string, double>> former_names;  // see former()
  // What to write instead. A deprecated field is read as before, but help, docs and forms leave it
  // out, and the command line says so when it is given. Empty: not deprecated.
  std::string deprecated;
  bool is_repeated = false;  // texts only: given again, values are separated by line breaks
  std::string python;  // its name in Python, where Field::python_name's rule gives another one

  FieldRule repeated() && {
    is_repeated = true;
    return std::move(*this);
  }
  // Lets users write `name` where the code has `value`, which lies outside the range: -1 is "auto".
  FieldRule or_word(std::string name, double value) && {
    word = std::move(name);
    word_value = value;
    return std::move(*this);
  }
  FieldRule alias(std::string name) && {
    aliases.push_back(std::move(name));
    return std::move(*this);
  }
  FieldRule advanced() && {
    is_advanced = true;
    return std::move(*this);
  }
  FieldRule in_python(std::string name) && {
    python = std::move(name);
    return std::move(*this);
  }
  FieldRule deprecated_for(std::string instead) && {
    deprecated = std::move(instead);
    return std::move(*this);
  }
  // Real fields: a former name in another unit. v under that name means v * factor.
  FieldRule former(std::string name, double factor) && {
    former_names.emplace_back(std::move(name), factor);
    return std::move(*this);
  }
};

inline FieldRule anything() { return {}; }
FieldRule at_least(double min);
FieldRule above(double min);  // strictly
FieldRule between(double min, double max);

// The rule of an enum field: its values by name, as users write them.
template <class Enum>
struct ChoiceRule : FieldRule {
  std::vector<std::pair<std::string, Enum>> choices;
  std::vector<std::pair<std::string, Enum>> former_choices;  // read, but never shown or written

  ChoiceRule former(std::string name, Enum value) && {
    former_choices.emplace_back(std::move(name), value);
    return std::move(*this);
  }
  ChoiceRule alias(std::string name) && {
    aliases.push_back(std::move(name));
    return std::move(*this);
  }
  ChoiceRule advanced() && {
    is_advanced = true;
    return std::move(*this);
  }
  ChoiceRule in_python(std::string name) && {
    python = std::move(name);
    return std::move(*this);
  }
};

template <class Enum>
ChoiceRule<Enum> one_of(std::initializer_list<std::pair<const char*, Enum>> choices) {
  ChoiceRule<Enum> rule;
  for (const auto& [name, value] : choices) rule.choices.emplace_back(name, value);
  return rule;
}

// One field of one options object. `get` and `set` refer to that object, which must outlive it.
struct Field {
  std::string name;  // snake_case; the flag is --name with dashes
  std::string help;
  FieldKind kind = FieldKind::Text;
  FieldRule rule;
  std::vector<std::string> choices;  // names, for Choice
  // Throws InvalidArgument when a uint64_t is above 2^63 - 1.
  std::function<FieldValue()> get;
  // Takes the kind that get() returns, which for a number may be its rule's word; a whole number is
  // accepted for a Real, and a Real that is whole (JSON's 1e3) for an Integer. Throws
  // InvalidArgument "name is VALUE, must be ..." for a wrong kind, an unknown choice or a number
  // that does not fit. Ranges are checked by validate_fields, so that defaults and JSON obey them
  // too.
  std::function<void(const FieldValue&)> set;

  std::string flag() const;  // "--num-clusters"
  // scikit-learn's name where it has one (num_restarts is n_init in every method), else n_ for
  // num_, else the name itself.
  std::string python_name() const;
  // The same field under its former names, in their units.
  std::vector<Field> former_fields() const;
  std::string range_text() const;  // "at least 1", "between 0 and 1", "lloyd or bounds", "" if free
  // Throws InvalidArgument "num_clusters is 0, must be at least 1" when the value breaks the rule.
  // NaN breaks every rule; infinity obeys a rule that is open on its side.
  void validate() const;
  // Parses what a person typed ("12", "1e3", "+0.5", "true", "full") and sets it.
  void set_from_text(std::string_view text) const;
};

// "12", "0.5", "true", "full": the shortest text that parses back to the same value.
std::string to_text(const FieldValue& value);

namespace internal {

// Collects type-erased fields; the visitor handed to visit_fields by fields_of.
class FieldCollector {
 public:
  explicit FieldCollector(std::vector<Field>& fields) : fields_(fields) {}

  void operator()(const char* name, bool& value, FieldRule rule, const char* help);
  void operator()(const char* name, int& value, FieldRule rule, const char* help);
  void operator()(const char* name, int64_t& value, FieldRule rule, const char* help);
  void operator()(const char* name, uint64_t& value, FieldRule rule, const char* help);
  void operator()(const char* name, double& value, FieldRule rule, const char* help);
  void operator()(const char* name, std::string& value, FieldRule rule, const char* help);

  template <class Enum>
  void operator()(const char* name, Enum& value, ChoiceRule<Enum> rule, const char* help) {
    Field& field = add(name, FieldKind::Choice, rule, help);
    for (const auto& choice : rule.choices) field.choices.push_back(choice.first);
    field.get = [&value, choices = rule.choices]() -> FieldValue {
      for (const auto& [word, choice] : choices)
        if (choice == value) return word;
      return std::string();  // no such choice: validate() refuses it
    };
    field.set = [&value, choices = rule.choices, former = rule.former_choices, key = field.name,
                 rule_text = field.range_text()](const FieldValue& given) {
      for (const auto* names : {&choices, &former})
        for (const auto& [word, choice] : *names)
          if (given == FieldValue(word)) {
            value = choice;
            return;
          }
      throw_wrong_value(key, given, rule_text);
    };
  }

 private:
  Field& add(const char* name, FieldKind kind, const FieldRule& rule, const char* help);
  template <class Number>
  void add_integer(const char* name, Number& value, const FieldRule& rule, const char* help);
  [[noreturn]] static void throw_wrong_value(const std::string& name, const FieldValue& given,
                                             const std::string& rule_text);

  std::vector<Field>& fields_;
};

}  // namespace internal

// The fields of `options`, in the order of their declaration.
template <class Options>
std::vector<Field> fields_of(Options& options) {
  std::vector<Field> fields;
  visit_fields(options, internal::FieldCollector(fields));
  return fields;
}

// Checks every declared range; throws InvalidArgument. Methods call this first in fit.
void validate_fields(const std::vector<Field>& fields);
template <class Options>
void validate_options(const Options& options) {
  validate_fields(fields_of(const_cast<Options&>(options)));  // only reads
}

// A Markdown table of the fields with flags, default, range and help: the "Options" part of a docs
// page. Called on a default-constructed options object.
std::string options_table(const std::vector<Field>& fields);

}  // namespace milieu
