// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string npy(int version, const std::string& dict, const std::string& data) {
  std::string file = std::string("\x93NUMPY", 6) + static_cast<char>(version) + '\0';
  const uint32_t length = static_cast<uint32_t>(dict.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return file + dict + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string dict_of(const std::string& descr, const std::string& shape, bool is_fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

RawArray parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "X.npy");
}

void expect_fault(const std::string& file, const std::string& message) {
  EXPECT_THAT([&] { parse(file); }, ThrowsMessage<DataError>(StartsWith("X.npy" + message)));
}

const std::string kSixFloats = bytes_of<float>({0, 1, 2, 3, 4, 5});

TEST(Npy, ReadsVersionsOneToThree) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy(version, dict_of("<f4", "(3, 2)"), kSixFloats);
    const RawArray array = parse(file);
    EXPECT_EQ(array.type, ElementType::Float32);
    EXPECT_THAT(array.shape, ElementsAre(3, 2));
    EXPECT_EQ(array.data.size(), 24u);
    EXPECT_EQ(to_points(array).view()(2, 1), 5);
  }
}

// The bytes that numpy 1.24 writes for np.array([[1, 2], [3, 4]], dtype='>i2').
TEST(Npy, ReadsAFileMadeByNumpy) {
  const std::string file = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                           "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 2), }" +
                           std::string(58, ' ') + "\n" +
                           std::string("\x00\x01\x00\x02\x00\x03\x00\x04", 8);
  const Points points = to_points(parse(file));
  EXPECT_EQ(points.view()(0, 0), 1);
  EXPECT_EQ(points.view()(0, 1), 2);
  EXPECT_EQ(points.view()(1, 0), 3);
  EXPECT_EQ(points.view()(1, 1), 4);
}

TEST(Npy, WrongMagicIsRefused) {
  expect_fault("", " is empty (0 bytes)");
  expect_fault("PK\x03\x04 something else", " is not a .npy file");
  expect_fault("\x93NUMPX\x01", " is not a .npy file");
}

TEST(Npy, UnknownVersionsAreRefused) {
  std::string file = npy(1, dict_of("<f4", "(6,)"), kSixFloats);
  file[6] = 4;
  expect_fault(file, " has .npy version 4.0, must be 1.0, 2.0 or 3.0");
  file[6] = 0;
  expect_fault(file, " has .npy version 0.0");
  file[6] = 1;
  file[7] = 1;
  expect_fault(file, " has .npy version 1.1");
}

TEST(Npy, TruncatedHeaderIsRefusedWhereverItEnds) {
  for (const int version : {1, 2}) {
    const std::string file = npy(version, dict_of("<f4", "(6,)"), kSixFloats);
    for (size_t size = 1; size < file.size() - kSixFloats.size(); ++size)
      expect_fault(file.substr(0, size), " is truncated: it ends inside the .npy header");
  }
}

TEST(Npy, OversizedHeaderIsRefused) {
  std::string file = npy(2, dict_of("<f4", "(6,)"), kSixFloats);
  std::memset(file.data() + 8, 0xff, 4);
  expect_fault(file, " has a .npy header of 4294967295 bytes, must be at most 65536");
}

TEST(Npy, TruncatedDataAreRefused) {
  for (size_t missing = 1; missing <= kSixFloats.size(); ++missing) {
    const size_t left = kSixFloats.size() - missing;
    expect_fault(npy(1, dict_of("<f4", "(3, 2)"), kSixFloats.substr(0, left)),
                 " is truncated: (3, 2) of float32 need 24 bytes after the header, the file has " +
                     std::to_string(left));
  }
}

TEST(Npy, TrailingBytesAreRefused) {
  expect_fault(npy(1, dict_of("<f4", "(3, 2)"), kSixFloats + "x"), " has 1 byte after its array");
}

TEST(Npy, ShapeThatOverflowsIsRefused) {
  // 2^62 * 4 elements, 2^61 elements of 8 bytes, zero elements with columns that overflow.
  expect_fault(npy(1, dict_of("|u1", "(4611686018427387904, 4)"), ""),
               " has shape (4611686018427387904, 4), which overflows 64 bits");
  expect_fault(npy(1, dict_of("<f8", "(2305843009213693952,)"), ""), " has shape");
  expect_fault(npy(1, dict_of("|u1", "(0, 4611686018427387904, 4)"), ""), " has shape");
  // 2^64 + 6 elements would wrap to 6.
  expect_fault(npy(1, dict_of("<f4", "(2, 9223372036854775807, 2)"), kSixFloats), " has shape");
}

TEST(Npy, SingleNumberIsRefused) {
  expect_fault(npy(1, dict_of("<f4", "()"), bytes_of<float>({1})), " holds a single number");
}

TEST(Npy, WrongHeaderNamesTheFile) {
  expect_fault(npy(1, "{'descr': '<f4', ", ""), ": invalid .npy header at byte");
}

TEST(Npy, MissingFileIsNamed) {
  EXPECT_THAT([] { open_npy("no/X.npy"); },
              ThrowsMessage<IoError>(HasSubstr("no/X.npy does not exist")));
}

TEST(Npy, Float32InCOrderIsMappedNotCopied) {
  const TempDir folder;
  Matrix<float> matrix(3, 2);
  matrix(2, 1) = 7;
  write_npy(folder.file("X.npy"), matrix.view());
  Points points;
  {
    const RawArray array = open_npy(folder.file("X.npy"));
    points = to_points(array);
    EXPECT_EQ(static_cast<const void*>(points.view().data()), array.data.data());
  }
  EXPECT_TRUE(points.is_mapped());
  EXPECT_EQ(points.view()(2, 1), 7);  // the mapping outlives the array
}

