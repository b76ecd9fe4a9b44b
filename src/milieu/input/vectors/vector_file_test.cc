// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/vectors/vector_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class VectorFileTest : public ::testing::Test {
 protected:
  // A safetensors file with this header and these numbers.
  std::string write(const std::string& header, const std::vector<float>& values) const {
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return dir_.write("v.safetensors", bytes);
  }
  static std::string array(const std::string& name, const std::string& shape, int begin, int end,
                           const std::string& dtype = "F32") {
    return "\"" + name + R"(": {"dtype": ")" + dtype + R"(", "shape": )" + shape +
           R"(, "data_offsets": [)" + std::to_string(begin) + ", " + std::to_string(end) + "]}";
  }
  void expect_fault(const std::string& header, const std::vector<float>& values,
                    const std::string& message) const {
    const std::string path = write(header, values);
    EXPECT_THAT([&] { read_vector_file(path); }, ThrowsMessage<DataError>(HasSubstr(message)))
        << header;
  }

  TempDir dir_;
};

TEST_F(VectorFileTest, FilesOfNumbersHaveNoNames) {
  const VectorFile file = read_vector_file(dir_.write("v.csv", "1,2\n3,4\n"));
  EXPECT_EQ(file.points.view()(1, 0), 3);
  EXPECT_THAT(file.names, IsEmpty());
  EXPECT_THROW(read_vector_file(dir_.file("missing.npz")), IoError);
}

TEST_F(VectorFileTest, OnlyMatrixOfTheFileIsTaken) {
  const VectorFile file = read_vector_file(write(
      "{" + array("z", "[2, 1]", 0, 8) + ", " + array("scale", "[1]", 8, 12) + "}", {5, 6, 7}));
  EXPECT_EQ(file.points.rows(), 2);
  EXPECT_EQ(file.points.view()(1, 0), 6);
}

TEST_F(VectorFileTest, AmongSeveralItsNameDecides) {
  const std::string two = array("text", "[1, 1]", 0, 4) + ", ";
  EXPECT_EQ(read_vector_file(write("{" + two + array("embeddings", "[1, 1]", 4, 8) + "}", {1, 2}))
                .points.view()(0, 0),
            2);
  expect_fault("{" + two + array("image", "[1, 1]", 4, 8) + "}", {1, 2},
               "call the one that is meant 'vectors'");
  expect_fault("{" + array("scale", "[2]", 0, 8) + "}", {1, 2}, "has no matrix (rows x columns)");
}

TEST_F(VectorFileTest, NamesAreInTheMetadata) {
  const std::string path = write(
      R"({"__metadata__": {"names": "a.png\nb.png"}, )" + array("v", "[2, 1]", 0, 8) + "}", {1, 2});
  EXPECT_THAT(read_vector_file(path).names, ElementsAre("a.png", "b.png"));
}

TEST_F(VectorFileTest, DamagedFilesAreRefused) {
  expect_fault("not JSON", {1}, "its header is not JSON");
  expect_fault("{" + array("v", "[2, 1]", 0, 12) + "}", {1, 2, 3}, "its shape does not fit");
  expect_fault("{" + array("v", "[2, 1]", 4, 12) + "}", {1, 2}, "is truncated");
  expect_fault("{" + array("v", "[2, -1]", 0, 8) + "}", {1, 2}, "shape and data_offsets");
  expect_fault("{" + array("v", "[4611686018427387904, 4]", 0, 8) + "}", {1, 2}, "does not fit");
  expect_fault("{" + array("v", "[2, 1]", 0, 8, "BF16") + "}", {1, 2}, "save it as float32");
  EXPECT_THAT([&] { read_vector_file(dir_.write("v.safetensors", "short")); },
              ThrowsMessage<DataError>(HasSubstr("is not a safetensors file, or it is truncated")));
}

TEST_F(VectorFileTest, NumbersMustBeFinite) {
  expect_fault("{" + array("v", "[2, 2]", 0, 16) + "}",
               {1, 2, 3, std::numeric_limits<float>::infinity()},
               "row 1, column 1 (counted from 0) is not a finite number");
}

}  // namespace
}  // namespace milieu
