// SPDX-License-Identifier: Apache-2.0
// Files that must be refused: one test per check, each with the message it must give. The files are
// built here by hand with a right checksum, so that the check under test is the one that answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>

#include "milieu/base/error.h"
#include "milieu/store/model_file.h"
#include "milieu/store/model_format_internal.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

const std::string kMetadata = R"("__metadata__":{"checksum":"crc32:00000000","milieu_kind":"test",)"
                              R"("milieu_format_version":"1","milieu_version":"0.1.0"})";

// A file of this header and data; zeros in the checksum become the right digits.
std::string file_of(std::string header, const std::string& data) {
  const uint64_t length = header.size();
  std::string prefix(8, '\0');
  std::memcpy(prefix.data(), &length, 8);
  const std::string all = prefix + header + data;
  const uLong crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(all.data()), all.size());
  const size_t place = header.find("crc32:00000000");
  if (place != std::string::npos) {
    char digits[9];
    std::snprintf(digits, sizeof(digits), "%08lx", crc);
    header.replace(place + 6, 8, digits);
  }
  return prefix + header + data;
}

std::string with_arrays(const std::string& arrays, const std::string& data) {
  return file_of("{" + kMetadata + "," + arrays + "}", data);
}

std::string with_metadata(const std::string& metadata) {
  return file_of("{\"__metadata__\":" + metadata + "}", "");
}

ModelFile parse(const std::string& bytes) {
  return parse_model_file(std::as_bytes(std::span(bytes)), "m");
}

std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const DataError& error) {
    return error.what();
  }
  return "not refused";
}

const std::string kGood = with_arrays(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                      R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]})",
                                      "12345678abc");

TEST(ModelReader, FileMadeByHandIsRead) {
  const ModelFile file = parse(kGood);
  EXPECT_EQ(file.kind, "test");
  ASSERT_EQ(file.arrays.size(), 2u);
  EXPECT_EQ(file.arrays[0].first, "a");
  EXPECT_EQ(file.arrays[1].first, "b");
  EXPECT_EQ(file.arrays[1].second.bytes[2], std::byte{'c'});
}

TEST(ModelReader, BlanksInTheHeaderDoNotMatter) {
  const std::string header = R"({ "__metadata__" : { "checksum" : "crc32:00000000",
      "milieu_kind" : "test", "milieu_format_version" : "1", "milieu_version" : "0" } }   )";
  EXPECT_EQ(parse(file_of(header, "")).kind, "test");
}

TEST(ModelReader, ArraysComeInFileOrderWhateverTheHeaderSays) {
  const ModelFile file = parse(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                                           R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})",
                                           "xy"));
  EXPECT_EQ(file.arrays[0].first, "b");
}

TEST(ModelReader, EmptyArraysAreRead) {
  const ModelFile file =
      parse(with_arrays(R"("a":{"dtype":"U8","shape":[0,7],"data_offsets":[0,0]},)"
                        R"("b":{"dtype":"U8","shape":[],"data_offsets":[0,1]})",
                        "x"));
  EXPECT_EQ(file.arrays[0].second.shape, (std::vector<int64_t>{0, 7}));
  EXPECT_EQ(file.arrays[1].second.bytes.size(), 1u);  // no extents: one element
}

TEST(ModelReader, TooShortForALength) {
  EXPECT_EQ(refusal(""), "m is 0 bytes long, too short for a model file");
  EXPECT_EQ(refusal("1234567"), "m is 7 bytes long, too short for a model file");
}

TEST(ModelReader, HeaderLengthThatOverflows) {
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            "m claims a header of 18446744073709551615 bytes, at most 100000000 are allowed: not a "
            "model file, or a damaged one");
}

TEST(ModelReader, HeaderLongerThanTheFile) {
  const std::string bytes = kGood.substr(0, 40);
  const std::string length = std::to_string(static_cast<unsigned char>(kGood[0]) +
                                            256 * static_cast<unsigned char>(kGood[1]));
  EXPECT_EQ(refusal(bytes),
            "m is truncated: its header takes " + length + " bytes, the file holds 32");
}

TEST(ModelReader, HeaderThatIsNoObject) {
  EXPECT_EQ(refusal(file_of("[1]", "")),
            "m is not a model file: its header does not begin with '{'");
  EXPECT_EQ(refusal(file_of("", "")), "m is not a model file: its header does not begin with '{'");
}

