// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <thread>

#include "milieu/base/random.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/cache/image_files.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Nine images of two classes, two of them with the same content, and one that cannot be read.
class ExtractShardsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      fs::create_directories(photos() + "/" + name);
      for (int i = 0; i < 4; ++i)
        write_image(path_of(name, i), static_cast<uint64_t>(10 * i + (name[0] == 'a' ? 0 : 5)));
    }
    fs::copy_file(photos() + "/a/1.png", photos() + "/b/9.png");
    std::ofstream(photos() + "/b/2x.png") << "tea";
  }

  static std::string path_of(const std::string& kind, int number) {
    return kind + "/" + std::to_string(number) + ".png";
  }
  std::string photos() const { return folder_.file("photos"); }
  std::string out() const { return folder_.file("out"); }

  void write_image(const std::string& name, uint64_t seed) const {
    Random random(seed);
    Image image = testing::smooth_image(40, 32);
    for (uint8_t& value : image.rgb)
      value = static_cast<uint8_t>(value ^ (random.next_bits() & 31));
    testing::write_bytes(photos() + "/" + name, testing::to_png(image));
  }

  ExtractResult extract(const std::string& to, ExtractOptions options = {},
                        const std::string& list = kFeatures,
                        Monitor& monitor = silent_monitor()) const {
    options.num_threads = 1;
    return extract_features(list_image_folder(photos()), parse_features(list), to, options,
                            monitor);
  }
  ExtractResult shard(int index, int count, const std::string& list = kFeatures,
                      Monitor& monitor = silent_monitor()) const {
    return extract(out(), {.patches = true, .shard = Shard{index, count}}, list, monitor);
  }

  // Every file of a folder, hidden ones too.
  static std::map<std::string, std::string> files_of(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(folder).string()] =
            read_text_file(entry.path().string());
    return files;
  }
  void expect_bytes_of_one_run() const {
    extract(folder_.file("whole"), {.patches = true});
    const auto whole = files_of(folder_.file("whole")), merged = files_of(out());
    ASSERT_EQ(merged.size(), whole.size());
    for (const auto& [name, content] : whole) {
      ASSERT_TRUE(merged.contains(name)) << name;
      EXPECT_TRUE(merged.at(name) == content) << name;
    }
  }

  static constexpr const char* kFeatures = "tiny:size=4,dense-sift:words=4";
  TempDir folder_;
};

