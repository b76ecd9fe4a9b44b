// SPDX-License-Identifier: Apache-2.0
// What is kept between runs: the index of the image files and the rows of a feature.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/feature/cache/file_index_internal.h"
#include "milieu/feature/cache/row_store_internal.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using internal::RowStore;

TEST(FileIndex, RemembersAndForgetsWhatACrashCutOff) {
  const TempDir folder;
  const std::string path = folder.file("files");
  const internal::FileState state{
      .stamp = {7, 9, 10, 5}, .hash = 11, .width = 3, .height = 2, .error = "no \"image\""};
  const std::string odd = "caf\xe9\n\xff.png";  // not UTF-8
  {
    internal::FileIndex index(path);
    index.append("a.png", state);
    index.append(odd, state);
  }
  fs::resize_file(path, fs::file_size(path) - 3);  // cut off
  {
    internal::FileIndex index(path);
    ASSERT_NE(index.find("a.png", state.stamp), nullptr);
    EXPECT_EQ(index.find("a.png", state.stamp)->error, "no \"image\"");
    for (const FileStamp& other : {FileStamp{8, 9, 10, 5}, FileStamp{7, 8, 10, 5},
                                   FileStamp{7, 9, 11, 5}, FileStamp{7, 9, 10, 6}})
      EXPECT_EQ(index.find("a.png", other), nullptr);
    EXPECT_NE(index.find_earlier("a.png"), nullptr);
    EXPECT_EQ(index.find(odd, state.stamp), nullptr);
    index.append(odd, state);
  }
  internal::FileIndex index(path);
  ASSERT_NE(index.find(odd, state.stamp), nullptr);
  EXPECT_EQ(index.find(odd, state.stamp)->hash, 11u);
  index.keep_only({"a.png"});
  EXPECT_EQ(internal::FileIndex(path).find(odd, state.stamp), nullptr);
  EXPECT_NE(internal::FileIndex(path).find("a.png", state.stamp), nullptr);
  const std::string line = read_bytes(path);
  folder.write("files",
               line.substr(0, line.find(",3,2")) + ",4,2" + line.substr(line.find(",3,2") + 4));
  EXPECT_EQ(internal::FileIndex(path).find("a.png", state.stamp), nullptr) << "damaged";
  folder.write("files", R"(["a.png",7,9,"000000000000000b",3,2,""])"
                        "\n");
  EXPECT_EQ(internal::FileIndex(path).find("a.png", {7, 9, 10, 5}), nullptr);
  EXPECT_NE(internal::FileIndex(path).find_earlier("a.png"), nullptr) << "a line of 0.1.0";
}

LocalDescriptors rows_of(int64_t count, float value) {
  LocalDescriptors rows;
  rows.descriptors = Matrix<float>(count, 2);
  rows.frames = Matrix<float>(count, 4);
  for (int64_t i = 0; i < rows.descriptors.size(); ++i) rows.descriptors.data()[i] = value + i;
  return rows;
}

internal::StoreFiles store_files(const TempDir& folder) {
  return {.values = folder.file("v.npy"),
          .frames = folder.file("f.npy"),
          .offsets = folder.file("o.npy"),
          .grids = folder.file("g.npy")};
}

// Cuts the part and the journal at every length: what is left is a beginning of the images.
TEST(RowStore, AnyCutLeavesABeginning) {
  const TempDir folder;
  {
    RowStore store(store_files(folder), folder.file("x"), "key");
    for (uint64_t hash = 1; hash <= 3; ++hash)
      store.append(hash, rows_of(static_cast<int64_t>(hash), static_cast<float>(10 * hash)));
  }
  const std::string journal = read_bytes(folder.file("x.journal"));
  const std::string part = read_bytes(folder.file("x.part"));
  for (size_t cut = 0; cut <= journal.size(); ++cut) {
    folder.write("x.journal", journal.substr(0, cut));
    folder.write("x.part", part);
    const RowStore store(store_files(folder), folder.file("x"), "key");
    EXPECT_GE(store.has(1), store.has(2));
    EXPECT_GE(store.has(2), store.has(3));
  }
  for (size_t cut = 0; cut <= part.size(); cut += 5) {
    folder.write("x.journal", journal);
    folder.write("x.part", part.substr(0, cut));
    RowStore store(store_files(folder), folder.file("x"), "key");
    for (uint64_t hash = 1; hash <= 3; ++hash)
      if (!store.has(hash))
        store.append(hash, rows_of(static_cast<int64_t>(hash), static_cast<float>(10 * hash)));
    store.assemble({3, 1, 2});
    store.publish();
    const Points values = to_points(open_npy(folder.file("v.npy")));
    ASSERT_EQ(values.rows(), 6);
    EXPECT_EQ(values.view()(0, 0), 30);
    EXPECT_EQ(values.view()(3, 0), 10);
    EXPECT_EQ(values.view()(5, 1), 23);
  }
}

