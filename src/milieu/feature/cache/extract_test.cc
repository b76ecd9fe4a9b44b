// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <sstream>
#include <stop_token>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/random.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/cache/file_index_internal.h"
#include "milieu/feature/cache/image_files.h"
#include "milieu/feature/cache/in_order_internal.h"
#include "milieu/feature/cache/row_store_internal.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
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

// Features that scale images themselves get a small decoding; the others, and what is known about
// the image, do not change by what is computed beside them.
TEST_F(ExtractTest, EveryFeatureHasItsOwnDecoding_issue31) {
  testing::write_bytes(photos() + "/a/large.jpg",
                       testing::to_jpeg(testing::smooth_image(1600, 1200)));
  extract("tiny:size=4", folder_.file("tiny"));
  extract("lbp", folder_.file("lbp"));
  extract("lbp,tiny:size=4", out());
  const FeatureFolder both = open_feature_folder(out());
  for (const char* name : {"tiny", "lbp"})
    EXPECT_TRUE(Matrix<float>(both.points(name).view()) ==
                Matrix<float>(open_feature_folder(folder_.file(name)).points(name).view()));
  const auto row = std::ranges::find(both.images, "a/large.jpg") - both.images.begin();
  EXPECT_EQ(both.widths.at(static_cast<size_t>(row)), 1600);
  EXPECT_EQ(both.heights.at(static_cast<size_t>(row)), 1200);
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

// Rewrites a part with zeros for numbers.
void blank_rows(const std::string& part) {
  std::istringstream journal(read_bytes(part + ".journal"));
  std::string mark, key, line;
  journal >> mark >> key;
  const internal::StoreFiles files{"v", "f", "o", "g"};
  std::vector<std::pair<uint64_t, LocalDescriptors>> kept;
  {
    const internal::RowStore store(files, part, key);
    for (std::getline(journal, line); std::getline(journal, line);) {
      uint64_t hash = 0;
      ASSERT_TRUE(parse_hex(line.substr(0, 16), hash));
      kept.emplace_back(hash, store.read(hash));
    }
  }
  fs::remove(part + ".journal");
  internal::RowStore store(files, part, key);
  for (auto& [hash, rows] : kept) {
    std::fill_n(rows.descriptors.data(), rows.descriptors.size(), 0.0f);
    store.append(hash, rows);
  }
}

// The images of the sample are described once: what was kept of them is what is used.
TEST_F(ExtractTest, DescriptorsOfTheSampleServeTheMainPass) {
  const ExtractOptions options{.patches = true, .num_threads = 1};
  std::stop_source stop;
  StopAfter monitor(stop, 1);
  EXPECT_FALSE(extract("dense-sift:words=4", out(), options, monitor).is_complete);
  const std::string part = out() + "/.milieu/dense-sift.sample.part";
  ASSERT_GT(fs::file_size(part), 0u);
  blank_rows(out() + "/.milieu/dense-sift.sample");
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

// Two images of equal size and time change places: their rows must change places too.
TEST_F(ExtractTest, SwappedFilesAreNoticed_issue20) {
  const std::string first = photos() + "/a/0.ppm", second = photos() + "/a/1.ppm";
  for (const std::string& path : {first, second}) {
    Image image = testing::smooth_image(40, 32);
    if (path == second) std::reverse(image.rgb.begin(), image.rgb.end());
    testing::write_bytes(path, testing::to_ppm(image));
    fs::last_write_time(path, fs::file_time_type(std::chrono::seconds(1)));
  }
  ASSERT_EQ(fs::file_size(first), fs::file_size(second));
  extract("tiny", out());
  fs::rename(first, first + "-");
  fs::rename(second, first);
  fs::rename(first + "-", second);
  extract("tiny", out());
  extract("tiny", folder_.file("fresh"));
  EXPECT_EQ(read_bytes(out() + "/tiny.npy"), read_bytes(folder_.file("fresh") + "/tiny.npy"));
}

// A stamp may lie (another file system, a clock that was set back): --verify reads every image.
TEST_F(ExtractTest, VerifyReadsEveryImage_issue20) {
  extract("tiny", out());
  const std::string image = photos() + "/b/2.png";
  const std::string index = out() + "/.milieu/files";
  write_image("b", 2, 99);
  {
    // The index is made to say that it has seen this very file, with the content of the old one.
    internal::FileIndex files(index);
    internal::FileState state = *files.find_earlier("b/2.png");
    state.stamp = stamp_of(image);
    files.append("b/2.png", state);
  }
  EXPECT_EQ(extract("tiny", out()).num_computed, 0);
  EXPECT_EQ(extract("tiny", out(), {.verify = true}).num_computed, 1);
  extract("tiny", folder_.file("fresh"));
  EXPECT_EQ(read_bytes(out() + "/tiny.npy"), read_bytes(folder_.file("fresh") + "/tiny.npy"));
}

// Finished arrays and codebooks are checked when they are opened, and made again when asked for.
TEST_F(ExtractTest, DamagedFilesAreRefusedAndMadeAgain_issue20) {
  const ExtractOptions options{.patches = true};
  const char* list = "tiny,dense-sift:words=4";
  extract(list, folder_.file("whole"), options);
  for (const char* name :
       {"tiny.npy", "dense-sift.npy", "dense-sift.descriptors.npy", "dense-sift.frames.npy",
        "dense-sift.offsets.npy", "dense-sift.codebook.npy", ".milieu/dense-sift.codebook.npy",
        ".milieu/dense-sift.counts.npy"})
    for (const bool is_cut : {false, true}) {
      fs::remove_all(out());
      extract(list, out(), options);
      const std::string path = out() + "/" + name;
      std::string bytes = read_bytes(path);
      if (is_cut) bytes.resize(bytes.size() - 5);
      if (!is_cut) bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
      testing::write_bytes(path, {bytes.begin(), bytes.end()});
      const auto use = [&] {
        const FeatureFolder folder = open_feature_folder(out());
        (void)folder.points("tiny");
        (void)folder.points("dense-sift");
        (void)folder.patches("dense-sift");
        (void)folder.vocabulary("dense-sift");
      };
      if (name[0] != '.') {
        EXPECT_THROW(use(), DataError) << name;
      }
      EXPECT_TRUE(extract(list, out(), options).is_complete) << name;
      EXPECT_NO_THROW(use()) << name;
      EXPECT_EQ(read_bytes(path), read_bytes(folder_.file("whole") + "/" + name)) << name;
    }
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
