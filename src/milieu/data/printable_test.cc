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
