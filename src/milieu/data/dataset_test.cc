// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/temp_dir.h"
#include "milieu/testing/test_data.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// X.npy holds 6 x 2 numbers 0 ... 11; y.npy the classes 7 8 7 9 8 8.
class LoadDataset : public ::testing::Test {
 protected:
  LoadDataset() : x_(folder_.file("X.npy")), y_(folder_.file("y.npy")) {
    Matrix<float> matrix(6, 2);
    for (int64_t i = 0; i < matrix.size(); ++i) matrix.data()[i] = static_cast<float>(i);
    write_npy(x_, matrix.view());
    write_npy(y_, std::span<const int32_t>(std::vector<int32_t>{7, 8, 7, 9, 8, 8}));
  }
  Dataset select(const std::string& path, const std::string& selection) const {
    LoadOptions options;
    options.labels_path = y_;
    options.select = selection;
    return load_dataset(path, options);
  }
  static std::vector<float> first_column(const Dataset& dataset) {
    std::vector<float> column;
    for (int64_t i = 0; i < dataset.points.rows(); ++i)
      column.push_back(dataset.points.view()(i, 0));
    return column;
  }

  TempDir folder_;
  std::string x_;
  std::string y_;
};

TEST_F(LoadDataset, MapsFloat32) {
  const Dataset dataset = load_dataset(x_);
  EXPECT_TRUE(dataset.points.is_mapped());
  EXPECT_EQ(dataset.source, x_);
  EXPECT_THAT(dataset.sample_shape, ElementsAre(2));
  EXPECT_TRUE(dataset.labels.empty());
  EXPECT_THAT(dataset.rows, IsEmpty());
}

TEST_F(LoadDataset, LabelsComeFromTheirFile) {
  const Dataset dataset = select(x_, "");
  EXPECT_THAT(dataset.labels.names, ElementsAre("7", "8", "9"));
  EXPECT_THAT(dataset.labels.indices, ElementsAre(0, 1, 0, 2, 1, 1));
}

TEST_F(LoadDataset, SelectionKeepsFileOrderAndCopiesKeptRows) {
  const Dataset dataset = select(x_, "9,7");
  EXPECT_THAT(first_column(dataset), ElementsAre(0, 4, 6));
  EXPECT_THAT(dataset.rows, ElementsAre(0, 2, 3));
  EXPECT_THAT(dataset.labels.names, ElementsAre("7", "9"));
  EXPECT_THAT(dataset.labels.indices, ElementsAre(0, 0, 1));
  EXPECT_FALSE(dataset.points.is_mapped());
}

TEST_F(LoadDataset, KeptStretchStaysMapped) {
  const Dataset all = select(x_, "7-9");
  EXPECT_TRUE(all.points.is_mapped());
  EXPECT_THAT(all.rows, IsEmpty());
  const Dataset one = select(x_, "9");
  EXPECT_TRUE(one.points.is_mapped());
  EXPECT_THAT(first_column(one), ElementsAre(6));
  EXPECT_THAT(one.rows, ElementsAre(3));
}

TEST_F(LoadDataset, SelectionOfConvertedTypes) {
  write_npy(x_, std::span<const int32_t>(std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(first_column(select(x_, "8")), ElementsAre(1, 4, 5));
}

TEST_F(LoadDataset, SelectionOfTextKeepsNames) {
  const std::string path = folder_.write("x.csv", ",a,label\np,1,u\nq,2,v\nr,3,u\n");
  LoadOptions options;
  options.select = "u";
  const Dataset dataset = load_dataset(path, options);
  EXPECT_THAT(first_column(dataset), ElementsAre(1, 3));
  EXPECT_THAT(dataset.sample_names, ElementsAre("p", "r"));
  EXPECT_THAT(dataset.rows, ElementsAre(0, 2));
  EXPECT_THAT(dataset.labels.names, ElementsAre("u"));
  EXPECT_THAT(load_dataset(path).sample_names, ElementsAre("p", "q", "r"));
}

TEST_F(LoadDataset, LabelsOfAnotherLengthAreRefused) {
  write_npy(y_, std::span<const int32_t>(std::vector<int32_t>{1, 2, 3}));
  EXPECT_THAT([&] { select(x_, ""); },
              ThrowsMessage<DataError>(y_ + " has 3 rows, " + x_ + " has 6: they must match"));
  const std::string csv = folder_.write("x.csv", "1\n2\n");
  EXPECT_THAT([&] { select(csv, ""); },
              ThrowsMessage<DataError>(y_ + " has 3 rows, " + csv + " has 2: they must match"));
}

TEST_F(LoadDataset, UnknownClassNamesTheLabelFile) {
  EXPECT_THAT([&] { select(x_, "5"); },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("y.npy has no class \"5\""), EndsWith("classes are 7, 8, 9"))));
}

