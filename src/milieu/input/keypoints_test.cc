// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/keypoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

class KeypointsTest : public ::testing::Test {
 protected:
  KeypointsTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}

  // A feature folder that has kept the local descriptors of these features.
  std::string features(const std::string& list, bool patches = true) {
    ExtractOptions options;
    options.patches = patches;
    extract_features(list_image_folder(photos_), parse_features(list), dir_.file("f"), options,
                     silent_monitor());
    return dir_.file("f");
  }

  TempDir dir_;
  ScopedVariable cache_;
  const std::string photos_ = make_image_folder(dir_, "photos", 2);
};

TEST_F(KeypointsTest, AreThoseOfThePaper) {
  const SparseSiftOptions options = texton_keypoints();
  EXPECT_EQ(options.min_scale, 1);
  EXPECT_EQ(options.max_scale, 2);
  EXPECT_EQ(options.max_num_keypoints, 2000);
}

TEST_F(KeypointsTest, KnowTheirImagePlaceAndClass) {
  const KeypointSet set = load_keypoints(photos_);
  const auto n = static_cast<size_t>(set.data.points.rows());
  ASSERT_GT(n, 0u);
  EXPECT_EQ(set.root, photos_);
  EXPECT_EQ(set.data.points.cols(), 128);
  EXPECT_EQ(set.positions.rows(), set.data.points.rows());
  ASSERT_EQ(set.images.size(), n);
  EXPECT_THAT(set.images, Each(Lt(static_cast<int>(set.paths.size()))));
  ASSERT_EQ(set.data.labels.indices.size(), n);
  for (size_t i = 0; i < n; ++i) {
    const std::string& path = set.paths[static_cast<size_t>(set.images[i])];
    EXPECT_THAT(set.data.sample_names[i], StartsWith(path + ":"));
    EXPECT_THAT(path,
                StartsWith(set.data.labels.names[static_cast<size_t>(set.data.labels.indices[i])]));
  }
}

TEST_F(KeypointsTest, ImagesThatCannotBeReadAreNamedAndNotCounted) {
  dir_.write("photos/blobs/-broken.ppm", "P6\n");  // sorted before the others
  const KeypointSet all = load_keypoints(photos_);
  EXPECT_THAT(all.skipped, ElementsAre(HasSubstr("skipped blobs/-broken.ppm")));
  LoadOptions first;
  first.rows = {0};
  EXPECT_THAT(load_keypoints(photos_, first).paths, ElementsAre("blobs/0.ppm"));
}

TEST_F(KeypointsTest, SelectionsKeepImages) {
  LoadOptions blobs;
  blobs.select = "blobs";
  EXPECT_THAT(load_keypoints(photos_, blobs).paths, Each(StartsWith("blobs/")));
  LoadOptions stripes;  // they have no corners
  stripes.select = "stripes";
  EXPECT_THAT([&] { load_keypoints(photos_, stripes); },
              ThrowsMessage<DataError>(HasSubstr("has no image with a keypoint")));
}

TEST_F(KeypointsTest, FolderWithoutAReadableImageSaysSo) {
  dir_.write("bad/a.ppm", "P6\n");
  EXPECT_THAT([&] { load_keypoints(dir_.file("bad")); },
              ThrowsMessage<DataError>(HasSubstr("has no image that can be read")));
}

TEST_F(KeypointsTest, FeatureFoldersThatKeptDescriptorsHaveThem) {
  const std::optional<KeypointSet> set = keypoints_of_features(features("dense-sift:step=16"));
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->paths.size(), 4u);
  EXPECT_EQ(set->root, photos_);
  EXPECT_THAT(set->skipped, IsEmpty());
  LoadOptions one;
  one.rows = {3};
  EXPECT_THAT(keypoints_of_features(dir_.file("f"), one)->paths, ElementsAre("stripes/1.ppm"));
}

TEST_F(KeypointsTest, FeatureFolderWithoutOrWithSeveralDescriptors) {
  EXPECT_EQ(keypoints_of_features(features("tiny", false)), std::nullopt);
  features("dense-sift:step=16:words=2,sparse-sift:words=2");
  EXPECT_THAT([&] { keypoints_of_features(dir_.file("f")); },
              ThrowsMessage<InvalidArgument>(HasSubstr("make a folder with those of one feature")));
}

}  // namespace
}  // namespace milieu
