// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/patch_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PatchImagesTest : public ::testing::Test {
 protected:
  PatchImagesTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}

  // Six patches of three images.
  PatchRequest file_request(const std::vector<int32_t>& offsets) {
    PatchRequest request;
    request.path = dir_.write("patches.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n");
    const std::string path = dir_.file("offsets.npy");
    write_npy(path, std::span<const int32_t>(offsets));
    request.files = InputFiles(inputs_of<PatchImages>());
    set(request, "offsets", path);
    return request;
  }
  static void set(PatchRequest& request, const std::string& name, const std::string& value) {
    for (const Field& field : request.files.fields())
      if (field.name == name) field.set(value);
  }
  TempDir dir_;
  ScopedVariable cache_;
};

TEST_F(PatchImagesTest, OffsetsCutTheFileIntoImages) {
  PatchRequest request = file_request({0, 2, 2, 6});
  const PatchImages images = load_patch_images(request, silent_monitor());
  EXPECT_EQ(images.num_images(), 3);
  const Dataset data = image_dataset(images);
  EXPECT_EQ(data.points.view()(0, 0), 2);
  EXPECT_EQ(data.points.view()(1, 0), 0);
  request.load.rows = {0, 2};
  EXPECT_THAT(load_patch_images(request, silent_monitor()).offsets, ElementsAre(0, 2, 6));
}

TEST_F(PatchImagesTest, WrongOffsetsAreRefused) {
  for (const auto& offsets : {std::vector<int32_t>{1, 6}, {0, 4, 2, 6}, {0, 5}, {0}}) {
    const PatchRequest request = file_request(offsets);
    EXPECT_THROW(load_patch_images(request, silent_monitor()), DataError);
  }
  PatchRequest request = file_request({0, 6});
  request.files = InputFiles(inputs_of<PatchImages>());
  EXPECT_THAT([&] { load_patch_images(request, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("--offsets")));
}

TEST_F(PatchImagesTest, PositionsGiveBands) {
  PatchRequest request = file_request({0, 3, 6});
  set(request, "positions", dir_.write("p.csv", "0,0\n0,5\n0,10\n0,1\n0,1\n0,2\n"));
  PatchImages images = load_patch_images(request, silent_monitor());
  images.set_bands(2);
  EXPECT_THAT(images.bands, ElementsAre(0, 1, 1, 0, 0, 1));
  images.set_bands(1);
  EXPECT_TRUE(images.bands.empty());
}

TEST_F(PatchImagesTest, GridsAndPositionsMustFit) {
  PatchRequest request = file_request({0, 2, 6});
  set(request, "grid", dir_.write("g.csv", "1,2\n2,2\n"));
  EXPECT_EQ(load_patch_images(request, silent_monitor()).grid(1, 0), 2);
  set(request, "grid", dir_.write("g.csv", "1,2\n"));
  EXPECT_THROW(load_patch_images(request, silent_monitor()), DataError);
  set(request, "grid", "");
  set(request, "positions", dir_.write("p.csv", "0,0\n0,5\n"));
  EXPECT_THAT([&] { load_patch_images(request, silent_monitor()); },
              ThrowsMessage<DataError>(HasSubstr("p.csv is 2 x 2, must be 6 x 2 or more")));
}

TEST_F(PatchImagesTest, LabelsAreOfImagesAndSelectThem) {
  PatchRequest request = file_request({0, 2, 2, 6});
  request.load.labels_path = dir_.write("y.csv", "u\nv\nu\n");
  request.load.select = "u";
  const PatchImages images = load_patch_images(request, silent_monitor());
  EXPECT_THAT(images.offsets, ElementsAre(0, 2, 6));
  EXPECT_THAT(images.rows, ElementsAre(0, 2));
  EXPECT_EQ(image_dataset(images).total_rows, 3);
  request.load.labels_path.clear();
  EXPECT_THAT([&] { load_patch_images(request, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("--select needs classes")));
}

TEST_F(PatchImagesTest, FeaturesAreForImageFolders) {
  PatchRequest request = file_request({0, 6});
  request.feature = "dense-sift";
  EXPECT_THAT([&] { load_patch_images(request, silent_monitor()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("patches.csv is not an image folder")));
}

// A fit that maps its patches must notice when they are replaced.
TEST_F(PatchImagesTest, ChangedFilesAreNoticed) {
  const PatchImages images = load_patch_images(file_request({0, 6}), silent_monitor());
  const std::string before = watch_state(images);
  EXPECT_EQ(watch_state(images), before);
  dir_.write("patches.csv", "1,2\n");
  EXPECT_NE(watch_state(images), before);
}

}  // namespace
}  // namespace milieu
