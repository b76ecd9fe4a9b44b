// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "milieu/base/error.h"

namespace milieu {
namespace {

using namespace internal;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

NpyHeader parse(const std::string& text) { return parse_npy_header(text, "X.npy"); }

void expect_fault(const std::string& text, const std::string& rule) {
  EXPECT_THAT([&] { parse(text); },
              ThrowsMessage<DataError>(AllOf(StartsWith("X.npy: "), HasSubstr(rule))))
      << text;
}

std::string with_type(const std::string& descr) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }";
}
std::string with_shape(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}

TEST(NpyHeader, ReadsWhatNumpyWrites) {
  const NpyHeader header =
      parse("{'descr': '>f8', 'fortran_order': True, 'shape': (3, 2), }          \n");
  EXPECT_EQ(header.type, ElementType::Float64);
  EXPECT_EQ(header.item_bytes, 8);
  EXPECT_TRUE(header.is_big_endian);
  EXPECT_TRUE(header.is_fortran_order);
  EXPECT_THAT(header.shape, ElementsAre(3, 2));
}

TEST(NpyHeader, OrderOfKeysQuotesAndLastCommaAreFree) {
  const NpyHeader header = parse("{\"shape\":(7,),\"fortran_order\":False,\"descr\":\"|u1\"}");
  EXPECT_EQ(header.type, ElementType::Uint8);
  EXPECT_FALSE(header.is_fortran_order);
  EXPECT_THAT(header.shape, ElementsAre(7));
}

TEST(NpyHeader, ReadsEveryNumberType) {
  const std::pair<const char*, ElementType> types[] = {
      {"|b1", ElementType::Bool},    {"|i1", ElementType::Int8},    {"<i2", ElementType::Int16},
      {"<i4", ElementType::Int32},   {"<i8", ElementType::Int64},   {"|u1", ElementType::Uint8},
      {"<u2", ElementType::Uint16},  {"<u4", ElementType::Uint32},  {"<u8", ElementType::Uint64},
      {"<f2", ElementType::Float16}, {"<f4", ElementType::Float32}, {"<f8", ElementType::Float64},
      {"=f4", ElementType::Float32}, {"f4", ElementType::Float32}};
  for (const auto& [descr, type] : types) {
    const NpyHeader header = parse(with_type(descr));
    EXPECT_EQ(header.type, type) << descr;
    EXPECT_EQ(header.item_bytes, element_bytes(type)) << descr;
    EXPECT_FALSE(header.is_big_endian) << descr;
  }
}

TEST(NpyHeader, TextHasTheLengthOfItsType) {
  EXPECT_EQ(parse(with_type("|S7")).type, ElementType::Text);
  EXPECT_EQ(parse(with_type("|S7")).item_bytes, 7);
  EXPECT_EQ(parse(with_type("<U7")).type, ElementType::Utf32Text);
  EXPECT_EQ(parse(with_type("<U7")).item_bytes, 28);
}

TEST(NpyHeader, OtherTypesAreRefusedByName) {
  expect_fault(with_type("<c8"), "dtype is <c8 (complex numbers), must be one of b1 i1");
  expect_fault(with_type("|O"), "(pickled Python objects)");
  expect_fault(with_type("|V8"), "(a structured or void type)");
  expect_fault(with_type("<M8[ns]"), "(dates)");
  expect_fault(with_type("<m8[ns]"), "(time spans)");
  expect_fault(with_type("<f16"), "(floats of an unusual length)");
  expect_fault(with_type("<i3"), "(an unknown type)");
  expect_fault(with_type("<U"), "(an unknown type)");
  expect_fault(with_type("<U2x"), "(an unknown type)");
  expect_fault(with_type("<"), "descr is too short");
  expect_fault("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
               "(a structured type)");
  expect_fault(with_type("|S0"), "text of length 0, must be 1 to");
  expect_fault(with_type("<U99999"), "text of length 99999, must be 1 to");
}

TEST(NpyHeader, ShapesMayHaveAnyRank) {
  EXPECT_THAT(parse(with_shape("()")).shape, IsEmpty());
  EXPECT_THAT(parse(with_shape("( 60000 , 28,28 )")).shape, ElementsAre(60000, 28, 28));
  EXPECT_THAT(parse(with_shape("(3L, 0L)")).shape, ElementsAre(3, 0));  // Python 2
}

TEST(NpyHeader, WrongShapesAreRefused) {
  expect_fault(with_shape("3"), "shape must be a tuple");
  expect_fault(with_shape("[3]"), "shape must be a tuple");
  expect_fault(with_shape("(-3,)"), "shape has the extent -3, must be at least 0");
  expect_fault(with_shape("(3.5,)"), "extents must be separated by ','");
  expect_fault(with_shape("(a,)"), "shape must hold whole numbers");
  expect_fault(with_shape("(3 3)"), "extents must be separated by ','");
  expect_fault(with_shape("(99999999999999999999,)"), "shape overflows");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  expect_fault(with_shape(many + ")"), "more than 64 extents");
}

TEST(NpyHeader, UnbalancedBracketsAreRefused) {
  expect_fault("", "must start with '{'");
  expect_fault("{", "the dict is never closed");
  expect_fault("{'descr': '<f4', ", "the dict is never closed");
  expect_fault("{'descr': '<f4'", "closed by '}'");
  expect_fault("{'shape': (3, ", "never closed by ')'");
  expect_fault("{'descr': '<f4", "a string is never closed");
  expect_fault("{{'descr': '<f4'}}", "expected a quoted string");
}

TEST(NpyHeader, OnlyTheThreeKeysOnceEach) {
  expect_fault("{'descr': '<f4', 'shape': (3,)}", "'fortran_order' is missing");
  expect_fault("{'fortran_order': True, 'shape': (3,)}", "'descr' is missing");
  expect_fault("{'descr': '<f4', 'fortran_order': True}", "'shape' is missing");
  expect_fault("{}", "'descr' is missing");
  expect_fault("{'descr': '<f4', 'descr': '<f4'}", "'descr' is given twice");
  expect_fault("{'fortran_order': True, 'fortran_order': True}", "'fortran_order' is given twice");
  expect_fault("{'shape': (1,), 'shape': (1,)}", "'shape' is given twice");
  expect_fault("{'dtype': '<f4'}", "unknown key 'dtype'");
}

TEST(NpyHeader, NothingElseIsPython) {
  expect_fault("{'descr' '<f4'}", "expected ':'");
  expect_fault("{'descr': '<f4' 'shape': (3,)}", "separated by ','");
  expect_fault("{'fortran_order': 1}", "fortran_order must be True or False");
  expect_fault("{'descr': '\\x3cf4'}", "an escape or a line break");
  expect_fault(with_type("<f4") + " x", "unexpected text after the dict");
  expect_fault(with_type("<f4") + std::string(1, '\0'), "unexpected text after the dict");
  expect_fault(std::string("{\0", 2), "expected a quoted string");
}

}  // namespace
}  // namespace milieu
