// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/format/npy.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string little(uint64_t value, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> 8 * i & 255);
  return out;
}

std::string deflated(const std::string& text) {
  std::string out(text.size() + 100, '\0');
  z_stream stream = {};
  ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

// As numpy writes it: method 0 stored, 8 deflated; `flags` 1 is encrypted.
std::string archive(const std::string& name, const std::string& content, int method,
                    int flags = 0) {
  const std::string packed = method == 8 ? deflated(content) : content;
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  const std::string common =
      little(static_cast<uint64_t>(flags), 2) + little(static_cast<uint64_t>(method), 2) +
      little(0, 4) + little(::crc32_z(0, data, content.size()), 4) + little(packed.size(), 4) +
      little(content.size(), 4) + little(name.size(), 2) + little(0, 2);
  const std::string member = "PK\x03\x04" + little(20, 2) + common + name + packed;
  const std::string directory = "PK\x01\x02" + little(20, 2) + little(20, 2) + common +
                                little(0, 2) + little(0, 8) + little(0, 4) + name;
  return member + directory + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
         little(directory.size(), 4) + little(member.size(), 4) + little(0, 2);
}

std::string matrix() {
  const int64_t shape[] = {2, 3};
  std::string text = npy_float_header(shape);
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f})
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  return text;
}

std::vector<NpzMember> parse(const std::string& text) {
  return parse_npz({reinterpret_cast<const std::byte*>(text.data()), text.size()}, "x.npz");
}

TEST(Npz, StoredAndDeflatedArraysAreRead) {
  for (const int method : {0, 8}) {
    const std::vector<NpzMember> members = parse(archive("vectors.npy", matrix(), method));
    ASSERT_EQ(members.size(), 1u);
    EXPECT_EQ(members[0].name, "vectors");
    EXPECT_EQ(to_points(members[0].array).view()(1, 2), 6);
  }
}

TEST(Npz, WhatNumpyDoesNotWriteIsRefused) {
  EXPECT_THAT([] { parse(archive("a.npy", matrix(), 0, 1)); },
              ThrowsMessage<DataError>(HasSubstr("is encrypted")));
  EXPECT_THAT([] { parse(archive("a.npy", matrix(), 12)); },
              ThrowsMessage<DataError>(HasSubstr("compressed in another way")));
  EXPECT_THAT([] { parse(archive("a.txt", "hello", 0)); },
              ThrowsMessage<DataError>(HasSubstr("x.npz, array a.txt")));
}

TEST(Npz, DamageIsAMessage) {
  const std::string whole = archive("a.npy", matrix(), 8);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(parse(whole.substr(0, size)), DataError) << size;
  std::string flipped = whole;
  flipped[60] = static_cast<char>(flipped[60] ^ 4);
  EXPECT_THROW(parse(flipped), DataError);
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i)
      bytes[random.next_bits() % bytes.size()] = static_cast<char>(random.next_bits());
    try {
      parse(bytes);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace milieu