TEST(ModelReader, HeaderThatIsNotJson) {
  EXPECT_EQ(refusal(file_of("{\"a\":}", "")), "m: the header is not JSON (line 1, column 6)");
  EXPECT_EQ(refusal(file_of("{\"\xff\":1}", "")), "m: the header is not JSON (line 1, column 3)");
}

TEST(ModelReader, NameThatOccursTwice) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]})",
                                "xy")),
            "m: the header has the key 'a' twice");
}

TEST(ModelReader, HeaderNestedTooDeep) {
  EXPECT_EQ(refusal(file_of("{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}", "")),
            "m: the header is nested deeper than 16");
}

TEST(ModelReader, SafetensorsOfOtherPrograms) {
  const std::string message =
      "m is a safetensors file, but not a Milieu model: it has no milieu_kind";
  EXPECT_EQ(refusal(file_of("{}", "")), message);
  EXPECT_EQ(refusal(with_metadata("[]")), message);
  EXPECT_EQ(refusal(with_metadata(R"({"format":"pt"})")), message);
}

TEST(ModelReader, MetadataThatAreNotText) {
  EXPECT_EQ(refusal(with_metadata(R"({"milieu_kind":"test","epoch":3})")),
            "m: metadata 'epoch' is not text");
}

TEST(ModelReader, MissingMetadata) {
  EXPECT_EQ(refusal(with_metadata(R"({"milieu_kind":"test"})")),
            "m: metadata 'milieu_format_version' is missing");
  EXPECT_EQ(refusal(with_metadata(R"({"milieu_kind":"t","milieu_format_version":"1"})")),
            "m: metadata 'milieu_version' is missing");
  EXPECT_EQ(refusal(with_metadata(
                R"({"milieu_kind":"t","milieu_format_version":"1","milieu_version":"0"})")),
            "m: metadata 'checksum' is missing");
  EXPECT_EQ(refusal(with_metadata(R"({"milieu_kind":""})")), "m: metadata 'milieu_kind' is empty");
}

TEST(ModelReader, FormatVersionThatIsNoNumber) {
  for (const char* text : {"", "one", "1.5", "0", "-1", "99999999999"})
    EXPECT_EQ(refusal(with_metadata(R"({"milieu_kind":"t","milieu_format_version":")" +
                                    std::string(text) + "\"}")),
              "m: milieu_format_version is '" + std::string(text) +
                  "', must be a whole number of at least 1");
}

TEST(ModelReader, ScalarsThatAreNoObjectOfTexts) {
  const auto with = [](const std::string& scalars) {
    return refusal(with_metadata(
        R"({"milieu_kind":"t","milieu_format_version":"1","milieu_version":"0","scalars":")" +
        scalars + "\"}"));
  };
  EXPECT_EQ(with("{"), "m: metadata 'scalars' is not JSON (line 1, column 2)");
  EXPECT_EQ(with("[]"), "m: metadata 'scalars' is not an object");
  EXPECT_EQ(with(R"({\"x\":1})"), "m: scalar 'x' is not text");
}

TEST(ModelReader, ArrayThatIsNoObject) {
  EXPECT_EQ(refusal(with_arrays("\"a\":5", "")), "m: array 'a' is not described by an object");
}

TEST(ModelReader, DtypeMissingOrUnknown) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"shape":[],"data_offsets":[0,0]})", "")),
            "m: array 'a' has no dtype");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":4,"shape":[],"data_offsets":[0,0]})", "")),
            "m: array 'a' has no dtype");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]})", "xy")),
            "m: array 'a' has dtype 'BF16', must be one of F32, F64, I32, I64, U8");
}

TEST(ModelReader, ShapeMissingOrWrong) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","data_offsets":[0,1]})", "x")),
            "m: array 'a' has no shape");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":3,"data_offsets":[0,1]})", "x")),
            "m: array 'a' has no shape");
  for (const char* extent : {"-1", "1.5", "\"1\"", "18446744073709551615"})
    EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[)" + std::string(extent) +
                                      R"(],"data_offsets":[0,1]})",
                                  "x")),
              "m: array 'a' has " + std::string(extent) +
                  " in its shape, must be a whole number from 0 to 2^63 - 1");
}

TEST(ModelReader, SizeThatOverflows) {
  EXPECT_EQ(refusal(with_arrays(
                R"("a":{"dtype":"F64","shape":[2305843009213693952,8],"data_offsets":[0,0]})", "")),
            "m: array 'a' of shape [2305843009213693952, 8] is too large for any memory");
}

