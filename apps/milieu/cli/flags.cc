// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <utility>

#include "cli/suggest.h"

namespace milieu::cli {

namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = names.find(',');
    parts.emplace_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    names.remove_prefix(comma + 1);
  }
}

// The placeholder for a value in the help where the caller gives none.
std::string value_name_of(const Field& field) {
  switch (field.kind) {
    case FieldKind::Flag:
      return "";
    case FieldKind::Integer:
      return "N";
    case FieldKind::Real:
      return "X";
    case FieldKind::Choice:
      return "WORD";
    case FieldKind::Text:
      return "TEXT";
  }
  return "";
}

// "how many clusters (at least 1; default 8)".
std::string help_of(const Field& field) {
  std::vector<std::string> notes;
  if (const std::string range = field.range_text(); !range.empty()) notes.push_back(range);
  if (const std::string value = to_text(field.get()); !value.empty())
    notes.push_back("default " + value);
  if (notes.empty()) return field.help;
  return fmt::format("{} ({})", field.help, fmt::join(notes, "; "));
}

// CLI11's own messages are for programmers; these are for users.
std::string explain(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return fmt::format("{} needs a value", text.substr(0, text.find(':')));
  return text;
}

bool is_named(const FlagSpec& spec, std::string_view name) {
  return std::find(spec.names.begin(), spec.names.end(), name) != spec.names.end();
}

// "--center false" becomes "--center=false": a boolean takes the next word only if it is one of
// these two, so that `--center X.npy` leaves X.npy alone.
std::vector<std::string> join_boolean_values(const std::vector<std::string>& arguments,
                                             const std::vector<FlagSpec>& specs) {
  std::vector<std::string> joined;
  bool follows_boolean = false;
  for (const std::string& argument : arguments) {
    if (follows_boolean && (argument == "true" || argument == "false")) {
      joined.back() += "=" + argument;
      follows_boolean = false;
      continue;
    }
    follows_boolean = std::any_of(specs.begin(), specs.end(), [&](const FlagSpec& spec) {
      return spec.is_boolean() && argument.starts_with("--") && is_named(spec, argument);
    });
    joined.push_back(argument);
  }
  return joined;
}

bool parse_truth(const std::string& name, const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw UsageError(fmt::format("{} is '{}', must be true or false", name, text));
}

}  // namespace

std::string FlagSpec::title() const {
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return is_positional() || value.empty() ? text : text + " " + value;
}

struct Flags::Parser {
  CLI::App app;
};

Flags::Flags() : parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag("-h,--help");
  parser_->app.allow_extras();  // check_leftovers has the better message
}

Flags::~Flags() = default;

void Flags::add(FlagSpec spec, std::function<void(const std::string&)> set) {
  const std::string name = spec.names.back();
  const bool takes_all = spec.is_repeated;
  const CLI::callback_t take = [this, set, name, takes_all](const CLI::results_t& results) {
    for (const std::string& text : results) {
      const bool is_flag = std::any_of(specs_.begin(), specs_.end(), [&](const FlagSpec& other) {
        return !other.is_positional() && is_named(other, text);
      });
      if (is_flag) throw UsageError(fmt::format("{} needs a value, {} is a flag", name, text));
    }
    set(takes_all ? fmt::format("{}", fmt::join(results, "\n")) : results.back());
    return true;
  };
  CLI::Option* option =
      parser_->app.add_option(fmt::format("{}", fmt::join(spec.names, ",")), take);
  if (takes_all) {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(spec.is_positional());  // a flag takes one value, then INPUT may follow
  } else {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    option->expected(spec.is_boolean() ? 0 : 1);
  }
  specs_.push_back(std::move(spec));
}

void Flags::argument(const char* name, std::string& value, bool is_required, const char* help) {
  FlagSpec spec{.names = {name}, .value = name, .help = help, .group = "Arguments", .choices = {}};
  spec.is_required = is_required;
  add(std::move(spec), [&value](const std::string& text) { value = text; });
}

void Flags::text(const char* names, std::string& value, const char* value_name, const char* help,
                 const char* group) {
  add({.names = split_names(names),
       .value = value_name,
       .help = help,
       .group = group,
       .choices = {}},
      [&value](const std::string& text) { value = text; });
}

