// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/shell.h"

#include <gtest/gtest.h>

namespace milieu {
namespace {

TEST(Shell, PlainTextStaysAsItIs) { EXPECT_EQ(shell_quoted("a/b-c.npy:1,2"), "a/b-c.npy:1,2"); }

TEST(Shell, AnythingElseIsQuoted) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("my photos"), "'my photos'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
}

TEST(Shell, LineQuotesEachArgument) {
  EXPECT_EQ(shell_line({"milieu", "dcp", "my photos"}), "milieu dcp 'my photos'");
}

}  // namespace
}  // namespace milieu
