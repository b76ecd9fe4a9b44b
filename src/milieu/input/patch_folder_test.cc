// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PatchFolderTest : public ::testing::Test {
 protected:
  PatchFolderTest()
      : cache_("MILIEU_CACHE", dir_.file("cache")),
        network_("MILIEU_NETWORK", ""),
        config_("XDG_CONFIG_HOME", dir_.file("config")) {
    request_.path = make_image_folder(dir_, "photos", 2);
    request_.options.num_components = 0;
  }
  PatchImages read() { return patches_of_folder(request_, silent_monitor()); }
  std::string features(const std::string& list, bool patches = true) {
    ExtractOptions options;
    options.patches = patches;
    extract_features(list_image_folder(request_.path), parse_features(list), dir_.file("f"),
                     options, silent_monitor());
    return dir_.file("f");
  }

  TempDir dir_;
  ScopedVariable cache_, network_, config_;
  PatchRequest request_;
};

TEST_F(PatchFolderTest, DefaultFeatureIsDenseSiftEveryEightPixels) {
  EXPECT_EQ(patch_feature(request_), "dense-sift");  // step 8 is the feature's own default
  request_.options.step = 16;
  EXPECT_THAT(patch_feature(request_), HasSubstr("step=16"));
  request_.options.step = 0;
  const ScopedVariable network("MILIEU_NETWORK", "/nets/clip.onnx");
  EXPECT_THAT(patch_feature(request_), HasSubstr("onnx-patches:/nets/clip.onnx"));
}

TEST_F(PatchFolderTest, FeatureIsOneLocalOneWithoutItsWords) {
  request_.feature = "dense-sift:step=4:words=100";
  EXPECT_EQ(patch_feature(request_), "dense-sift:step=4");
  for (const char* feature : {"gist", "dense-sift,sparse-sift"}) {
    request_.feature = feature;
    EXPECT_THAT([&] { patch_feature(request_); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be one local feature")));
  }
}

// --step beside --feature used to be ignored silently.
TEST_F(PatchFolderTest, StepBesideAFeatureIsRefused_issue19) {
  request_.feature = "dense-sift:step=4";
  request_.options.step = 16;
  EXPECT_THAT([&] { patch_feature(request_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("dense-sift:step=16")));
}

TEST_F(PatchFolderTest, ImagesHaveTheirPatchesRowByRow) {
  const PatchImages images = read();
  EXPECT_EQ(images.num_images(), 4);
  EXPECT_EQ(images.patches.cols(), 128);
  EXPECT_THAT(images.names,
              ElementsAre("blobs/0.ppm", "blobs/1.ppm", "stripes/0.ppm", "stripes/1.ppm"));
  EXPECT_THAT(images.labels.names, ElementsAre("blobs", "stripes"));
  ASSERT_EQ(images.grid.rows(), 4);
  for (int64_t d = 0; d < 4; ++d)
    EXPECT_EQ(images.grid(d, 0) * images.grid(d, 1), images.offsets[d + 1] - images.offsets[d]);
  EXPECT_EQ(images.positions.rows(), images.patches.rows());
  EXPECT_TRUE(images.projection.empty());
  EXPECT_EQ(images.root, request_.path);
}

TEST_F(PatchFolderTest, KeypointsHaveNoGrid) {
  request_.feature = "sparse-sift";
  EXPECT_TRUE(read().grid.empty());
}

TEST_F(PatchFolderTest, DescriptorsAreProjectedOnceAndNewOnesLikeThem) {
  request_.options.num_components = 8;
  const PatchImages images = read();
  EXPECT_EQ(images.patches.cols(), 8);
  EXPECT_EQ(images.projection.rows(), 9);
  request_.projection = images.projection;
  EXPECT_EQ(read().patches.view()(3, 5), images.patches.view()(3, 5));
  request_.projection = Matrix<float>(9, 5);
  EXPECT_THAT([&] { read(); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("the projection of training is 9 x 5"),
                                             HasSubstr("have 128 numbers"))));
}

TEST_F(PatchFolderTest, UnreadableImagesAreWarnedOf) {
  dir_.write("photos/blobs/broken.ppm", "P6\n");
  EXPECT_THAT(read().warnings, ElementsAre(HasSubstr("1 of 5 images could not be read")));
}

TEST_F(PatchFolderTest, FeatureFolderMustHaveThePatchesThatAreMeant) {
  const std::string folder = features("dense-sift:step=16:words=2,sparse-sift:words=2");
  request_.path = folder;
  EXPECT_THAT([&] { read(); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("has patches of dense-sift:step=16"),
                                                   HasSubstr("choose one with --feature"))));
  request_.feature = "dense-sift:step=16";
  EXPECT_EQ(read().num_images(), 4);
  request_.feature = "dense-sift:step=4";
  EXPECT_THAT([&] { read(); },
              ThrowsMessage<InvalidArgument>(HasSubstr("not of dense-sift:step=4")));
  request_.feature = "dense-sift:step=16";
  request_.max_side = "20";
  EXPECT_THAT([&] { read(); }, ThrowsMessage<InvalidArgument>(HasSubstr("max_side is 20, but")));
}

TEST_F(PatchFolderTest, FeatureFolderWithoutPatchesSaysHowToMakeThem) {
  request_.path = features("tiny", false);
  EXPECT_THAT([&] { read(); },
              ThrowsMessage<InvalidArgument>(HasSubstr("run milieu features with --patches")));
}

}  // namespace
}  // namespace milieu
