// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/feature_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "milieu/base/error.h"
#include "milieu/feature/cache/image_files.h"
#include "milieu/feature/descriptor/color.h"
#include "milieu/feature/descriptor/tiny.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::string& list) {
  try {
    parse_features(list);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(FeatureSpec, OptionsFollowColons) {
  const std::vector<FeatureSpec> specs = parse_features("dense-sift:step=4:words=30:root,color");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0].words.num_words, 30);
  EXPECT_TRUE(specs[0].is_local());
  EXPECT_FALSE(specs[1].is_local());
}

TEST(FeatureSpec, TextIsReadBack) {
  for (const char* text : {"tiny", "tiny:size=8:color=true", "dense-sift:step=4:num_words=30",
                           "onnx:net.onnx:size=32", "npy:rows.npy:names=list.txt"}) {
    FeatureSpec spec = parse_feature(text);
    EXPECT_EQ(to_text(spec), text);
  }
  FeatureSpec spec = parse_feature("tiny:size=16:color=false");  // the defaults
  EXPECT_EQ(to_text(spec), "tiny");
}

TEST(FeatureSpec, FilesNameTheirFeature) {
  EXPECT_EQ(parse_feature("onnx:nets/clip.onnx").id, "onnx-clip");
  EXPECT_EQ(parse_feature("onnx-patches:nets/clip.onnx").id, "onnx-patches-clip");
  EXPECT_EQ(parse_feature("tiny").id, "tiny");
}

TEST(FeatureSpec, WrongTextsAreRefusedByName) {
  EXPECT_THAT(message_of("tinny"), HasSubstr("feature is 'tinny', must be one of"));
  EXPECT_THAT(message_of(""), HasSubstr("feature is ''"));
  EXPECT_THAT(message_of("tiny,"), HasSubstr("feature is ''"));
  EXPECT_THAT(message_of("tiny:words=3"), HasSubstr("feature tiny has no option 'words'"));
  EXPECT_THAT(message_of("tiny:size"), HasSubstr("option size needs a value"));
  EXPECT_THAT(message_of("tiny:size=0"), HasSubstr("size is 0, must be between"));
  EXPECT_THAT(message_of("onnx"), HasSubstr("feature onnx needs a file"));
  EXPECT_THAT(message_of("tiny,tiny:size=2"), HasSubstr("is listed twice"));
}

// What DESIGN promises, and what the docs list.
TEST(Catalog, HasEveryPromisedFeature) {
  for (const char* name :
       {"dense-sift", "sparse-sift", "hessian-affine", "local-color", "gist", "hog", "lbp",
        "rot-lbp", "textons", "mr8", "color", "tiny", "onnx", "onnx-patches", "npy"})
    EXPECT_NE(find_feature(name), nullptr) << name;
  EXPECT_EQ(find_feature("nose"), nullptr);
}

TEST(Catalog, NamesAndOptionsAreUnique) {
  std::set<std::string> names;
  for (const FeatureEntry& entry : feature_catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    FeatureSpec spec;
    spec.entry = &entry;
    spec.feature = entry.make("x");
    std::set<std::string> options;
    for (const Field& field : spec.fields()) {
      EXPECT_TRUE(options.insert(field.name).second) << entry.name << " " << field.name;
      EXPECT_NO_THROW(field.validate());
      for (const std::string& alias : field.rule.aliases)
        EXPECT_TRUE(options.insert(alias).second) << entry.name << " " << alias;
    }
  }
}

TEST(Catalog, EveryFeatureDescribesImagesOfAnySize) {
  const std::string path = "x.png";
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(64, 48), std::pair(3000, 1), std::pair(1, 300)}) {
    const Image image = testing::smooth_image(width, height);
    for (const FeatureEntry& entry : feature_catalog()) {
      if (!entry.file.empty()) continue;
      const std::unique_ptr<Feature> feature = entry.make("");
      feature->prepare();
      if (entry.kind == FeatureKind::Whole) {
        EXPECT_FALSE(feature->whole({image, path}).empty()) << entry.name;
      } else {
        const LocalDescriptors local = feature->local({image, path});
        EXPECT_EQ(local.frames.rows(), local.descriptors.rows()) << entry.name;
      }
    }
  }
}

TEST(Tiny, IsTheScaledImage) {
  const Image image = testing::smooth_image(32, 20);
  const std::vector<float> values = tiny(image, {.size = 4, .color = true});
  const Image small = resize(image, 4, 4);
  ASSERT_EQ(values.size(), 48u);
  for (size_t i = 0; i < 48; ++i) EXPECT_FLOAT_EQ(values[i], small.rgb[i] / 255.0f);
}

TEST(Tiny, NormalisedHasMeanZeroAndNormOne) {
  const std::vector<float> values =
      tiny(testing::smooth_image(32, 20), {.size = 8, .normalize = true});
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(squares, 1, 1e-5);
  for (const float value : tiny(make_image(9, 9), {.normalize = true})) EXPECT_EQ(value, 0);
}

TEST(Color, PureColoursFallIntoTheirCells) {
  Image image = make_image(4, 1);
  image.rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 128, 128, 128};
  const std::vector<float> shares =
      color_histogram(image, {.hue_bins = 3, .saturation_bins = 2, .value_bins = 2});
  ASSERT_EQ(shares.size(), 12u);
  const auto at = [&](int hue, int saturation, int value) {
    return shares[(2 * hue + saturation) * 2 + value];
  };
  EXPECT_EQ(at(0, 1, 1), 0.25f);
  EXPECT_EQ(at(1, 1, 1), 0.25f);
  EXPECT_EQ(at(2, 1, 1), 0.25f);
  EXPECT_EQ(at(0, 0, 1), 0.25f);  // grey
}

TEST(Color, HuesRoundRedFallIntoOneCell) {
  Image image = make_image(2, 1);
  image.rgb = {255, 0, 10, 255, 10, 0};
  const std::vector<float> shares =
      color_histogram(image, {.hue_bins = 6, .saturation_bins = 1, .value_bins = 1});
  EXPECT_EQ(shares[0], 1.0f);
}

TEST(Color, SharesDoNotDependOnTheSize) {
  Image image = make_image(10, 10);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 10; ++x) image.pixel(x, y)[0] = 200;
  EXPECT_EQ(color_histogram(image), color_histogram(resize(image, 5, 10)));
}

}  // namespace
}  // namespace milieu
