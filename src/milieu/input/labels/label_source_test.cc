// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/labels/label_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LabelSourceTest : public ::testing::Test {
 protected:
  LabelSource open(const std::string& describe, const std::string& names = "") const {
    return LabelSource({.describe = describe, .label_names = names}, 1);
  }
  TempDir dir_;
  std::string vectors_ = dir_.write("labels.csv", "1,0\n0,1\n-1,0\n");
};

TEST_F(LabelSourceTest, VectorsGiveCosines) {
  const LabelSource labels = open(vectors_, dir_.write("names.txt", "east, right\nnorth\nwest\n"));
  EXPECT_FALSE(labels.is_classifier());
  EXPECT_THAT(labels.names(), ElementsAre("east", "north", "west"));
  Matrix<float> points(1, 2);
  points(0, 0) = 1;
  points(0, 1) = 5;
  const LabelEvidence evidence = labels.of_points(points, "X.npy");
  EXPECT_THAT(evidence.values_of(0), ElementsAre(0.5F, 1.0F, 1.0F / 3));
}

TEST_F(LabelSourceTest, OtherWidthsAreNamed) {
  const LabelSource labels = open(vectors_, dir_.write("names.txt", "a\nb\nc\n"));
  EXPECT_THAT([&] { labels.of_points(Matrix<float>(2, 5), "X.npy"); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("labels.csv has 2 columns, X.npy has 5: label vectors must be in "
                                  "the samples' own space"),
                        HasSubstr("--describe onnx:FILE"))));
}

TEST_F(LabelSourceTest, NamesAreNeeded) {
  EXPECT_THAT([&] { open(vectors_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("add --label-names FILE")));
  EXPECT_THAT([&] { open("onnx:net.onnx"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("add --label-names FILE")));
  EXPECT_THAT([&] { open("", dir_.write("names.txt", "a\n")); },
              ThrowsMessage<InvalidArgument>(HasSubstr("nothing gives the labels")));
}

TEST_F(LabelSourceTest, EmptyLinesAreNamed) {
  EXPECT_THAT([&] { open(vectors_, dir_.write("names.txt", "a\n \nc\n")); },
              ThrowsMessage<DataError>(HasSubstr("names.txt: line 2 is empty")));
}

TEST_F(LabelSourceTest, OneClassifierIsTaken) {
  const std::string names = dir_.write("names.txt", "a\nb\n");
  EXPECT_TRUE(open("onnx:net.onnx:preset=unit", names).is_classifier());
  EXPECT_THAT([&] { open("onnx:a.onnx,onnx:b.onnx", names); },
              ThrowsMessage<InvalidArgument>(HasSubstr("must be one classifier")));
}

}  // namespace
}  // namespace milieu
