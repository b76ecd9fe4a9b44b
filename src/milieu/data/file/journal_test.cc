// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/file/journal.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <vector>

#include "milieu/data/text_file.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JournalTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("kept"); }
  std::vector<std::string> pieces(const std::string& key = "1234") const {
    std::vector<std::string> found;
    const Journal journal(path(), {"ranking", key},
                          [&](std::string_view piece) { found.emplace_back(piece); });
    return found;
  }
  void append(const std::vector<std::string>& texts) const {
    Journal journal(path(), {"ranking", "1234"}, [](std::string_view) {});
    for (const std::string& text : texts) journal.append(text);
  }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }

  TempDir folder_;
};

TEST_F(JournalTest, PiecesComeBackInTheirOrder) {
  EXPECT_THAT(pieces(), IsEmpty());
  append({"b", "a"});
  append({"", "c d"});
  EXPECT_THAT(pieces(), ElementsAre("b", "a", "", "c d"));
}

// Cut anywhere, it gives the complete pieces; the next one follows them.
TEST_F(JournalTest, CutOffPieceIsLostAlone) {
  append({"one"});
  const size_t first = read_text_file(path()).size();
  append({"two"});
  const std::string whole = read_text_file(path());
  for (size_t length = first; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_THAT(pieces(), ElementsAre("one")) << length;
  }
  for (const size_t length : {1, 12, 20}) {  // of the first line
    write(whole.substr(0, length));
    EXPECT_THAT(pieces(), IsEmpty()) << length;
  }
  write(whole.substr(0, first));
  append({"three"});
  EXPECT_THAT(pieces(), ElementsAre("one", "three"));
}

TEST_F(JournalTest, EveryChangedByteIsNoticed) {
  append({"one", "two"});
  const std::string whole = read_text_file(path());
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    write(changed);
    EXPECT_FALSE(message_of([&] { pieces(); }).empty()) << i;
  }
}

TEST_F(JournalTest, OtherFilesAndOtherWorkAreRefused) {
  write("tea");
  EXPECT_THAT(message_of<DataError>([&] { pieces(); }), HasSubstr("does not hold a ranking"));
  write("");
  EXPECT_THAT(pieces(), IsEmpty());
  append({"one"});
  EXPECT_THAT(message_of<InvalidArgument>([&] { pieces("5678"); }),
              HasSubstr("belongs to a ranking of other data or options"));
}

TEST_F(JournalTest, TwoWritersAreRefused) {
  Journal first(path(), {"ranking", "1234"}, [](std::string_view) {});
  first.append("one");
  Journal second(path(), {"ranking", "1234"}, [](std::string_view) {});
  EXPECT_THAT(message_of<IoError>([&] { second.open(); }), HasSubstr("another process"));
}

TEST_F(JournalTest, FullDiskLosesNothing) {
  Journal journal(path(), {"ranking", "1234"}, [](std::string_view) {});
  journal.append("one");
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = read_text_file(path()).size() + 7;
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(journal.append("two"), IoError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(pieces(), ElementsAre("one"));
  journal.append("three");
  EXPECT_THAT(pieces(), ElementsAre("one", "two", "three"));
}

}  // namespace
}  // namespace milieu
