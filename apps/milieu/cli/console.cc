// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "milieu/base/error.h"

namespace milieu::cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

const char* code_of(Style style) {
  switch (style) {
    case Style::Bold:
      return "1";
    case Style::Dim:
      return "2";
    case Style::Red:
      return "31";
    case Style::Green:
      return "32";
    case Style::Yellow:
      return "33";
    case Style::Cyan:
      return "36";
  }
  return "0";
}

std::string painted(Style style, std::string_view text, bool with_colour) {
  if (!with_colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(style), text);
}

[[noreturn]] void throw_output_error(int reason) {
  if (reason == EPIPE) throw OutputClosed();
  throw IoError(fmt::format("standard output cannot be written: {}", std::strerror(reason)));
}

}  // namespace

Console::Console()
    : out_is_terminal_(isatty(STDOUT_FILENO)),
      err_is_terminal_(isatty(STDERR_FILENO)),
      wants_colour_(environment("NO_COLOR").empty() && environment("TERM") != "dumb"),
      has_unicode_(is_utf8_locale()) {}

void Console::print(std::string_view text) {
  if (is_silent_) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_output_error(errno);
}

void Console::flush() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw_output_error(errno);
}

void Console::note(std::string_view line) {
  if (!is_quiet_ && !is_silent_) error(line);
}

void Console::error(std::string_view line) {
  if (is_silent_)
    kept_error_ = line;
  else
    fmt::print(stderr, "{}\n", line);
}

std::string Console::paint(Style style, std::string_view text) const {
  return painted(style, text, out_is_terminal_ && wants_colour_);
}

std::string Console::paint_err(Style style, std::string_view text) const {
  return painted(style, text, err_is_terminal_ && wants_colour_);
}

}  // namespace milieu::cli
