// SPDX-License-Identifier: Apache-2.0
// What holds for every descriptor: any thread gives the same bits, any size gives a defined result.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/feature/catalog.h"
#include "milieu/feature/descriptor/dense_sift.h"
#include "milieu/feature/descriptor/filter_bank.h"
#include "milieu/feature/descriptor/gist.h"
#include "milieu/feature/descriptor/hessian_affine.h"
#include "milieu/feature/descriptor/hog.h"
#include "milieu/feature/descriptor/lbp.h"
#include "milieu/feature/descriptor/local_color.h"
#include "milieu/feature/descriptor/sparse_sift.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  std::function<Matrix<float>(const Image&)> describe;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Matrix<float> as_row(const std::vector<float>& values) {
  return Matrix<float>(FloatView(values.data(), 1, static_cast<int64_t>(values.size())));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"dense_sift", [](const Image& i) { return dense_sift(i).descriptors; }},
      {"dense_sift_scales",
       [](const Image& i) { return dense_sift(i, {.num_scales = 3, .root = true}).descriptors; }},
      {"sparse_sift", [](const Image& i) { return sparse_sift(i).descriptors; }},
      {"hessian_affine", [](const Image& i) { return hessian_affine(i).descriptors; }},
      {"local_color", [](const Image& i) { return local_color(i).descriptors; }},
      {"hog", [](const Image& i) { return hog(i).descriptors; }},
      {"textons", [](const Image& i) { return texton_responses(i, {.step = 8}).descriptors; }},
      {"mr8", [](const Image& i) { return mr8_responses(i, {.step = 8}).descriptors; }},
      {"gist", [](const Image& i) { return as_row(gist(i, {.side = 64})); }},
      {"lbp", [](const Image& i) { return as_row(lbp(i)); }},
      {"rot_lbp", [](const Image& i) { return as_row(rot_lbp(i)); }}};
  return table;
}

class Descriptors : public testing::TestWithParam<Case> {};

TEST_P(Descriptors, AnyThreadGivesTheSameBits) {
  constexpr int kImages = 8;
  std::vector<Image> images;
  std::vector<Matrix<float>> expected(kImages), found(kImages);
  for (int i = 0; i < kImages; ++i) {
    images.push_back(test_images::blobs(70 + i, 60, 25, static_cast<uint64_t>(i)));
    expected[i] = GetParam().describe(images[i]);
  }
  parallel_for(kImages, 1, 4, [&](const Block& block) {
    found[block.begin] = GetParam().describe(images[block.begin]);
  });
  for (int i = 0; i < kImages; ++i) EXPECT_EQ(found[i], expected[i]) << i;
}

TEST_P(Descriptors, EverySizeGivesADefinedResult) {
  int64_t dimension = -1;
  for (const int width : {1, 2, 5, 8, 17, 33, 300})
    for (const int height : {1, 2, 9, 16, 31}) {
      const Matrix<float> out = GetParam().describe(test_images::noise(width, height, 1));
      if (dimension < 0) dimension = out.cols();
      EXPECT_EQ(out.cols(), dimension) << width << " x " << height;
      for (int64_t i = 0; i < out.size(); ++i)
        ASSERT_TRUE(std::isfinite(out.data()[i])) << width << " x " << height;
    }
}

TEST_P(Descriptors, AVeryLongImageIsNoTrouble) {
  const Matrix<float> out = GetParam().describe(test_images::constant(60000, 1, 200));
  for (int64_t i = 0; i < out.size(); ++i) ASSERT_TRUE(std::isfinite(out.data()[i]));
}

TEST(DescriptorCatalog, WrongCombinationsAreRefusedBeforeTheFirstImage) {
  const auto prepare = [](const char* name, const char* option, const char* value) {
    const std::unique_ptr<Feature> feature = find_feature(name)->make("");
    for (const Field& field : feature->fields())
      if (field.name == option) field.set_from_text(value);
    feature->prepare();
  };
  EXPECT_NO_THROW(prepare("dense-sift", "patch_size", "20"));
  EXPECT_THROW(prepare("dense-sift", "patch_size", "18"), InvalidArgument);
  EXPECT_THROW(prepare("lbp", "num_neighbors", "24"), InvalidArgument);
  EXPECT_THROW(prepare("mr8", "step", "0"), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, Descriptors, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace milieu
