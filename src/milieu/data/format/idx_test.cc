// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/data/format/gzip.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string idx(char type, const std::vector<uint32_t>& extents, const std::string& data) {
  std::string file = {'\0', '\0', type, static_cast<char>(extents.size())};
  for (const uint32_t extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(extent >> shift);
  return file + data;
}

std::string gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

RawArray parse(const std::string& file) {
  return parse_idx(std::as_bytes(std::span(file)), "t.idx");
}

std::vector<float> numbers(const std::string& file) {
  const Matrix<float> matrix(to_points(parse(file)).view());
  return {matrix.data(), matrix.data() + matrix.size()};
}

void expect_fault(const std::string& file, const std::string& message) {
  EXPECT_THAT([&] { parse(file); }, ThrowsMessage<DataError>(StartsWith("t.idx" + message)));
}

const std::string kImages = idx(8, {2, 1, 3}, "\x01\x02\x03\xff\x05\x06");

TEST(Idx, ImagesBecomeRowsOfPixels) {
  const RawArray array = parse(kImages);
  EXPECT_EQ(array.rows(), 2);
  EXPECT_EQ(array.cols(), 3);
  EXPECT_THAT(numbers(kImages), ElementsAre(1, 2, 3, 255, 5, 6));
}

TEST(Idx, EveryTypeIsBigEndian) {
  using std::string_literals::operator""s;
  EXPECT_THAT(numbers(idx(0x09, {1}, "\xff")), ElementsAre(-1));
  EXPECT_THAT(numbers(idx(0x0b, {1}, "\x01\x02")), ElementsAre(258));
  EXPECT_THAT(numbers(idx(0x0c, {1}, "\x00\x00\x01\x02"s)), ElementsAre(258));
  EXPECT_THAT(numbers(idx(0x0d, {1}, "\x3f\xc0\x00\x00"s)), ElementsAre(1.5));
  EXPECT_THAT(numbers(idx(0x0e, {1}, "\x3f\xf8\x00\x00\x00\x00\x00\x00"s)), ElementsAre(1.5));
}

TEST(Idx, GzippedIsTheSame) {
  EXPECT_THAT(numbers(gzip(kImages)), ElementsAre(1, 2, 3, 255, 5, 6));
  // Two gzip members in a row, cut inside the data.
  EXPECT_THAT(numbers(gzip(kImages.substr(0, 17)) + gzip(kImages.substr(17))),
              ElementsAre(1, 2, 3, 255, 5, 6));
}

TEST(Idx, WrongMagicIsRefused) {
  expect_fault("", " is empty (0 bytes)");
  expect_fault("\x01\x02\x08\x01", " is not an idx file");
  expect_fault(idx(0x07, {1}, "x"), " has idx type 0x07, must be");
  expect_fault(idx(0x08, {}, "x"), " has 0 idx extents, must be 1 to 16");
  expect_fault(idx(0x08, std::vector<uint32_t>(17, 1), "x"), " has 17 idx extents");
}

TEST(Idx, TruncatedHeaderIsRefusedWhereverItEnds) {
  for (size_t size = 1; size < 16; ++size) {
    expect_fault(kImages.substr(0, size), " is truncated: it ends inside the idx header");
    expect_fault(gzip(kImages.substr(0, size)), " is truncated: it ends inside the idx header");
  }
  expect_fault(gzip(""), " is empty");
}

TEST(Idx, TruncatedDataAreRefused) {
  const std::string message =
      " is truncated: (2, 1, 3) of uint8 need 6 bytes after the header, the file has 5";
  expect_fault(kImages.substr(0, kImages.size() - 1), message);
  expect_fault(gzip(kImages.substr(0, kImages.size() - 1)), message);
}

TEST(Idx, TrailingBytesAreRefused) {
  expect_fault(kImages + "x", " has trailing bytes after its array");
  expect_fault(gzip(kImages + "x"), " has trailing bytes after its array");
  expect_fault(gzip(kImages) + "xyz", " is damaged: incorrect header check");
}

TEST(Idx, ShapeThatOverflowsIsRefused) {
  expect_fault(idx(0x0e, {0xffffffff, 0xffffffff}, ""), " has shape");
  expect_fault(idx(0x08, {0, 0xffffffff, 0xffffffff, 0xffffffff}, ""), " has shape");
}

// The header asks for 16 EB / 16 GB, but nothing of the kind is allocated.
TEST(Idx, PromisesBeyondDeflateAreRefusedBeforeAllocating) {
  expect_fault(gzip(idx(0x08, {0xffffffff, 0x7fffffff}, "x")),
               " promises 9223372030412324865 bytes");
  expect_fault(gzip(idx(0x08, {0xffffffff, 4}, "x")), " promises 17179869180 bytes");
}

// A bomb: far more behind a small header than the header says. Only one byte of it is inflated.
TEST(Idx, BombsAreNotInflated) {
  expect_fault(gzip(idx(0x08, {1}, std::string(1 << 20, '\0'))),
               " has trailing bytes after its array");
}

TEST(Idx, DamagedGzipIsRefused) {
  std::string file = gzip(kImages);
  expect_fault(file.substr(0, file.size() - 1), " is truncated: its gzip data ends too early");
  file[file.size() - 8] ^= 1;  // the check sum
  expect_fault(file, " is damaged: incorrect data check");
  expect_fault(std::string("\x1f\x8b\x00\x00", 4), " is damaged");
}

TEST(Idx, PlainFileIsMapped) {
  const TempDir folder;
  EXPECT_TRUE(open_idx(folder.write("t", kImages)).is_mapped);
  const RawArray array = open_idx(folder.write("t.gz", gzip(kImages)));
  EXPECT_FALSE(array.is_mapped);
  EXPECT_EQ(element_at(array, 1, 0), 255);
}

TEST(Gzip, ReadsInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i);
  const std::string compressed = gzip(text);
  for (const size_t piece : {1, 7, 1000, 100'000}) {
    GzipReader reader(std::as_bytes(std::span(compressed)), "t.gz");
    std::string out;
    std::string buffer(piece, '\0');
    while (const size_t got = reader.read(std::as_writable_bytes(std::span(buffer))))
      out += buffer.substr(0, got);
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace milieu