TEST(ModelReader, OffsetsMissingOrWrong) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1]})", "x")),
            "m: array 'a' has no data_offsets");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0]})", "x")),
            "m: array 'a' has data_offsets [0], must be [begin, end]");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]})", "x")),
            "m: array 'a' has data_offsets [1, 0], must be [begin, end]");
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]})", "x")),
            "m: array 'a' has -1 in its data_offsets, must be a whole number from 0 to 2^63 - 1");
}

TEST(ModelReader, BytesThatDoNotFitTheShape) {
  EXPECT_EQ(
      refusal(with_arrays(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,7]})", "1234567")),
      "m: array 'a' has 7 bytes, but F32 of shape [2] needs 8");
}

TEST(ModelReader, ArraysThatOverlap) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]})",
                                "xyz")),
            "m: array 'b' overlaps the one before it");
}

TEST(ModelReader, HoleBetweenArrays) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                R"("b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]})",
                                "wxyz")),
            "m: there is a hole of 2 bytes before array 'b'");
}

TEST(ModelReader, OffsetsBeyondTheFile) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[100],"data_offsets":[0,100]})", "x")),
            "m is truncated: its arrays take 100 bytes, the file holds 1");
}

// A file of a few bytes that claims an exabyte must be refused, not allocated.
TEST(ModelReader, HugeArrayIsRefusedBeforeAllocation) {
  EXPECT_EQ(refusal(with_arrays(R"("a":{"dtype":"U8","shape":[1152921504606846976],)"
                                R"("data_offsets":[0,1152921504606846976]})",
                                "x")),
            "m is truncated: its arrays take 1152921504606846976 bytes, the file holds 1");
}

TEST(ModelReader, BytesAfterTheLastArray) {
  EXPECT_EQ(refusal(kGood + "zz"), "m has 2 bytes after its last array");
}

TEST(ModelReader, UnknownChecksum) {
  EXPECT_EQ(refusal(with_metadata(R"({"checksum":"xxh3:12","milieu_kind":"t",)"
                                  R"("milieu_format_version":"1","milieu_version":"0"})")),
            "m: checksum 'xxh3:12' is of an unknown kind, must begin with 'crc32:'");
}

TEST(ModelReader, ChecksumTooShortIsDamage) {
  EXPECT_THAT(refusal(file_of(R"({"__metadata__":{"milieu_kind":"t","milieu_format_version":"1",)"
                              R"("milieu_version":"0","checksum":"crc32:"}})",
                              "")),
              testing::StartsWith("m is damaged: its checksum is crc32:"));
}

TEST(ModelReader, FlippedByteInTheDataIsDamage) {
  std::string bytes = kGood;
  bytes.back() ^= 1;
  EXPECT_THAT(refusal(bytes), testing::StartsWith("m is damaged: its checksum is crc32:"));
}

TEST(ModelReader, FlippedByteInTheHeaderIsDamage) {
  std::string bytes = kGood;
  const size_t kind = bytes.find("test");
  bytes[kind] = 'b';  // "best": all else is well formed
  EXPECT_THAT(refusal(bytes), testing::StartsWith("m is damaged: its checksum is crc32:"));
}

TEST(ModelReader, EveryFlippedBitIsNoticed) {
  for (size_t place = 0; place < kGood.size(); ++place)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = kGood;
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
      EXPECT_THROW(parse(bytes), DataError) << "byte " << place << ", bit " << bit;
    }
}

TEST(ModelReader, EveryTruncationIsNoticed) {
  for (size_t length = 0; length < kGood.size(); ++length)
    EXPECT_THROW(parse(kGood.substr(0, length)), DataError) << length << " bytes";
}

TEST(ModelReader, ControlCharactersDoNotReachMessages) {
  EXPECT_EQ(refusal(with_arrays(R"("\u001b[31m":5)", "")),
            "m: array '\\x1b[31m' is not described by an object");
}

TEST(ModelReader, MessagesNameTheFile) {
  const TempDir folder;
  const std::string path = folder.write("broken.safetensors", kGood + "z");
  try {
    read_model_file(path);
    FAIL() << "a file with a byte too many was read";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()), path + " has 1 byte after its last array");
  }
}

}  // namespace
}  // namespace milieu