TEST_F(LoadDataset, SelectionNeedsClasses) {
  LoadOptions options;
  options.select = "6,0";
  EXPECT_THAT([&] { load_dataset(x_, options); },
              ThrowsMessage<InvalidArgument>("select is \"6,0\", but " + x_ +
                                             " has no classes: give a label file"));
}

TEST_F(LoadDataset, LabelColumnNeedsColumns) {
  LoadOptions options;
  options.label_column = "kind";
  EXPECT_THAT([&] { load_dataset(x_, options); },
              ThrowsMessage<InvalidArgument>(HasSubstr("has no named columns")));
}

TEST_F(LoadDataset, NanIsNamedByRowAndColumn) {
  Matrix<float> matrix(6, 2);
  matrix(3, 1) = NAN;
  matrix(4, 0) = -INFINITY;
  write_npy(x_, matrix.view());
  EXPECT_THAT([&] { load_dataset(x_); },
              ThrowsMessage<DataError>(
                  x_ + ": row 3, column 1 (counted from 0) is NaN, must be a finite number"));
  EXPECT_THAT([&] { select(x_, "8"); },
              ThrowsMessage<DataError>(HasSubstr("row 4, column 0 (counted from 0) is Inf")))
      << "the row of the file, not of the selection";
  EXPECT_THAT(first_column(select(x_, "7")), ElementsAre(0, 0)) << "rows left out do not matter";
  LoadOptions options;
  options.allow_non_finite = true;
  EXPECT_TRUE(std::isnan(load_dataset(x_, options).points.view()(3, 1)));
}

TEST_F(LoadDataset, DoublesBeyondFloatAreNamed) {
  write_npy(x_, std::span<const double>(std::vector<double>{1, 1e300}));
  EXPECT_THAT(
      [&] { load_dataset(x_); },
      ThrowsMessage<DataError>(HasSubstr("row 1, column 0 (counted from 0) is 1e+300, too large")));
}

TEST_F(LoadDataset, EmptyInputIsRefused) {
  write_npy(x_, Matrix<float>(0, 5).view());
  EXPECT_THAT([&] { load_dataset(x_); },
              ThrowsMessage<DataError>(x_ + " has no rows, must have at least one"));
  write_npy(x_, Matrix<float>(5, 0).view());
  EXPECT_THAT([&] { load_dataset(x_); },
              ThrowsMessage<DataError>(x_ + " has no columns, must have at least one"));
  folder_.write("x.csv", "");
  EXPECT_THAT([&] { load_dataset(folder_.file("x.csv")); },
              ThrowsMessage<DataError>(HasSubstr("x.csv is empty")));
  folder_.write("x.bin", "");
  EXPECT_THAT([&] { load_dataset(folder_.file("x.bin")); },
              ThrowsMessage<DataError>(HasSubstr("x.bin is empty")));
}

