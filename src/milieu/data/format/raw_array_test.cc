// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/raw_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/data/format/raw_array_internal.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
RawArray array_of(ElementType type, const std::vector<T>& values, std::vector<int64_t> shape) {
  auto copy = std::make_shared<std::vector<T>>(values);
  RawArray array;
  array.type = type;
  array.item_bytes = sizeof(T);
  array.shape = std::move(shape);
  array.data = std::as_bytes(std::span(*copy));
  array.owner = copy;
  array.source = "X.npy";
  return array;
}

std::vector<float> flat(const Points& points) {
  const Matrix<float> matrix(points.view());
  return {matrix.data(), matrix.data() + matrix.size()};
}

TEST(RawArray, OneDimensionIsOneColumnAndImagesAreRows) {
  EXPECT_EQ(array_of<float>(ElementType::Float32, {1, 2, 3}, {3}).cols(), 1);
  EXPECT_EQ(array_of<uint8_t>(ElementType::Uint8, std::vector<uint8_t>(12), {2, 2, 3}).cols(), 6);
}

TEST(RawArray, ProductsAreCheckedForOverflow) {
  EXPECT_EQ(checked_product(std::vector<int64_t>{}), 1);
  EXPECT_EQ(checked_product(std::vector<int64_t>{3, 4, 5}), 60);
  EXPECT_EQ(checked_product(std::vector<int64_t>{int64_t{1} << 32, int64_t{1} << 31}), -1);
}

TEST(RawArray, ShapesPrintAsPythonTuples) {
  EXPECT_EQ(shape_text(std::vector<int64_t>{3}), "(3,)");
  EXPECT_EQ(shape_text(std::vector<int64_t>{3, 4}), "(3, 4)");
}

TEST(RawArray, FortranOrderIsTransposedAxisByAxis) {
  // The element at [i, j, k] is 100 i + 10 j + k, stored with i fastest.
  std::vector<int16_t> values;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) values.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  RawArray array = array_of(ElementType::Int16, values, {2, 3, 2});
  array.is_fortran_order = true;
  EXPECT_THAT(flat(to_points(array)),
              ElementsAre(0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121));
  EXPECT_EQ(element_at(array, 1, 3), 111);
}

TEST(RawArray, FortranOrderOfOneRowIsStillPermuted) {
  RawArray array = array_of<float>(ElementType::Float32, {0, 1, 2, 3}, {1, 2, 2});
  array.is_fortran_order = true;
  EXPECT_THAT(flat(to_points(array)), ElementsAre(0, 2, 1, 3));
}

TEST(RawArray, UnalignedFloatsAreCopied) {
  std::vector<float> values = {1, 2, 3};
  std::vector<std::byte> bytes(13);
  std::memcpy(bytes.data() + 1, values.data(), 12);
  RawArray array = array_of<float>(ElementType::Float32, values, {3});
  array.data = std::span<const std::byte>(bytes).subspan(1);
  EXPECT_THAT(flat(to_points(array)), ElementsAre(1, 2, 3));
}

TEST(RawArray, SelectedRowsOnlyAreConverted) {
  RawArray array = array_of<int32_t>(ElementType::Int32, {0, 1, 10, 11, 20, 21}, {3, 2});
  EXPECT_THAT(flat(to_points(array, std::vector<int64_t>{2, 0})), ElementsAre(20, 21, 0, 1));
  array.is_fortran_order = true;
  EXPECT_THAT(flat(to_points(array, std::vector<int64_t>{2, 0})), ElementsAre(10, 21, 0, 11));
}

TEST(RawArray, LargeArraysAreTheSameForAnyNumberOfThreads) {
  std::vector<int32_t> values(3000 * 50);
  std::iota(values.begin(), values.end(), 0);
  RawArray array = array_of(ElementType::Int32, values, {3000, 50});
  for (const bool is_fortran : {false, true}) {
    array.is_fortran_order = is_fortran;
    const Points one = to_points(array, 1);
    EXPECT_EQ(Matrix<float>(one.view()), Matrix<float>(to_points(array, 4).view()));
    EXPECT_EQ(one.view()(2999, 1), is_fortran ? 5999 : 2999 * 50 + 1);
  }
}

TEST(RawArray, EveryHalfFloatHasItsValue) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const internal::Half half{static_cast<uint16_t>(bits)};
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const double fraction = static_cast<double>(bits & 0x3ff) / 1024;
    const double sign = bits & 0x8000 ? -1 : 1;
    const float value = half;
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else if (exponent == 31) {
      EXPECT_EQ(value, sign * std::numeric_limits<double>::infinity()) << bits;
    } else if (exponent == 0) {
      EXPECT_EQ(value, sign * std::ldexp(fraction, -14)) << bits;
    } else {
      EXPECT_EQ(value, sign * std::ldexp(1 + fraction, exponent - 15)) << bits;
    }
  }
}

TEST(RawArray, AnyByteButZeroIsTrue) {
  EXPECT_THAT(flat(to_points(array_of<uint8_t>(ElementType::Bool, {0, 1, 255}, {3}))),
              ElementsAre(0, 1, 1));
}

