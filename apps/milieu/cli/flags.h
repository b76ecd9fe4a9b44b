// SPDX-License-Identifier: Apache-2.0
// The arguments and flags of one command: declared once, then parsed (by CLI11, which only flags.cc
// sees), shown as help (help.h) and completed (commands/completion.cc) from the same list.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/fields.h"

namespace milieu::cli {

// The command line itself is wrong: exit code 2, with a pointer to the help.
class UsageError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

// How users see one argument or flag.
struct FlagSpec {
  std::vector<std::string> names;  // {"-k", "--num-clusters"}; a bare name: a positional argument
  std::string value;               // placeholder for the value: "FILE", "N"; empty: true or false
  std::string help;
  std::string group;                 // heading in the help; empty: hidden
  std::vector<std::string> choices;  // values it may have, for the help and completion
  bool is_required = false;          // positional arguments only
  bool is_repeated = false;          // may be given again; values are joined by line breaks

  bool is_positional() const { return names[0][0] != '-'; }
  bool is_boolean() const { return value.empty() && !is_positional(); }
  // "-k, --num-clusters N" or "INPUT".
  std::string title() const;
};

class Flags {
 public:
  Flags();
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Declares a flag; `set` gets the text of the last value given ("true" or "false" for booleans),
  // of a repeated flag all values, one per line.
  void add(FlagSpec spec, std::function<void(const std::string&)> set);

  // The same for the usual kinds; `names` is "-q,--quiet" or "INPUT".
  void argument(const char* name, std::string& value, bool is_required, const char* help);
  void text(const char* names, std::string& value, const char* value_name, const char* help,
            const char* group);
  void boolean(const char* names, bool& value, const char* help, const char* group);

  // A flag for an option field: --name and its aliases. The value is kept back until apply_given(),
  // so that an options file can be read in between and flags still override it. `value_name` may be
  // empty: it then follows from the field's kind. The field's object must outlive this one.
  void field(const Field& field, const std::string& value_name, const std::string& group);
  // Those of a method, the advanced ones in their own group.
  void method_fields(const std::vector<Field>& fields);
  // --preset; none when there are no names.
  void preset(std::vector<std::string> names, std::string& value);
  // Likewise for an argument by position.
  void field_argument(const char* name, const Field& field, const char* help);
  // Sets the fields whose flags were given; throws InvalidArgument as Field::set_from_text does.
  void apply_given() const;

  enum class Outcome { Parsed, HelpWanted };
  // Parses what follows the command's name; throws UsageError, with the nearest flag for an unknown
  // one. Booleans are written --center, --center=false or --center false.
  Outcome parse(const std::vector<std::string>& arguments);

  const std::vector<FlagSpec>& specs() const { return specs_; }
  // Notes about the flags that were given: deprecated ones.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Parser;  // hides CLI11

  void check_leftovers() const;
  void check_required() const;

  std::unique_ptr<Parser> parser_;
  std::vector<FlagSpec> specs_;
  std::vector<std::function<void()>> given_;
  std::vector<std::string> notes_;
};

}  // namespace milieu::cli