TEST_F(LoadDataset, ReadsIdxWithItsShape) {
  folder_.write("images", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x01\x05\x06", 18));
  const Dataset dataset = load_dataset(folder_.file("images"));
  EXPECT_THAT(dataset.sample_shape, ElementsAre(2, 1));
  EXPECT_EQ(dataset.points.view()(0, 1), 6);
}

TEST_F(LoadDataset, FilesOfAnyNameAreRecognisedByTheirBytes) {
  std::filesystem::copy(x_, folder_.file("data"));
  EXPECT_EQ(load_dataset(folder_.file("data")).points.rows(), 6);
  EXPECT_EQ(load_dataset(folder_.write("numbers.dat", "1 2\n3 4\n")).points.cols(), 2);
}

TEST_F(LoadDataset, TsvIsSeparatedByTabs) {
  const Dataset dataset = load_dataset(folder_.write("x.tsv", "a,b\tc\n1\t2\n"));
  EXPECT_EQ(dataset.points.cols(), 2);
}

TEST_F(LoadDataset, FolderIsRefusedWithAHint) {
  std::filesystem::create_directory(folder_.file("photos"));
  EXPECT_THAT([&] { load_dataset(folder_.file("photos")); },
              ThrowsMessage<InvalidArgument>(HasSubstr("turn images into features first")));
  EXPECT_THAT([&] { load_dataset(folder_.path()); },  // it holds .npy files and a folder
              ThrowsMessage<InvalidArgument>(HasSubstr("turn images into features first")));
}

TEST_F(LoadDataset, MissingFileIsNamed) {
  EXPECT_THAT([] { load_dataset("no/X.npy"); },
              ThrowsMessage<IoError>(HasSubstr("no/X.npy does not exist")));
  LoadOptions options;
  options.labels_path = "no/y.npy";
  EXPECT_THAT([&] { load_dataset(x_, options); },
              ThrowsMessage<IoError>(HasSubstr("no/y.npy does not exist")));
}

TEST_F(LoadDataset, KnownStrangersGetAHint) {
  const std::pair<const char*, const char*> cases[] = {
      {"x.npz", "numpy.save"},      {"x.mat", "MATLAB"},      {"x.png", "an image"},
      {"x.csv.gz", "gunzip first"}, {"x.parquet", ".csv or"}, {"x.safetensors", "a model file"},
      {"x.bin", "unknown kind"}};
  for (const auto& [name, hint] : cases) {
    const std::string path = folder_.write(name, std::string("\x01\0\x02", 3));
    EXPECT_THAT([&] { load_dataset(path); }, ThrowsMessage<DataError>(HasSubstr(hint)));
  }
}

TEST_F(LoadDataset, DamagedNpyIsCalledDamaged) {
  EXPECT_THAT([&] { load_dataset(folder_.write("x.npy", "1,2\n")); },
              ThrowsMessage<DataError>(HasSubstr("x.npy is not a .npy file")));
}

// Real files: digits in .npy and, where MNIST is there, the same images as .npy and as gzip'd idx.
TEST(LoadRealData, UspsSelectsItsDigits) {
  const auto usps = find_data("usps_roweis");
  if (!usps) GTEST_SKIP() << no_data_message("usps_roweis");
  LoadOptions options;
  options.labels_path = *usps + "/labels.npy";
  options.select = "6,0";
  const Dataset dataset = load_dataset(*usps + "/X.npy", options);
  EXPECT_EQ(dataset.points.rows(), 2200);
  EXPECT_EQ(dataset.points.cols(), 256);
  EXPECT_EQ(dataset.rows.front(), 5500);  // the sixth block of 1100
}

TEST(LoadRealData, MnistIsTheSameAsIdxAndAsNpy) {
  const auto mnist = find_data("mnist");
  if (!mnist) GTEST_SKIP() << no_data_message("mnist");
  LoadOptions options;
  options.labels_path = *mnist + "/t10k-labels-idx1-ubyte.gz";
  const Dataset idx = load_dataset(*mnist + "/t10k-images-idx3-ubyte.gz", options);
  options.labels_path = *mnist + "/labels_t10k.npy";
  const Dataset npy = load_dataset(*mnist + "/X_t10k.npy", options);
  EXPECT_THAT(idx.sample_shape, ElementsAre(28, 28));
  EXPECT_EQ(Matrix<float>(idx.points.view()), Matrix<float>(npy.points.view()));
  EXPECT_EQ(idx.labels.indices, npy.labels.indices);
}

}  // namespace
}  // namespace milieu