// Opening must not read the data: 2 GB of holes cost a handful of page faults.
TEST(Npy, OpeningTwoGigabytesTouchesOnlyTheHeader) {
  const TempDir folder;
  std::string dict = dict_of("<f4", "(4000000, 128)");
  dict.insert(dict.size() - 1, 118 - dict.size(), ' ');  // aligned, as numpy's
  const std::string path = folder.write("X.npy", npy(1, dict, ""));
  const off_t header = static_cast<off_t>(read_bytes(path).size());
  ASSERT_EQ(::truncate(path.c_str(), header + off_t{4} * 4'000'000 * 128), 0);
  struct rusage before = {};
  struct rusage after = {};
  ::getrusage(RUSAGE_SELF, &before);
  const Points points = to_points(open_npy(path));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(points.rows(), 4'000'000);
  EXPECT_EQ(points.view()(3'999'999, 127), 0);
  EXPECT_LT(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt, 1000);
}

template <class T>
void expect_round_trip(const char* descr) {
  const TempDir folder;
  const std::string path = folder.file("X.npy");
  Matrix<T> wide(5, 4);
  for (int64_t i = 0; i < wide.size(); ++i) wide.data()[i] = static_cast<T>(3 * i - 20);
  const MatrixView<const T> inner(wide.data() + 1, 5, 2, 4);  // rows with gaps
  write_npy(path, inner);
  const RawArray array = open_npy(path);
  EXPECT_THAT(array.shape, ElementsAre(5, 2));
  EXPECT_THAT(read_bytes(path), HasSubstr(descr));
  EXPECT_EQ((read_bytes(path).size() - array.data.size()) % 64, 0u);
  EXPECT_EQ(Matrix<T>(MatrixView<const T>(reinterpret_cast<const T*>(array.data.data()), 5, 2)),
            Matrix<T>(inner));
  const std::vector<T> values = {1, 2, 3};
  write_npy(path, std::span(values));
  EXPECT_THAT(open_npy(path).shape, ElementsAre(3));
  EXPECT_THAT(to_integers(open_npy(path)), ElementsAre(1, 2, 3));
}

TEST(NpyWriter, WhatIsWrittenIsRead) {
  expect_round_trip<float>("'<f4'");
  expect_round_trip<double>("'<f8'");
  expect_round_trip<int32_t>("'<i4'");
  expect_round_trip<int64_t>("'<i8'");
}

TEST(NpyWriter, EmptyMatrixKeepsItsShape) {
  const TempDir folder;
  write_npy(folder.file("X.npy"), Matrix<float>(0, 5).view());
  EXPECT_THAT(open_npy(folder.file("X.npy")).shape, ElementsAre(0, 5));
  write_npy(folder.file("X.npy"), std::span<const float>());
  EXPECT_THAT(open_npy(folder.file("X.npy")).shape, ElementsAre(0));
}

TEST(NpyWriter, FailureKeepsTheOldFile) {
  EXPECT_THAT([] { write_npy("no/X.npy", Matrix<float>(1, 1).view()); },
              ThrowsMessage<IoError>(HasSubstr("no/X.npy cannot be created")));
}

// Every dtype, both byte orders, both memory orders, written by numpy and compared with its astype.
TEST(Npy, AgreesWithNumpy) {
  if (std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "numpy is not installed";
  const TempDir folder;
  const std::string script = folder.write("make.py", R"(
import sys, numpy as np
folder = sys.argv[1]
rng = np.random.default_rng(1)
cases = []
for code in 'b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8'.split():
    for order in '<>':
        for shape in [(7,), (5, 3), (4, 3, 2), (2, 3, 2, 2), (1, 4), (4, 1), (1, 2, 3)]:
            for memory in 'CF':
                values = rng.integers(0, 2 if code == 'b1' else 120, shape) - (0 if code[0] in 'bu' else 60)
                array = np.array(values, dtype=order + code, order=memory)
                if code[0] == 'f':
                    array = np.array(array / 8, dtype=order + code, order=memory)
                name = f'{folder}/{len(cases)}'
                np.save(name + '.npy', array)
                rows = np.ascontiguousarray(array, dtype='<f4').reshape(shape[0], -1)
                rows.tofile(name + '.raw')
                cases.append(f'{rows.shape[0]} {rows.shape[1]}')
with open(folder + '/cases', 'w') as out:
    out.write('\n'.join(cases) + '\n')
)");
  ASSERT_EQ(std::system(("/usr/bin/python3 " + script + " " + folder.path()).c_str()), 0);
  std::istringstream cases(read_bytes(folder.file("cases")));
  int64_t rows = 0, cols = 0;
  int count = 0;
  for (; cases >> rows >> cols; ++count) {
    const std::string name = folder.file(std::to_string(count));
    const Points points = to_points(open_npy(name + ".npy"));
    ASSERT_EQ(points.rows(), rows);
    ASSERT_EQ(points.cols(), cols);
    const Matrix<float> matrix(points.view());
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(matrix.data()),
                               static_cast<size_t>(matrix.size()) * 4),
              read_bytes(name + ".raw"))
        << read_bytes(name + ".npy").substr(0, 80);
  }
  EXPECT_EQ(count, 12 * 2 * 7 * 2);
}

}  // namespace
}  // namespace milieu
