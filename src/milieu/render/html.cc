// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/html.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "milieu/base/assert.h"

namespace milieu {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the well-formed UTF-8 sequence at the start of `text` (Unicode, table 3-7), 0 when it is
// broken: too short, overlong, a surrogate, or beyond U+10FFFF.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool is_surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool is_too_high = lead == 0xF4 && byte(1) >= 0x90;
  return is_overlong || is_surrogate || is_too_high ? 0 : length;
}

// The escape of an ASCII character in markup; empty: itself.
std::string_view ascii_escape(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\n':
    case '\t':
      return {};
    default:
      return static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? kReplacement : std::string_view();
  }
}

// Tags that occur within a line: a line break after them would show as a space.
bool is_inline(std::string_view tag) {
  constexpr std::string_view kInline[] = {"a",    "b",      "code", "em",    "small",
                                          "span", "strong", "text", "title", "tspan"};
  return std::find(std::begin(kInline), std::end(kInline), tag) != std::end(kInline);
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view escaped = length == 1   ? ascii_escape(text[0])
                                     : length == 0 ? kReplacement
                                                   : std::string_view();
    out += escaped.empty() ? text.substr(0, length) : escaped;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string to_base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? static_cast<uint32_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::string png_data_uri(std::string_view png) {
  return "data:image/png;base64," + to_base64(std::as_bytes(std::span(png)));
}

void Markup::start(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const Attribute& attribute : attributes) {
    out_ += ' ';
    out_ += attribute.name;
    out_ += "=\"";
    out_ += escape_html(attribute.value);
    out_ += '"';
  }
}

Markup& Markup::open(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += '>';
  open_tags_.emplace_back(tag);
  return *this;
}

Markup& Markup::close(std::string_view tag) {
  MILIEU_ASSERT(!open_tags_.empty() && open_tags_.back() == tag);
  open_tags_.pop_back();
  out_ += "</";
  out_ += tag;
  out_ += is_inline(tag) ? ">" : ">\n";
  return *this;
}

Markup& Markup::element(std::string_view tag, Attributes attributes, std::string_view content) {
  return open(tag, attributes).text(content).close(tag);
}

Markup& Markup::leaf(std::string_view tag, Attributes attributes) {
  start(tag, attributes);
  out_ += "/>";
  return *this;
}

Markup& Markup::text(std::string_view content) {
  out_ += escape_html(content);
  return *this;
}

Markup& Markup::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string Markup::finish() && {
  MILIEU_ASSERT(open_tags_.empty());
  return std::move(out_);
}

}  // namespace milieu
