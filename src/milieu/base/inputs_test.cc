// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace milieu {
namespace {

struct ToyInput {
  double weights = 0;
};

template <class Visitor>
void visit_inputs(ToyInput& in, Visitor&& v) {
  v("sample_weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
}

struct PlainInput {};

TEST(Inputs, DeclarationIsCollected) {
  const std::vector<InputField> fields = inputs_of<ToyInput>();
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].name, "sample_weights");
  EXPECT_EQ(fields[0].flag(), "--sample-weights");
  EXPECT_EQ(fields[0].rule.kind, InputKind::Weights);
  EXPECT_EQ(fields[0].rule.shape, "n");
}

TEST(Inputs, InputWithoutDeclarationHasNone) {
  EXPECT_TRUE(inputs_of<PlainInput>().empty());
  EXPECT_EQ(inputs_table({}), "");
}

TEST(Inputs, TableHasOneLinePerInput) {
  EXPECT_THAT(
      inputs_table(inputs_of<ToyInput>()),
      ::testing::HasSubstr("| `sample_weights` | `--sample-weights` | one number per sample "
                           "| n | weight of every sample |\n"));
}

TEST(Inputs, EveryKindIsDescribed) {
  for (int kind = 0; kind <= static_cast<int>(InputKind::Views); ++kind)
    EXPECT_STRNE(describe(static_cast<InputKind>(kind)), "");
}

}  // namespace
}  // namespace milieu