// What a power cut may leave: zeros or noise after the part's end or over its last bytes, and a
// journal that is torn anywhere, or has noise at its end. Nothing of it may be believed: the
// finished files are those of an undisturbed run.
TEST(RowStore, TornTailsAreComputedAgain_issue20) {
  const TempDir folder;
  const std::vector<uint64_t> order = {1, 2, 3, 4};
  const auto fill = [&](RowStore& store) {
    for (const uint64_t hash : order)
      if (!store.has(hash))
        store.append(hash, rows_of(static_cast<int64_t>(hash), static_cast<float>(10 * hash)));
  };
  {
    RowStore store(store_files(folder), folder.file("x"), "key");
    fill(store);
  }
  const std::string journal = read_bytes(folder.file("x.journal"));
  const std::string part = read_bytes(folder.file("x.part"));
  const auto finish = [&](const std::string& torn_part, const std::string& torn_journal) {
    folder.write("x.part", torn_part);
    folder.write("x.journal", torn_journal);
    RowStore store(store_files(folder), folder.file("x"), "key");
    fill(store);
    store.assemble(order);
    store.publish();
    return read_bytes(folder.file("v.npy")) + read_bytes(folder.file("f.npy")) +
           read_bytes(folder.file("o.npy"));
  };
  const std::string whole = finish(part, journal);
  const std::string zeros(4096, '\0'), noise(4096, '\x5a');
  for (const std::string& tail : {zeros, noise}) {
    EXPECT_EQ(finish(part + tail, journal), whole);
    EXPECT_EQ(finish(part, journal + tail), whole);
    for (const size_t lost : {1u, 4u, 24u, 64u, 100u}) {  // the file has its size, not its bytes
      const std::string blank = part.substr(0, part.size() - lost) + tail.substr(0, lost);
      EXPECT_EQ(finish(blank, journal), whole) << lost;
      EXPECT_EQ(finish(blank + tail, journal), whole) << lost;
    }
  }
  for (size_t cut = 0; cut < journal.size(); ++cut) {
    EXPECT_EQ(finish(part, journal.substr(0, cut)), whole) << cut;
    if (cut % 5 != 0) continue;  // every file is flushed to disk, which takes time
    std::string flipped = journal;
    flipped[cut] = static_cast<char>(flipped[cut] ^ 1);
    EXPECT_EQ(finish(part, flipped), whole) << cut;
  }
  for (size_t at = 0; at < part.size(); at += 7) {
    std::string flipped = part;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_EQ(finish(flipped, journal), whole) << at;
  }
}

// The rows are on disk before the journal names them.
TEST(RowStore, JournalNamesOnlyFlushedRows_issue20) {
  const TempDir folder;
  RowStore store(store_files(folder), folder.file("x"), "key");
  store.append(1, rows_of(1, 0));
  store.flush();
  const size_t flushed = read_bytes(folder.file("x.journal")).size();
  EXPECT_GT(flushed, 0u);
  store.append(2, rows_of(1, 5));
  store.flush();
  EXPECT_GT(read_bytes(folder.file("x.journal")).size(), flushed);
  const RowStore reader(store_files(folder), folder.file("x"), "key");
  EXPECT_TRUE(reader.has(2));
  EXPECT_EQ(reader.read(2).descriptors(0, 1), 6);
}

TEST(RowStore, PartOfOtherParametersIsForgotten) {
  const TempDir folder;
  {
    RowStore store(store_files(folder), folder.file("x"), "key");
    store.append(1, rows_of(2, 0));
  }
  EXPECT_FALSE(RowStore(store_files(folder), folder.file("x"), "other").has(1));
}

TEST(RowStore, RowsOfAnotherLengthAreRefused) {
  const TempDir folder;
  RowStore store(store_files(folder), folder.file("x"), "key");
  store.append(1, LocalDescriptors());  // none: any length
  store.append(2, rows_of(1, 0));
  LocalDescriptors longer = rows_of(1, 0);
  longer.descriptors = Matrix<float>(1, 3);
  EXPECT_THROW(store.append(3, longer), DataError);
}

TEST(RowStore, MayBeAskedWhileAnotherThreadAppends) {
  const TempDir folder;
  RowStore store(store_files(folder), folder.file("x"), "key");
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_FALSE(store.has(501));
  });
  for (uint64_t hash = 1; hash <= 500; ++hash) store.append(hash, rows_of(1, 0));
  EXPECT_TRUE(store.has(500));
}

}  // namespace
}  // namespace milieu
