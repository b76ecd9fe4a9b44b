// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input.h"

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

class InputTest : public ::testing::Test {
 protected:
  InputTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {
    spec_.path = dir_.write("X.csv", "x,kind\n0,a\n1,b\n2,a\n3,c\n4,b\n");
    spec_.label_column = "kind";
  }
  Input read() { return read_rows(spec_, 1, "", silent_monitor()); }
  static std::vector<float> column(const Dataset& data) {
    std::vector<float> values;
    for (int64_t i = 0; i < data.points.rows(); ++i) values.push_back(data.points.view()(i, 0));
    return values;
  }

  TempDir dir_;
  ScopedVariable cache_;
  InputSpec spec_;
};

TEST_F(InputTest, SelectionsKeepClassesOrRows) {
  EXPECT_THAT(column(read().data), ElementsAre(0, 1, 2, 3, 4));
  spec_.select = "b,a";
  EXPECT_THAT(column(read().data), ElementsAre(0, 1, 2, 4));
  spec_.select.clear();
  spec_.rows = dir_.write("rows.txt", "4\n0\n");
  const Input input = read();
  EXPECT_THAT(column(input.data), ElementsAre(0, 4));
  EXPECT_THAT(input.named_rows, ElementsAre(0, 4));
}

TEST_F(InputTest, OtherSetsComeFromTheSameRows) {
  spec_.select = "a";
  const Input input = read();
  EXPECT_THAT(column(input.take_classes("b")), ElementsAre(1, 4));
  EXPECT_THAT(column(input.take_rows({3, 4})), ElementsAre(3, 4));
  EXPECT_THROW(input.take_classes("d"), InvalidArgument);
}

// Rows that are the set by number are never its context too.
TEST_F(InputTest, ClassesLeaveOutRowsThatWereChosenByNumber) {
  spec_.rows = dir_.write("rows.txt", "0\n1\n");
  EXPECT_THAT(column(read().take_classes("a,b")), ElementsAre(2, 4));
}

TEST_F(InputTest, InputThatIsNotMadeOfRowsSaysSo) {
  Input patches;
  patches.data.source = "photos";
  EXPECT_THAT([&] { patches.take_rows({0}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("photos is not made of rows")));
  EXPECT_THROW(patches.take_classes("a"), InvalidArgument);
}

TEST_F(InputTest, ChosenFeatureIsRecorded) {
  spec_ = {};
  spec_.path = make_image_folder(dir_, "photos", 2);
  spec_.feature = "tiny";
  spec_.max_side = "32";
  const Input input = read();
  EXPECT_EQ(input.kind, SampleKind::Points);
  EXPECT_EQ(input.images.root, spec_.path);
  EXPECT_EQ(input.images.max_side, "32");
  EXPECT_EQ(spec_.feature, "tiny");
  EXPECT_THAT(input.data.labels.names, ElementsAre("blobs", "stripes"));
}

TEST_F(InputTest, OptionsFollowTheSpec) {
  spec_.labels = "l.npy";
  spec_.select = "a";
  const LoadOptions load = load_options_of(spec_, 3);
  EXPECT_EQ(load.labels_path, "l.npy");
  EXPECT_EQ(load.label_column, "kind");
  EXPECT_EQ(load.select, "a");
  EXPECT_EQ(load.num_threads, 3);
  spec_.feature = "gist";
  spec_.vectors = "v.npy";
  spec_.vector_names = "names.txt";
  spec_.codebook = "c.npy";
  const ImageOptions images = image_options_of(spec_);
  EXPECT_EQ(images.feature + images.vectors + images.vector_names + images.codebook,
            "gistv.npynames.txtc.npy");
  spec_.rows = "missing.txt";
  EXPECT_THROW(load_options_of(spec_, 1), IoError);
}

}  // namespace
}  // namespace milieu
