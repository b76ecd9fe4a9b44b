// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

TEST(Html, MarkupCharactersAreEscaped) {
  EXPECT_EQ(escape_html("<script>alert(\"a\" & 'b')</script>"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;");
}

TEST(Html, OrdinaryTextStaysAsItIs) {
  EXPECT_EQ(escape_html("größe 大小 😀\n\tx"), "größe 大小 😀\n\tx");
}

TEST(Html, ControlCharactersAreReplaced) {
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
}

TEST(Html, BrokenUtf8IsReplacedByteByByte) {
  EXPECT_EQ(escape_html("\xff"), "\uFFFD");
  EXPECT_EQ(escape_html("\xc3"), "\uFFFD");                                // cut off
  EXPECT_EQ(escape_html("\xc0\xaf"), "\uFFFD\uFFFD");                      // overlong /
  EXPECT_EQ(escape_html("\xe0\x80\xaf"), "\uFFFD\uFFFD\uFFFD");            // overlong /
  EXPECT_EQ(escape_html("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(escape_html("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(escape_html("\xc3<b>"), "\uFFFD&lt;b&gt;");  // does not swallow what follows
}

// RFC 4648, section 10.
TEST(Html, Base64MatchesTheRfcsVectors) {
  const auto encode = [](std::string_view text) {
    return to_base64(std::as_bytes(std::span(text)));
  };
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foob"), "Zm9vYg==");
  EXPECT_EQ(encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode("\xfb\xff"), "+/8=");
}

TEST(Markup, EscapesTextAndAttributes) {
  Markup markup;
  markup.element("p", {{"title", "\"><b>"}}, "1 < 2");
  EXPECT_EQ(std::move(markup).finish(), "<p title=\"&quot;&gt;&lt;b&gt;\">1 &lt; 2</p>\n");
}

TEST(Markup, InlineTagsLeaveNoSpaceBehind) {
  Markup markup;
  markup.open("p").element("b", "x").text(".").close("p");
  EXPECT_EQ(std::move(markup).finish(), "<p><b>x</b>.</p>\n");
}

// The checker itself must be able to fail, or the tests that use it prove nothing.
TEST(MarkupCheck, FindsEachKindOfFault) {
  EXPECT_THAT(find_markup_faults("<p id=\"a\">x &amp; y</p><img src=\"data:x\" alt=\"\"/>"),
              IsEmpty());
  for (const char* wrong :
       {"<p>", "</p>", "<p><b></p></b>", "<p class=x></p>", "a > b", "a & b",
        "<img src=\"data:x\"/>", "<th>x</th>", "<script></script>",
        "<a href=\"https://x.org\">x</a>", "<p id=\"a\"></p><p id=\"a\"></p>",
        "<p aria-labelledby=\"q\"></p>", "<path d=\"Mnan 1\"/>", "<p onclick=\"x\"></p>",
        "<p title=\"a\" title=\"b\"></p>", "<p title=\"<b>\"></p>"})
    EXPECT_THAT(find_markup_faults(wrong), Not(IsEmpty())) << wrong;
}

}  // namespace
}  // namespace milieu
