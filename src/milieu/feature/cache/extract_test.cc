// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/format/npy.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/cache/file_index_internal.h"
#include "milieu/feature/cache/image_files.h"
#include "milieu/feature/cache/in_order_internal.h"
#include "milieu/feature/cache/row_store_internal.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using internal::RowStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Images of two classes, every one different.
class ExtractTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      fs::create_directories(photos() + "/" + name);
      for (int i = 0; i < 4; ++i) write_image(name, i, 10 * i + (name[0] == 'a' ? 0 : 5));
    }
  }

  std::string photos() const { return folder_.file("photos"); }
  std::string out() const { return folder_.file("out"); }

  void write_image(const std::string& kind, int number, int seed) const {
    Random random(static_cast<uint64_t>(seed));
    Image image = testing::smooth_image(40, 32);
    for (uint8_t& value : image.rgb)
      value = static_cast<uint8_t>(value ^ (random.next_bits() & 31));
    testing::write_bytes(photos() + "/" + kind + "/" + std::to_string(number) + ".png",
                         testing::to_png(image));
  }

  ExtractResult extract(const std::string& list, const std::string& to,
                        const ExtractOptions& options = {},
                        Monitor& monitor = silent_monitor()) const {
    return extract_features(list_image_folder(photos()), parse_features(list), to, options,
                            monitor);
  }

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

