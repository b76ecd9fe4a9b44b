// SPDX-License-Identifier: Apache-2.0
// Where the program writes: results to stdout, notes and errors to stderr. Colours only on a
// terminal and never with NO_COLOR set; a stdout that fails (full disk, closed pipe) is noticed.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace milieu::cli {

enum class Style { Bold, Dim, Red, Green, Yellow, Cyan };

// The reader of our output went away (`milieu ... | head`): nothing to say, exit code 1.
class OutputClosed : public std::exception {
 public:
  const char* what() const noexcept override { return "standard output was closed"; }
};

class Console {
 public:
  Console();

  // With quiet, notes are suppressed; results and errors are not.
  void set_quiet(bool quiet) { is_quiet_ = quiet; }
  bool is_quiet() const { return is_quiet_; }
  // Silent, nothing is written; the last error is kept.
  void set_silent(bool silent) { is_silent_ = silent; }
  bool is_silent() const { return is_silent_; }
  const std::string& kept_error() const { return kept_error_; }

  bool err_is_terminal() const { return err_is_terminal_ && !is_silent_; }
  // Whether the locale can show block characters.
  bool has_unicode() const { return has_unicode_; }

  // A piece of the result on stdout. Throws IoError or OutputClosed when it cannot be written.
  void print(std::string_view text);
  // Flushes what was printed; throws like print. Called at the end of every command.
  void flush();

  // A line on stderr: --quiet suppresses notes, never errors.
  void note(std::string_view line);
  void error(std::string_view line);

  // `text` in a style where the stream shows colours, else as it is.
  std::string paint(Style style, std::string_view text) const;      // for stdout
  std::string paint_err(Style style, std::string_view text) const;  // for stderr

 private:
  bool is_quiet_ = false;
  bool is_silent_ = false;
  std::string kept_error_;
  bool out_is_terminal_ = false;
  bool err_is_terminal_ = false;
  bool wants_colour_ = false;
  bool has_unicode_ = false;
};

}  // namespace milieu::cli