// A monitor that asks to stop after a number of images.
class StopAfter : public Monitor {
 public:
  StopAfter(std::stop_source& source, int64_t count)
      : Monitor(source.get_token()), source_(source), count_(count) {}
  void on_progress(std::string_view stage, int64_t done, int64_t) override {
    if (stage == "images" && done >= count_) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  int64_t count_;
};

TEST_F(ExtractShardsTest, MergedFolderHasTheBytesOfOneRun) {
  for (const int count : {1, 2, 3, 14}) {  // the last has shards without images
    fs::remove_all(out());
    int64_t num_images = 0;
    for (int index = count; index >= 1; --index) num_images += shard(index, count).num_images;
    EXPECT_EQ(num_images, 9);
    EXPECT_FALSE(is_feature_folder(out()));
    const ExtractResult merged = merge_features(out());
    EXPECT_EQ(merged.num_images, 9);
    ASSERT_EQ(merged.skipped.size(), 1u);
    EXPECT_EQ(merged.skipped[0].path, "b/2x.png");
    expect_bytes_of_one_run();
  }
}

TEST_F(ExtractShardsTest, ShardsMayRunAtTheSameTime) {
  std::vector<std::jthread> machines;
  for (int index = 1; index <= 4; ++index)
    machines.emplace_back([this, index] { shard(index, 4); });
  machines.clear();
  merge_features(out());
  expect_bytes_of_one_run();
}

TEST_F(ExtractShardsTest, StoppedShardResumes) {
  std::stop_source stop;
  StopAfter monitor(stop, 2);
  EXPECT_FALSE(shard(1, 2, kFeatures, monitor).is_complete);
  shard(2, 2);
  EXPECT_THAT(message_of<InvalidArgument>([&] { merge_features(out()); }),
              HasSubstr("1 shard is not complete in " + out() + ": 1/2; run it again"));
  EXPECT_EQ(shard(1, 2).num_computed, 3);  // of five
  EXPECT_EQ(shard(1, 2).num_computed, 0);
  merge_features(out());
  expect_bytes_of_one_run();
}

// What a kill between the two files of a job left behind in earlier versions.
TEST_F(ExtractShardsTest, JobWithoutItsListingIsMadeWhole_issue20) {
  shard(1, 2);
  fs::remove(out() + "/.milieu/shards/listing.csv");
  shard(2, 2);
  merge_features(out());
  expect_bytes_of_one_run();
}

TEST_F(ExtractShardsTest, FinishedFolderIsBroughtUpToDate) {
  for (const std::string list : {"tiny:size=4", kFeatures}) {
    extract(out(), {.patches = true}, list);
    write_image("b/1.png", list.size());
    write_image("b/5.png", 2 * list.size());
    const int64_t first = shard(1, 2, list).num_computed, second = shard(2, 2, list).num_computed;
    if (list != kFeatures) {  // new images among those that words are learned from change all
      EXPECT_EQ(first, 0);
      EXPECT_EQ(second, 2);
    }
    merge_features(out());
    extract(folder_.file(list), {.patches = true}, list);
    auto whole = files_of(folder_.file(list)), merged = files_of(out());
    whole.erase(".milieu/files");  // in the order in which images were seen
    merged.erase(".milieu/files");
    EXPECT_TRUE(merged == whole) << list;
  }
}

TEST_F(ExtractShardsTest, MissingShardsAreNamed) {
  EXPECT_THAT(message_of<InvalidArgument>([&] { merge_features(out()); }),
              HasSubstr("holds no shards to merge"));
  shard(2, 4);
  EXPECT_THAT(message_of<InvalidArgument>([&] { merge_features(out()); }),
              HasSubstr("1/4, 3/4, 4/4; run them again, then merge"));
}

TEST_F(ExtractShardsTest, ShardsOfAnotherJobAreRefused) {
  shard(1, 2);
  const auto refusal = [&](auto&& call) { return message_of<InvalidArgument>(call); };
  EXPECT_THAT(refusal([&] { shard(2, 3); }), HasSubstr("shards is 2 there and 3 here"));
  EXPECT_THAT(refusal([&] { shard(2, 2, "tiny:size=5,dense-sift:words=4"); }),
              HasSubstr("features is [\"tiny:size=4\""));
  EXPECT_THAT(refusal([&] {
                extract(out(), {.patches = false, .shard = Shard{2, 2}});
              }),
              HasSubstr("patches is true there and false here"));
  ExtractOptions smaller{.patches = true, .shard = Shard{2, 2}};
  smaller.decode.max_side = 20;
  EXPECT_THAT(refusal([&] { extract(out(), smaller); }), HasSubstr("max_side is 1024 there"));
  EXPECT_THAT(refusal([&] { extract(out(), {.patches = true}); }),
              HasSubstr("holds shards that are not merged"));
  write_image("a/7.png", 99);
  EXPECT_THAT(refusal([&] { shard(2, 2); }), HasSubstr("num_images is 10 there and 11 here"));
  fs::rename(photos() + "/a/7.png", photos() + "/a/8.png");
  fs::remove(photos() + "/a/0.png");
  EXPECT_THAT(refusal([&] { shard(2, 2); }), HasSubstr("listing is "));
}

TEST_F(ExtractShardsTest, AnotherVersionIsRefused) {
  shard(1, 2);
  const std::string path = out() + "/.milieu/shards/job.json";
  std::string text = read_text_file(path);
  const size_t at = text.find("\"version\": \"") + 12;
  text.replace(at, text.find('"', at) - at, "0.0.1");
  std::ofstream(path) << text;
  EXPECT_THAT(message_of<InvalidArgument>([&] { shard(2, 2); }),
              HasSubstr("version is \"0.0.1\" there"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { merge_features(out()); }),
              HasSubstr("were made by Milieu 0.0.1"));
}

// The command is the same, the codebook that it names is not.
TEST_F(ExtractShardsTest, AnotherCodebookIsRefused) {
  const auto write_codebook = [&](float value) {
    std::ofstream file(folder_.file("words.csv"));
    for (int word = 0; word < 2; ++word)
      for (int i = 0; i < 128; ++i) file << (word == 0 ? 0 : value) << (i < 127 ? ',' : '\n');
  };
  const std::string list = "dense-sift:codebook=" + folder_.file("words.csv");
  write_codebook(1);
  shard(1, 2, list);
  write_codebook(2);
  EXPECT_THAT(message_of<InvalidArgument>([&] { shard(2, 2, list); }),
              HasSubstr("dense-sift is ["));
}

TEST_F(ExtractShardsTest, DamagedRowsAreNamedAndMadeAgain) {
  shard(1, 2);
  shard(2, 2);
  const std::string part = out() + "/.milieu/shards/2-of-2.tiny.part";
  std::string content = read_text_file(part);
  content[0] = static_cast<char>(content[0] ^ 1);
  std::ofstream(part, std::ios::binary) << content;
  EXPECT_THAT(message_of([&] { merge_features(out()); }), HasSubstr("in shard 2/2"));
  shard(2, 2);
  merge_features(out());
  expect_bytes_of_one_run();
}

}  // namespace
}  // namespace milieu
