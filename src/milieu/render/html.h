// SPDX-License-Identifier: Apache-2.0
// Markup that cannot be wrong by accident: tags are closed in order and every piece of text is
// escaped. Used for HTML and for the SVG inside it. Text from outside (file names, class names,
// warnings) may hold anything; it never becomes markup.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Text that is safe between tags and inside quoted attributes: & < > " ' are escaped, control
// characters and broken UTF-8 become U+FFFD (newline and tab stay).
std::string escape_html(std::string_view text);

// Base64 with padding, for data URIs.
std::string to_base64(std::span<const std::byte> bytes);

// "data:image/png;base64,...".
std::string png_data_uri(std::string_view png);

struct Attribute {
  std::string_view name;
  std::string value;  // escaped when written
};
using Attributes = std::initializer_list<Attribute>;

// Builds a document from the outside in. Tag and attribute names are ours, values and text may be
// anybody's.
class Markup {
 public:
  Markup& open(std::string_view tag, Attributes attributes = {});
  // Closes the innermost open tag, which must be `tag`.
  Markup& close(std::string_view tag);
  // <tag ...>text</tag>.
  Markup& element(std::string_view tag, Attributes attributes, std::string_view text);
  Markup& element(std::string_view tag, std::string_view text) { return element(tag, {}, text); }
  // <tag .../>: void elements of HTML, childless ones of SVG.
  Markup& leaf(std::string_view tag, Attributes attributes);
  Markup& text(std::string_view text);
  // Markup from another Markup, or constant text of ours, taken as it is.
  Markup& raw(std::string_view markup);

  // Everything so far; all tags must be closed.
  std::string finish() &&;

 private:
  void start(std::string_view tag, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_tags_;
};

}  // namespace milieu
