// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npy_header.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"

namespace milieu::internal {
namespace {

constexpr const char* kReadTypes = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8";

struct TypeCode {
  std::string_view code;
  ElementType type;
};
constexpr std::array<TypeCode, 12> kTypeCodes = {{{"b1", ElementType::Bool},
                                                  {"i1", ElementType::Int8},
                                                  {"i2", ElementType::Int16},
                                                  {"i4", ElementType::Int32},
                                                  {"i8", ElementType::Int64},
                                                  {"u1", ElementType::Uint8},
                                                  {"u2", ElementType::Uint16},
                                                  {"u4", ElementType::Uint32},
                                                  {"u8", ElementType::Uint64},
                                                  {"f2", ElementType::Float16},
                                                  {"f4", ElementType::Float32},
                                                  {"f8", ElementType::Float64}}};

// Describes a dtype that we do not read, by its letter.
const char* refused_kind(char letter) {
  switch (letter) {
    case 'c':
      return "complex numbers";
    case 'O':
      return "pickled Python objects";
    case 'V':
      return "a structured or void type";
    case 'M':
      return "dates";
    case 'm':
      return "time spans";
    case 'f':
      return "floats of an unusual length";
    default:
      return "an unknown type";
  }
}

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  NpyHeader parse() {
    expect('{', "must start with '{'");
    while (!accept('}')) {
      if (at_end()) fail("the dict is never closed by '}'");
      parse_entry();
      if (accept(',')) continue;
      if (peek() != '}') fail("entries must be separated by ',' and closed by '}'");
    }
    skip_blanks();
    if (!at_end()) fail("unexpected text after the dict");
    require_all_entries();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw DataError(fmt::format("{}: invalid .npy header at byte {}: {}", source_, at_, rule));
  }

  bool at_end() const { return at_ == text_.size(); }
  void skip_blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip_blanks();
    return at_end() ? '\0' : text_[at_];
  }
  bool accept(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* rule) {
    if (!accept(c)) fail(rule);
  }

  // Quoted by ' or "; escapes have no place in a header.
  std::string_view parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a quoted string");
    const size_t begin = ++at_;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a string is never closed");
    at_ = end + 1;
    const std::string_view content = text_.substr(begin, end - begin);
    if (content.find_first_of("\\\n") != std::string_view::npos)
      fail("a string holds an escape or a line break");
    return content;
  }

  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':', "expected ':' after a key");
    if (key == "descr") {
      once(has_type_, "descr");
      parse_type();
    } else if (key == "fortran_order") {
      once(has_order_, "fortran_order");
      header_.is_fortran_order = parse_bool();
    } else if (key == "shape") {
      once(has_shape_, "shape");
      parse_shape();
    } else {
      fail(fmt::format("unknown key '{}', must be descr, fortran_order or shape", printable(key)));
    }
  }

  void once(bool& seen, const char* key) {
    if (seen) fail(fmt::format("'{}' is given twice", key));
    seen = true;
  }

  bool parse_bool() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("fortran_order must be True or False");
  }

  int64_t parse_extent() {
    skip_blanks();
    int64_t extent = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
    if (error == std::errc::result_out_of_range)
      fail("shape overflows: an extent has too many digits");
    if (error != std::errc()) fail("shape must hold whole numbers");
    if (extent < 0) fail(fmt::format("shape has the extent {}, must be at least 0", extent));
    at_ += static_cast<size_t>(end - begin);
    if (!at_end() && text_[at_] == 'L') ++at_;
    return extent;
  }

  void parse_shape() {
    expect('(', "shape must be a tuple in parentheses");
    while (!accept(')')) {
      if (at_end()) fail("the tuple of shape is never closed by ')'");
      if (header_.shape.size() == 64) fail("shape has more than 64 extents");
      header_.shape.push_back(parse_extent());
      if (!accept(',') && peek() != ')') fail("extents must be separated by ','");
    }
  }

  void parse_type() {
    if (peek() == '[') refuse_type("[...]", "a structured type");
    const std::string_view descr = parse_string();
    if (descr.size() < 2) fail("descr is too short to be a dtype");
    const bool has_order = std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    header_.is_big_endian = descr[0] == '>';
    const std::string_view code = has_order ? descr.substr(1) : descr;
    for (const TypeCode& known : kTypeCodes) {
      if (code != known.code) continue;
      header_.type = known.type;
      header_.item_bytes = element_bytes(known.type);
      return;
    }
    if (!parse_text_type(code)) refuse_type(descr, refused_kind(code.empty() ? '\0' : code[0]));
  }

  // S7 and U7: seven bytes, seven code points.
  bool parse_text_type(std::string_view code) {
    constexpr int64_t kMaxTextLength = 65536;
    if (code.size() < 2 || (code[0] != 'S' && code[0] != 'U')) return false;
    int64_t length = 0;
    const char* last = code.data() + code.size();
    const auto [end, error] = std::from_chars(code.data() + 1, last, length);
    if (error != std::errc() || end != last) return false;
    if (length < 1 || length > kMaxTextLength)
      fail(fmt::format("text of length {}, must be 1 to {}", length, kMaxTextLength));
    header_.type = code[0] == 'S' ? ElementType::Text : ElementType::Utf32Text;
    header_.item_bytes = code[0] == 'S' ? length : 4 * length;
    return true;
  }

  [[noreturn]] void refuse_type(std::string_view descr, const char* kind) const {
    throw DataError(fmt::format(
        "{}: dtype is {} ({}), must be one of {}; convert it with array.astype(\"float32\")",
        source_, printable(descr), kind, kReadTypes));
  }

  void require_all_entries() const {
    if (!has_type_) fail("'descr' is missing");
    if (!has_order_) fail("'fortran_order' is missing");
    if (!has_shape_) fail("'shape' is missing");
  }

  std::string_view text_;
  const std::string& source_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_type_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& source) {
  return HeaderParser(text, source).parse();
}

}  // namespace milieu::internal
