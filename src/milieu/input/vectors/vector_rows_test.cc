// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/vectors/vector_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Four images of two classes; they are never decoded.
class VectorRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"photos/cat/1.png", "photos/cat/2.png", "photos/dog/1.png", "photos/dog/3.png"})
      write(name, "not decoded");
    Matrix<float> rows(4, 2);
    for (int64_t i = 0; i < 4; ++i) rows(i, 0) = static_cast<float>(i), rows(i, 1) = 1;
    write_npy(folder_.file("v.npy"), rows.view());
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    std::ofstream(folder_.file(name), std::ios::binary) << text;
  }

  // A safetensors file of one matrix 4 x 2 of floats.
  void write_safetensors(const std::string& dtype, const std::string& names) const {
    const std::string header = R"({"__metadata__": {"names": ")" + names +
                               R"("}, "v": {"dtype": ")" + dtype +
                               R"(", "shape": [4, 2], "data_offsets": [0, 32]}})";
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size() & 255),
    bytes[1] = static_cast<char>(header.size() >> 8);
    bytes += header;
    for (int i = 0; i < 4; ++i)
      for (const float value : {static_cast<float>(i), 1.0f})
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    write("v.safetensors", bytes);
  }

  InputRows open(const std::string& vectors, const std::string& names = {}) const {
    ImageOptions images;
    images.vectors = folder_.file(vectors);
    if (!names.empty()) images.vector_names = folder_.file(names);
    return open_rows(folder_.file("photos"), images, {});
  }

  static std::vector<float> first_column(const InputRows& rows) {
    std::vector<float> values;
    const Dataset data = rows.rows.take();
    for (int64_t i = 0; i < data.points.rows(); ++i) values.push_back(data.points.view()(i, 0));
    return values;
  }

  TempDir folder_;
};

TEST_F(VectorRowsTest, RowsAreInTheOrderOfTheSortedNames) {
  const InputRows rows = open("v.npy");
  EXPECT_THAT(first_column(rows), ElementsAre(0, 1, 2, 3));
  const Dataset data = rows.rows.take();
  EXPECT_THAT(data.sample_names, ElementsAre("cat/1.png", "cat/2.png", "dog/1.png", "dog/3.png"));
  EXPECT_THAT(data.labels.names, ElementsAre("cat", "dog"));
  EXPECT_EQ(rows.images.root, folder_.file("photos"));
}

TEST_F(VectorRowsTest, AnotherNumberOfRowsIsExplained) {
  write("photos/dog/4.png", "");
  EXPECT_THAT([&] { open("v.npy"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("v.npy has 4 rows"),
                                             HasSubstr("photos has 5 images, from cat/1.png to"),
                                             HasSubstr("--vector-names FILE"))));
}

TEST_F(VectorRowsTest, NamesMatchInAnyOrder) {
  write("names.txt", "dog/3.png\r\n./dog/1.png\ncat/2.png\ncat/1.png\n");
  EXPECT_THAT(first_column(open("v.npy", "names.txt")), ElementsAre(3, 2, 1, 0));
  write("names.txt", "p/dog/3.png\np/dog/1.png\np/cat/2.png\np/cat/1.png\n");
  EXPECT_THAT(first_column(open("v.npy", "names.txt")), ElementsAre(3, 2, 1, 0));
  // A name in another folder is another image.
  write("names.txt", "3.png\ndog/1.png\n2.png\nelsewhere.png\n");
  const InputRows some = open("v.npy", "names.txt");
  EXPECT_THAT(first_column(some), ElementsAre(2, 1, 0));
  EXPECT_THAT(some.warnings,
              ElementsAre(HasSubstr("1 of 4 images have no row"), HasSubstr("1 of 4 rows")));
}

TEST_F(VectorRowsTest, NamesThatDoNotFitAreExplained) {
  write("names.txt", "a\nb\n");
  EXPECT_THAT([&] { open("v.npy", "names.txt"); },
              ThrowsMessage<DataError>(HasSubstr("names.txt has 2 names")));
  write("names.txt", "a\nb\nc\nd\n");
  EXPECT_THAT(
      [&] { open("v.npy", "names.txt"); },
      ThrowsMessage<DataError>(HasSubstr("the first row is called a, the first image cat/1.png")));
  write("names.txt", "1.png\nx.png\n2.png\n3.png\n");
  EXPECT_THAT([&] { open("v.npy", "names.txt"); },
              ThrowsMessage<DataError>(HasSubstr("1.png names both cat/1.png and dog/1.png")));
  write("names.txt", "1.png\n1.png\n2.png\n3.png\n");
  EXPECT_THAT([&] { open("v.npy", "names.txt"); },
              ThrowsMessage<DataError>(HasSubstr("named more than once")));
}

TEST_F(VectorRowsTest, SafetensorsBringTheirNames) {
  write_safetensors("F32", R"(dog/3.png\ndog/1.png\ncat/2.png\ncat/1.png)");
  EXPECT_THAT(first_column(open("v.safetensors")), ElementsAre(3, 2, 1, 0));
  write_safetensors("BF16", "");
  EXPECT_THAT([&] { open("v.safetensors"); },
              ThrowsMessage<DataError>(HasSubstr("save it as float32")));
  write_safetensors("F64", "");
  EXPECT_THAT([&] { open("v.safetensors"); }, ThrowsMessage<DataError>(HasSubstr("shape")));
  write("v.safetensors", "short");
  EXPECT_THROW(open("v.safetensors"), DataError);
}

TEST_F(VectorRowsTest, OneWayOnlyAndOnlyForImages) {
  ImageOptions images;
  images.vectors = folder_.file("v.npy");
  images.feature = "gist";
  EXPECT_THROW(open_rows(folder_.file("photos"), images, {}), InvalidArgument);
  images.feature = "";
  EXPECT_THAT([&] { open_rows(folder_.file("v.npy"), images, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("give the vectors themselves as INPUT")));
  images.vectors = "";
  images.vector_names = "names.txt";
  EXPECT_THROW(open_rows(folder_.file("photos"), images, {}), InvalidArgument);
}

}  // namespace
}  // namespace milieu
