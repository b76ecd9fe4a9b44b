// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/preprocess_internal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/feature/network/half_internal.h"
#include "milieu/feature/test_images.h"

namespace milieu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Graph taking(std::vector<int64_t> shape, int64_t type = 1) {
  Graph graph;
  graph.inputs = {{"x", type, std::move(shape)}};
  return graph;
}

Preprocessing prepare(const PreprocessOptions& options, const Graph& graph,
                      const std::string& config = {}) {
  return make_preprocessing(options, {"preprocessor_config.json", config}, graph, "net.onnx");
}

TEST(Preprocess, TheNetworksOwnSizeCounts) {
  const Preprocessing how = prepare({}, taking({-1, 3, 244, 200}));
  EXPECT_EQ(how.height, 244);
  EXPECT_EQ(how.width, 200);
  EXPECT_EQ(how.batch, 1);
  PreprocessOptions other;
  other.size = 224;
  EXPECT_THAT(
      [&] {
        prepare(other, taking({1, 3, 244, 244}));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("takes 244 pixels: leave size out")));
  EXPECT_EQ(prepare(other, taking({1, 3, -1, -1})).width, 224);
  EXPECT_EQ(prepare(other, taking({})).width, 224);
}

TEST(Preprocess, LayoutComesFromTheShape) {
  EXPECT_FALSE(prepare({}, taking({1, 3, 32, 32})).channels_last);
  EXPECT_TRUE(prepare({}, taking({1, 32, 32, 3})).channels_last);
  EXPECT_TRUE(prepare({}, taking({-1, -1, -1, 3})).channels_last);
  EXPECT_FALSE(prepare({}, taking({-1, -1, -1, -1})).channels_last);
  PreprocessOptions last;
  last.layout = InputLayout::ChannelsLast;
  EXPECT_TRUE(prepare(last, taking({-1, -1, -1, -1})).channels_last);
  EXPECT_THROW(prepare(last, taking({1, 3, 32, 32})), DataError);
  EXPECT_THAT(
      [&] {
        prepare({}, taking({1, 1, 28, 28}));
      },
      ThrowsMessage<DataError>(HasSubstr("must have three channels")));
}

TEST(Preprocess, InputsThatAreNotOneImageAreRefused) {
  Graph two = taking({1, 3, 8, 8});
  two.inputs.push_back({"input_ids", 7, {1, 77}});
  EXPECT_THAT([&] { prepare({}, two); },
              ThrowsMessage<DataError>(HasSubstr("has 2 inputs (x, input_ids)")));
  EXPECT_THROW(prepare({}, taking({1, 77})), DataError);
  EXPECT_THROW(prepare({}, taking({1, 3, 100000, 8})), DataError);
  EXPECT_THROW(prepare({}, taking({100000, 3, 8, 8})), DataError);
}

TEST(Preprocess, PresetsScaleAndNormaliseAsTheNetworksWereTrained) {
  PreprocessOptions options;
  options.preset = NetworkPreset::Imagenet;
  const Preprocessing imagenet = prepare(options, taking({}));
  EXPECT_FLOAT_EQ(imagenet.values[0][255], (1 - 0.485f) / 0.229f);
  EXPECT_FLOAT_EQ(imagenet.values[2][0], -0.406f / 0.225f);
  const Placement place = place_image(imagenet, 500, 375);
  EXPECT_EQ(place.height, 256);
  EXPECT_EQ(place.width, 341);  // 256 * 500 / 375, rounded down
  EXPECT_EQ(place.box.left, 58);
  EXPECT_EQ(place.box.top, 16);
  options.preset = NetworkPreset::Clip;
  EXPECT_EQ(prepare(options, taking({})).interpolation, Interpolation::Bicubic);
  EXPECT_EQ(place_image(prepare(options, taking({})), 500, 375).height, 224);
  options.preset = NetworkPreset::Unit;
  EXPECT_FLOAT_EQ(prepare(options, taking({})).values[1][51], 0.2f);
  // Without a config beside the model, auto is unit.
  EXPECT_EQ(prepare({}, taking({})).values, prepare(options, taking({})).values);
}