TEST_F(ExtractTest, RowsAreThoseOfTheFeature) {
  const ExtractResult result = extract("tiny:size=4", out());
  EXPECT_EQ(result.num_images, 8);
  EXPECT_EQ(result.num_computed, 8);
  const FeatureFolder stored = open_feature_folder(out());
  EXPECT_EQ(stored.images.size(), 8u);
  EXPECT_THAT(stored.labels.names, ElementsAre("a", "b"));
  EXPECT_THAT(stored.labels.indices, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(stored.widths[0], 40);
  EXPECT_EQ(stored.heights[0], 32);
  const Points points = stored.points("tiny");
  FeatureSpec spec = parse_feature("tiny:size=4");
  for (int64_t i = 0; i < 8; ++i) {
    const Image image = load_image(photos() + "/" + stored.images[i]);
    const std::vector<float> expected = spec.feature->whole({image, stored.images[i]});
    EXPECT_THAT(std::vector<float>(points.view().row(i), points.view().row(i) + 16),
                ::testing::ElementsAreArray(expected));
  }
}

TEST_F(ExtractTest, StoppedRunResumesAndGivesTheSame) {
  extract("tiny,dense-sift:words=4", folder_.file("whole"), {.patches = true});
  ExtractOptions options;
  options.patches = true;
  options.num_threads = 1;
  std::stop_source stop;
  StopAfter monitor(stop, 3);
  const ExtractResult first = extract("tiny,dense-sift:words=4", out(), options, monitor);
  EXPECT_FALSE(first.is_complete);
  EXPECT_FALSE(is_feature_folder(out()));
  EXPECT_THROW(open_feature_folder(out()), DataError);
  const ExtractResult second = extract("tiny,dense-sift:words=4", out(), options);
  EXPECT_TRUE(second.is_complete);
  EXPECT_EQ(second.num_computed, 5);
  for (const char* name : {"tiny.npy", "dense-sift.npy", "dense-sift.descriptors.npy",
                           "dense-sift.frames.npy", "dense-sift.offsets.npy", "images.csv"})
    EXPECT_EQ(read_bytes(out() + "/" + name), read_bytes(folder_.file("whole") + "/" + name))
        << name;
}

// The images of the sample are described once: what was kept of them is what is used.
TEST_F(ExtractTest, DescriptorsOfTheSampleServeTheMainPass) {
  const ExtractOptions options{.patches = true, .num_threads = 1};
  std::stop_source stop;
  StopAfter monitor(stop, 1);
  EXPECT_FALSE(extract("dense-sift:words=4", out(), options, monitor).is_complete);
  const std::string part = out() + "/.milieu/dense-sift.sample.part";
  const size_t kept = fs::file_size(part);
  ASSERT_GT(kept, 0u);
  std::ofstream(part, std::ios::binary) << std::string(kept, '\0');
  EXPECT_TRUE(extract("dense-sift:words=4", out(), options).is_complete);
  const PatchSet patches = open_feature_folder(out()).patches("dense-sift");
  const FloatView last = patches.descriptors_of(patches.num_images() - 1);
  ASSERT_GT(last.rows(), 0);
  EXPECT_EQ(last(0, 0), 0.0f);
  EXPECT_EQ(last.row_span(last.rows() - 1)[127], 0.0f);
  const FloatView first = patches.descriptors_of(0);  // was finished before
  EXPECT_NE(std::count(first.row_span(0).begin(), first.row_span(0).end(), 0.0f), 128);
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(ExtractTest, PatchesBelongToTheirImages) {
  extract("dense-sift:step=8:words=4,tiny", out(), {.patches = true});
  const FeatureFolder stored = open_feature_folder(out());
  const PatchSet patches = stored.patches("dense-sift");
  ASSERT_EQ(patches.num_images(), 8);
  FeatureSpec spec = parse_feature("dense-sift:step=8");
  for (int64_t i = 0; i < 8; ++i) {
    const Image image = load_image(photos() + "/" + stored.images[i]);
    const LocalDescriptors local = spec.feature->local({image, stored.images[i]});
    EXPECT_EQ(Matrix<float>(patches.descriptors_of(i)), local.descriptors);
    EXPECT_EQ(Matrix<float>(patches.frames_of(i)), local.frames);
    EXPECT_EQ(patches.grids[i].rows, local.grid_rows);
    EXPECT_EQ(patches.grids[i].cols, local.grid_cols);
  }
  EXPECT_THROW(stored.patches("tiny"), InvalidArgument);
  EXPECT_THROW(stored.points("lbp"), InvalidArgument);
  EXPECT_THAT(vocabulary_files(out(), "dense-sift"), ElementsAre("dense-sift.codebook.npy"));
  EXPECT_THAT(vocabulary_files(out(), "tiny"), IsEmpty());
}

TEST_F(ExtractTest, VocabularyOfAnotherFolderGivesTheSameWords) {
  const std::string spec = "dense-sift:words=5:pca=3:weight=tf-idf:pyramid=2";
  extract(spec, out());
  EXPECT_THAT(vocabulary_files(out(), "dense-sift"),
              ElementsAre("dense-sift.codebook.npy", "dense-sift.pca.npy", "dense-sift.idf.npy"));
  const std::string other = folder_.file("other");
  extract(spec, other, {.vocabulary_folder = out()});
  EXPECT_EQ(read_bytes(other + "/dense-sift.npy"), read_bytes(out() + "/dense-sift.npy"));
  EXPECT_THROW(extract("sparse-sift", folder_.file("x"), {.vocabulary_folder = out()}),
               InvalidArgument);
}

TEST_F(ExtractTest, NewImageInTheSampleLearnsNewWords) {
  extract("dense-sift:words=5", out());
  write_image("a", 9, 77);
  const ExtractResult result = extract("dense-sift:words=5", out());
  EXPECT_EQ(result.num_computed, 9);  // other words, other histograms
  extract("dense-sift:words=5", folder_.file("fresh"));
  EXPECT_EQ(read_bytes(out() + "/dense-sift.npy"),
            read_bytes(folder_.file("fresh") + "/dense-sift.npy"));
}

TEST_F(ExtractTest, OtherNormComputesNoImageAgain) {
  extract("dense-sift:words=5", out());
  EXPECT_EQ(extract("dense-sift:words=5:norm=l2", out()).num_computed, 0);
  extract("dense-sift:words=5:norm=l2", folder_.file("fresh"));
  EXPECT_EQ(read_bytes(out() + "/dense-sift.npy"),
            read_bytes(folder_.file("fresh") + "/dense-sift.npy"));
}

TEST_F(ExtractTest, EqualImagesShareTheirRow) {
  fs::copy_file(photos() + "/a/0.png", photos() + "/b/copy.png");
  extract("tiny", out());
  const Points points = open_feature_folder(out()).points("tiny");
  EXPECT_EQ(points.rows(), 9);
  EXPECT_TRUE(std::equal(points.view().row(0), points.view().row(0) + 256, points.view().row(8)));
}

TEST_F(ExtractTest, DamagedFoldersAreRefused) {
  extract("tiny", out());
  fs::copy(out(), folder_.file("cut"), fs::copy_options::recursive);
  fs::resize_file(folder_.file("cut") + "/tiny.npy", 300);
  EXPECT_THROW(open_feature_folder(folder_.file("cut")).points("tiny"), DataError);
  testing::write_bytes(out() + "/images.csv", {'x'});
  EXPECT_THROW(open_feature_folder(out()), DataError);
  testing::write_bytes(out() + "/features.json", {'{'});
  EXPECT_THROW(open_feature_folder(out()), DataError);
  EXPECT_TRUE(extract("tiny", out()).is_complete);  // made again
  EXPECT_EQ(open_feature_folder(out()).points("tiny").rows(), 8);
}

TEST_F(ExtractTest, FolderIsWrittenByOneRunAtATime) {
  extract("tiny", out());
  std::string message;
  class Second : public Monitor {
   public:
    explicit Second(std::function<void()> run) : run_(std::move(run)) {}
    void on_progress(std::string_view, int64_t, int64_t) override { run_(); }

   private:
    std::function<void()> run_;
  } monitor([&] {
    try {
      extract("tiny", out());
    } catch (const IoError& error) {
      message = error.what();
    }
  });
  extract("color", out(), {.num_threads = 1}, monitor);
  EXPECT_THAT(message, HasSubstr("another run is writing to"));
}

TEST(FileIndex, RemembersAndForgetsWhatACrashCutOff) {
  const TempDir folder;
  const std::string path = folder.file("files");
  const internal::FileState state{
      .bytes = 7, .mtime_ns = 9, .hash = 11, .width = 3, .height = 2, .error = "no \"image\""};
  const std::string odd = "caf\xe9\n\xff.png";  // not UTF-8
  {
    internal::FileIndex index(path);
    index.append("a.png", state);
    index.append(odd, state);
  }
  fs::resize_file(path, fs::file_size(path) - 3);  // cut off
  {
    internal::FileIndex index(path);
    ASSERT_NE(index.find("a.png", state), nullptr);
    EXPECT_EQ(index.find("a.png", state)->error, "no \"image\"");
    EXPECT_EQ(index.find("a.png", {.bytes = 8, .mtime_ns = 9, .error = {}}), nullptr);
    EXPECT_NE(index.find_earlier("a.png"), nullptr);
    EXPECT_EQ(index.find(odd, state), nullptr);
    index.append(odd, state);
  }
  internal::FileIndex index(path);
  ASSERT_NE(index.find(odd, state), nullptr);
  EXPECT_EQ(index.find(odd, state)->hash, 11u);
  index.keep_only({"a.png"});
  EXPECT_EQ(internal::FileIndex(path).find(odd, state), nullptr);
  EXPECT_NE(internal::FileIndex(path).find("a.png", state), nullptr);
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

TEST(InOrder, ResultsComeInOrderAndFewWait) {
  std::vector<int64_t> taken;
  std::atomic<int64_t> made = 0;
  internal::for_each_in_order(
      200, 3, silent_monitor(),
      [&](int64_t i) {
        ++made;
        return i * i;
      },
      [&](int64_t i, int64_t square) {
        EXPECT_EQ(square, i * i);
        EXPECT_LE(made - static_cast<int64_t>(taken.size()), 10);
        taken.push_back(i);
      });
  ASSERT_EQ(taken.size(), 200u);
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(taken[i], i);
}

TEST(InOrder, FirstExceptionEndsTheWork) {
  int64_t taken = 0;
  const auto run = [&] {
    internal::for_each_in_order(
        100, 2, silent_monitor(),
        [](int64_t i) {
          if (i == 20) throw DataError("twenty");
          return i;
        },
        [&](int64_t, int64_t) { ++taken; });
  };
  EXPECT_THROW(run(), DataError);
  EXPECT_LE(taken, 20);
}

}  // namespace
}  // namespace milieu