void Flags::boolean(const char* names, bool& value, const char* help, const char* group) {
  FlagSpec spec{
      .names = split_names(names), .value = "", .help = help, .group = group, .choices = {}};
  const std::string name = spec.names.back();
  add(std::move(spec),
      [&value, name](const std::string& text) { value = parse_truth(name, text); });
}

void Flags::method_fields(const std::vector<Field>& fields) {
  for (const bool is_advanced : {false, true})
    for (const Field& each : fields)
      if (each.rule.is_advanced == is_advanced) {
        const char* group = is_advanced ? "Method, advanced" : "Method";
        field(each, "", group);
        for (const Field& former : each.former_fields()) field(former, "", "");
      }
}

void Flags::preset(std::vector<std::string> names, std::string& value) {
  if (names.empty()) return;
  FlagSpec spec{.names = {"--preset"},
                .value = "NAME",
                .help = "option values in place of the defaults; flags override them",
                .group = "Method",
                .choices = std::move(names)};
  add(std::move(spec), [&value](const std::string& name) { value = name; });
}

void Flags::field(const Field& field, const std::string& value_name, const std::string& group) {
  FlagSpec spec;
  for (const std::string& alias : field.rule.aliases)
    spec.names.push_back((alias.size() == 1 ? "-" : "--") + alias);
  spec.names.push_back(field.flag());
  // Short names first; the flag that carries the field's name before its longer aliases.
  std::stable_sort(spec.names.begin(), spec.names.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const std::string& name) {
      return name.size() == 2 ? 0 : name == field.flag() ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  spec.value =
      value_name.empty() || field.kind == FieldKind::Flag ? value_name_of(field) : value_name;
  spec.is_repeated = field.rule.is_repeated;
  spec.help = help_of(field);
  spec.group = field.rule.deprecated.empty() ? group : "";
  spec.choices = field.choices;
  add(std::move(spec), [this, field](const std::string& text) {
    given_.push_back([field, text] { field.set_from_text(text); });
    if (!field.rule.deprecated.empty())
      notes_.push_back(
          fmt::format("{} is deprecated: use {}", field.flag(), field.rule.deprecated));
  });
}

void Flags::field_argument(const char* name, const Field& field, const char* help) {
  add({.names = {name}, .value = name, .help = help, .group = "Arguments", .choices = {}},
      [this, field](const std::string& text) {
        given_.push_back([field, text] { field.set_from_text(text); });
      });
}

void Flags::apply_given() const {
  for (const auto& set : given_) set();
}

Flags::Outcome Flags::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed = join_boolean_values(arguments, specs_);
  std::reverse(reversed.begin(), reversed.end());  // CLI11 takes them from the back
  try {
    parser_->app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return Outcome::HelpWanted;
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain(error));
  }
  check_leftovers();
  check_required();
  return Outcome::Parsed;
}

void Flags::check_leftovers() const {
  const std::vector<std::string> leftovers = parser_->app.remaining();
  if (leftovers.empty()) return;
  const auto unknown =
      std::find_if(leftovers.begin(), leftovers.end(),
                   [](const std::string& text) { return text.size() > 1 && text[0] == '-'; });
  if (unknown == leftovers.end())
    throw UsageError(fmt::format("unexpected argument '{}'", leftovers.front()));
  const std::string name = unknown->substr(0, unknown->find('='));
  std::vector<std::string> known = {"--help"};
  for (const FlagSpec& spec : specs_)
    if (!spec.is_positional()) known.insert(known.end(), spec.names.begin(), spec.names.end());
  const std::string nearest = nearest_word(name, known);
  throw UsageError(nearest.empty()
                       ? fmt::format("unknown flag {}", name)
                       : fmt::format("unknown flag {}: did you mean {}?", name, nearest));
}

void Flags::check_required() const {
  for (const FlagSpec& spec : specs_)
    if (spec.is_required && parser_->app.get_option(spec.names[0])->count() == 0)
      throw UsageError(fmt::format("{} is missing: {}", spec.names[0], spec.help));
}

}  // namespace milieu::cli
