// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/store/model_file.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;

TEST(Columns, ReadBackAsTheyWereWritten) {
  const TempDir dir;
  const std::string path = dir.file("columns.safetensors");
  const std::vector<Column> columns = {real_column("margins", std::vector<float>{0.5f, -1.0f}),
                                       whole_column("words", {3, 1, 2, 0}, 2),
                                       real_column("empty", std::vector<float>{})};
  write_columns(path, columns);
  const std::vector<Column> read = read_columns(path);
  ASSERT_EQ(read.size(), 3u);
  ASSERT_NE(find_reals(read, "margins"), nullptr);
  EXPECT_THAT(*find_reals(read, "margins"), ElementsAre(0.5f, -1.0f));
  ASSERT_NE(find_wholes(read, "words"), nullptr);
  EXPECT_THAT(*find_wholes(read, "words"), ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(find_wholes(read, "margins"), nullptr);
  EXPECT_EQ(find_reals(read, "nothing"), nullptr);
  for (const Column& column : read)
    if (column.name == "words") {
      EXPECT_EQ(column.width, 2);
      EXPECT_EQ(column.num_rows(), 2);
    }
}

TEST(Columns, MatrixIsOneColumnOfItsWidth) {
  Matrix<double> values(2, 3);
  for (int64_t i = 0; i < 6; ++i) values.data()[i] = static_cast<double>(i);
  const Column column = real_column("decisions", values.view());
  EXPECT_EQ(column.width, 3);
  EXPECT_EQ(column.num_rows(), 2);
  EXPECT_THAT(std::get<std::vector<float>>(column.values), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Columns, ModelFileIsRefused) {
  const TempDir dir;
  const std::string path = dir.file("model.safetensors");
  ModelFile model;
  model.kind = "kmeans";
  write_model_file(path, model);
  EXPECT_THROW(read_columns(path), DataError);
}

// A file of columns whose array is a cube is no column.
TEST(Columns, ArraysOfOtherShapesAreRefusedByName) {
  const TempDir dir;
  const std::string path = dir.file("columns.safetensors");
  write_columns(path, {real_column("margin", std::vector<float>{1, 2}, 1)});
  ModelFile file = read_model_file(path);
  file.arrays.at(0).second.shape = {1, 2, 1};
  write_model_file(path, file);
  try {
    read_columns(path);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("column 'margin' is F32 with 3 extents"));
  }
}

}  // namespace
}  // namespace milieu
