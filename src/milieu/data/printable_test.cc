// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace milieu {
namespace {

TEST(Printable, ControlCharactersCannotReachATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a\\x1b[2Jb\\x7f");
}

TEST(Printable, UpperControlsAndBytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(IsUtf8, KnowsTheLimitsOfEveryLength) {
  for (const char* text : {"", "a\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << printable(text);
  for (const char* text :
       {"\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe1\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf1\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(text)) << printable(text);
}

TEST(Printable, LongTextIsCut) {
  EXPECT_EQ(printable(std::string(50, 'x'), 5), "xxxxx...");
  EXPECT_EQ(printable("12345", 5), "12345");
}

TEST(Printable, CharactersAreNotCutInTwo) {
  EXPECT_EQ(printable("abc\xc3\xa9 and more", 4), "abc...");
  EXPECT_EQ(printable("abc\xc3\xa9 and more", 5), "abc\xc3\xa9...");
}

TEST(PrintableList, LongListsEndInTheirCount) {
  const std::vector<std::string> items = {"a", "b", "c"};
  EXPECT_EQ(printable_list(items), "a, b, c");
  EXPECT_EQ(printable_list(items, 2), "a, b, ... (3 in all)");
}

}  // namespace
}  // namespace milieu
