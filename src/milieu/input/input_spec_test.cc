// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/input_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/dcp/dcp.h"

namespace milieu {
namespace {

TEST(InputFiles, SamplesMayBeAFileOrRowsOfInput) {
  InputFiles files(inputs_of<DcpInput>());
  std::vector<std::string> names;
  for (const Field& field : files.fields()) names.push_back(field.name);
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"context", "context_select", "context_rows", "weights", "must_link"}));
  for (const Field& field : files.fields())
    if (field.name == "context_select") field.set(std::string("7"));
  EXPECT_EQ(files["context_select"], "7");
  EXPECT_TRUE(files.has("context_select"));
  EXPECT_FALSE(files.has("context"));
  EXPECT_EQ(files["no such input"], "");
}

TEST(InputFiles, ValueNamesSayWhatToType) {
  InputFiles files(inputs_of<DcpInput>());
  for (const Field& field : files.fields())
    EXPECT_EQ(input_value_name(field), field.name == "context_select" ? "CLASSES" : "FILE");
  InputSpec spec;
  for (const Field& field : fields_of(spec)) {
    if (field.name == "feature") {
      EXPECT_EQ(input_value_name(field), "LIST");
    }
  }
}

TEST(ImageSize, IsWidthTimesHeight) {
  EXPECT_EQ(parse_image_size("16x8").width, 16);
  EXPECT_EQ(parse_image_size("16x8").height, 8);
  EXPECT_EQ(parse_image_size("").width, 0);
  for (const char* text : {"16", "x", "16x", "x8", "0x4", "4x-1", "16x8x", "a16x8"})
    EXPECT_THROW(parse_image_size(text), InvalidArgument) << text;
}

TEST(ImageSize, MustFitTheColumnsOrComesFromTheFile) {
  Dataset data;
  data.points = Points(Matrix<float>(2, 12));
  EXPECT_EQ(image_size_of(data, "4x3").width, 4);
  EXPECT_THROW(image_size_of(data, "5x3"), InvalidArgument);
  EXPECT_EQ(image_size_of(data, "").width, 0);
  data.sample_shape = {3, 4};
  EXPECT_EQ(image_size_of(data, "").width, 4);
  EXPECT_EQ(image_size_of(data, "").height, 3);
}

}  // namespace
}  // namespace milieu