TEST(Preprocess, OptionsOverrideThePreset) {
  PreprocessOptions options;
  options.preset = NetworkPreset::Imagenet;
  options.mean = "0.5/0.25/0";
  options.std = "2";
  options.scale = "1";
  options.crop = CropMode::No;
  const Preprocessing how = prepare(options, taking({1, 3, 20, 10}));
  EXPECT_FLOAT_EQ(how.values[1][10], (10 - 0.25f) / 2);
  EXPECT_EQ(place_image(how, 500, 100).width, 10);
  EXPECT_EQ(place_image(how, 500, 100).height, 20);
  options.std = "0";
  EXPECT_THROW(prepare(options, taking({})), InvalidArgument);
  options.std = "1/2";
  EXPECT_THAT([&] { prepare(options, taking({})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("std is '1/2'")));
  PreprocessOptions small;
  small.resize = 10;
  EXPECT_THROW(prepare(small, taking({1, 3, 20, 20})), InvalidArgument);
  small.resize = 30;
  EXPECT_EQ(place_image(prepare(small, taking({1, 3, 20, 20})), 60, 90).width, 30);
}

TEST(Preprocess, HuggingFaceConfigsAreRead) {
  const Preprocessing dino = prepare({}, taking({}),
                                     R"({"crop_size": {"height": 224, "width": 224},
      "do_center_crop": true, "do_normalize": true, "do_rescale": true, "do_resize": true,
      "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "resample": 3,
      "rescale_factor": 0.00392156862745098, "size": {"shortest_edge": 256}})");
  PreprocessOptions preset;
  preset.preset = NetworkPreset::Dinov2;
  EXPECT_EQ(dino.values, prepare(preset, taking({})).values);
  EXPECT_EQ(dino.interpolation, Interpolation::Bicubic);
  EXPECT_EQ(place_image(dino, 300, 300).width, 256);
  const Preprocessing siglip = prepare({}, taking({}),
                                       R"({"do_resize": true, "image_mean": [0.5, 0.5, 0.5],
      "image_std": [0.5, 0.5, 0.5], "resample": 3, "size": {"height": 384, "width": 384}})");
  EXPECT_EQ(place_image(siglip, 500, 100).width, 384);
  EXPECT_EQ(place_image(siglip, 500, 100).height, 384);
  EXPECT_FLOAT_EQ(siglip.values[0][0], -1);
  const Preprocessing convnext =
      prepare({}, taking({}), R"({"size": {"shortest_edge": 224}, "crop_pct": 0.875})");
  EXPECT_EQ(place_image(convnext, 300, 300).width, 256);
  // A preset overrides the config.
  preset.preset = NetworkPreset::Unit;
  EXPECT_FLOAT_EQ(prepare(preset, taking({}), R"({"image_mean": 7, "image_std": 1})").values[0][0],
                  0);
}

TEST(Preprocess, BrokenConfigsAreNamed) {
  for (const char* text : {"[]", "{", R"({"size": "big"})", R"({"size": -1})", R"({"resample": 9})",
                           R"({"image_mean": [1, 2], "image_std": 1})", R"({"image_mean": 1})",
                           R"({"size": {"shortest_edge": 1e9}})"})
    EXPECT_THAT([&] { prepare({}, taking({}), text); },
                ThrowsMessage<DataError>(HasSubstr("preprocessor_config.json: ")))
        << text;
}

TEST(Preprocess, TheInputHasTheOrderOfTheNetwork) {
  Image image = make_image(2, 1);
  image.rgb = {10, 20, 30, 40, 50, 60};
  PreprocessOptions options;
  options.scale = "1";
  const Tensor first = to_input(prepare(options, taking({2, 3, 1, 2})), image);
  EXPECT_THAT(first.shape, ElementsAre(2, 3, 1, 2));
  EXPECT_THAT(first.values, ElementsAre(10, 40, 20, 50, 30, 60, 10, 40, 20, 50, 30, 60));
  options.bgr = true;
  const Tensor last = to_input(prepare(options, taking({1, 1, 2, 3})), image);
  EXPECT_THAT(last.values, ElementsAre(30, 20, 10, 60, 50, 40));
  // A network of bytes scales them itself.
  EXPECT_EQ(to_input(prepare({}, taking({1, 3, 1, 2}, 2)), image).values[0], 10);
}

TEST(Half, RoundsToTheNearestEven) {
  EXPECT_EQ(to_half(1.0f), 0x3c00);
  EXPECT_EQ(to_half(-2.0f), 0xc000);
  EXPECT_EQ(to_half(65519.0f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(0x1p-24f), 1);
  EXPECT_EQ(to_half(0x1p-25f), 0);                  // a tie: to zero, which is even
  EXPECT_EQ(to_half(1.0f + 0x1p-11f), 0x3c00);      // a tie
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f), 0x3c02);  // a tie
  for (uint32_t bits = 0; bits < 0x7c00; ++bits)
    EXPECT_EQ(to_half(from_half(static_cast<uint16_t>(bits))), bits);
}

}  // namespace
}  // namespace milieu::internal