TEST(RawArray, DoublesBeyondFloatBecomeInfinite) {
  const RawArray array = array_of<double>(ElementType::Float64, {1e300}, {1});
  EXPECT_TRUE(std::isinf(to_points(array).view()(0, 0)));
  EXPECT_EQ(element_at(array, 0, 0), 1e300);
}

TEST(ToIntegers, WholeFloatsAndBoolsAreIntegers) {
  EXPECT_THAT(to_integers(array_of<double>(ElementType::Float64, {-1, 0, 3}, {3})),
              ElementsAre(-1, 0, 3));
  EXPECT_THAT(to_integers(array_of<uint8_t>(ElementType::Bool, {0, 7}, {2, 1})), ElementsAre(0, 1));
  EXPECT_THAT(to_integers(array_of<int8_t>(ElementType::Int8, {-128}, {1, 1, 1})),
              ElementsAre(-128));
}

TEST(ToIntegers, FractionsAndHugeNumbersNameTheirRow) {
  EXPECT_THAT(
      [] {
        to_integers(array_of<float>(ElementType::Float32, {1, 0.5}, {2}));
      },
      ThrowsMessage<DataError>("X.npy: row 1 (counted from 0) is 0.5, must be a whole number"));
  EXPECT_THAT([] { to_integers(array_of<float>(ElementType::Float32, {NAN}, {1})); },
              ThrowsMessage<DataError>(HasSubstr("row 0 (counted from 0) is nan")));
  EXPECT_THAT([] { to_integers(array_of<double>(ElementType::Float64, {1e17}, {1})); },
              ThrowsMessage<DataError>(HasSubstr("is 1e+17")));
  EXPECT_THAT(
      [] { to_integers(array_of<uint64_t>(ElementType::Uint64, {uint64_t{1} << 63}, {1})); },
      ThrowsMessage<DataError>(HasSubstr("row 0")));
}

TEST(ToIntegers, MoreThanOneColumnIsRefused) {
  EXPECT_THAT(
      [] {
        to_integers(array_of<int32_t>(ElementType::Int32, {1, 2}, {1, 2}));
      },
      ThrowsMessage<DataError>("X.npy has shape (1, 2), must be one column of labels"));
}

RawArray text_array(ElementType type, const std::string& bytes, int64_t item_bytes) {
  RawArray array = array_of(type, std::vector<char>(bytes.begin(), bytes.end()),
                            {static_cast<int64_t>(bytes.size()) / item_bytes});
  array.item_bytes = item_bytes;
  return array;
}

TEST(ToTexts, ReadsBytesAndCodePoints) {
  EXPECT_THAT(to_texts(text_array(ElementType::Text, std::string("cat\0a\0\0\0", 8), 4)),
              ElementsAre("cat", "a"));
  // One of each length of UTF-8: a, e acute, euro, G clef.
  const std::u32string codes = U"a\u00e9\u20ac\U0001d11e";
  std::string bytes(reinterpret_cast<const char*>(codes.data()), 16);
  RawArray array = text_array(ElementType::Utf32Text, bytes, 16);
  EXPECT_THAT(to_texts(array), ElementsAre("a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"));
  for (size_t i = 0; i < 16; i += 4) std::reverse(bytes.begin() + i, bytes.begin() + i + 4);
  array = text_array(ElementType::Utf32Text, bytes, 16);
  array.is_big_endian = true;
  EXPECT_THAT(to_texts(array), ElementsAre("a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"));
}

TEST(ToTexts, WrongCodePointsAreRefused) {
  for (const uint32_t code : {0x110000u, 0xd800u, 0xffffffffu}) {
    const std::string bytes(reinterpret_cast<const char*>(&code), 4);
    EXPECT_THAT([&] { to_texts(text_array(ElementType::Utf32Text, bytes, 4)); },
                ThrowsMessage<DataError>(HasSubstr("which is not a Unicode character")));
  }
}

TEST(ToTexts, NumbersAndTextDoNotMix) {
  EXPECT_THAT([] { to_texts(array_of<float>(ElementType::Float32, {1}, {1})); },
              ThrowsMessage<DataError>("X.npy holds numbers, not text"));
  const RawArray text = text_array(ElementType::Text, "ab", 1);
  EXPECT_THAT([&] { to_points(text); },
              ThrowsMessage<DataError>("X.npy holds text, must hold numbers"));
  EXPECT_THAT([&] { to_integers(text); }, ThrowsMessage<DataError>(HasSubstr("holds text")));
  RawArray table = text;
  table.shape = {1, 2};
  EXPECT_THAT([&] { to_texts(table); },
              ThrowsMessage<DataError>(HasSubstr("one column of labels")));
}

TEST(RawArray, TypesHaveNamesAndSizes) {
  for (int i = 0; i <= static_cast<int>(ElementType::Float64); ++i) {
    const auto type = static_cast<ElementType>(i);
    const std::string name = element_name(type);
    if (type == ElementType::Bool) continue;
    EXPECT_EQ(std::to_string(8 * element_bytes(type)), name.substr(name.find_first_of("123468")));
  }
  EXPECT_STREQ(element_name(ElementType::Text), "text");
  EXPECT_EQ(element_bytes(ElementType::Utf32Text), 0);
}

}  // namespace
}  // namespace milieu
