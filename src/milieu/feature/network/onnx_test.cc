// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/feature/network/test_network.h"
#include "milieu/feature/test_images.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using test_network::model;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class OnnxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!describe_network_runtime().starts_with("ONNX Runtime 1"))
      GTEST_SKIP() << describe_network_runtime();
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.file(name), std::ios::binary) << bytes;
  }

  FeatureSpec open(const std::string& kind, const std::string& name,
                   const std::string& options) const {
    FeatureSpec spec = parse_feature(kind + ":" + folder_.file(name) + options);
    spec.feature->prepare();
    spec.feature->open(silent_monitor());
    return spec;
  }

  std::vector<float> whole(const std::string& options, const Image& image = gradient()) const {
    return open("onnx", "net.onnx", options).feature->whole({image, "image"});
  }

  static Image gradient() {
    Image image = make_image(8, 8);
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) {
        image.pixel(x, y)[0] = static_cast<uint8_t>(x);
        image.pixel(x, y)[1] = static_cast<uint8_t>(10 * y);
        image.pixel(x, y)[2] = 100;
      }
    return image;
  }

  TempDir folder_;
};

const std::vector<test_network::Node> kMean = {{"Identity", {"x"}, {"map"}},
                                               {"GlobalAveragePool", {"map"}, {"y"}}};

TEST_F(OnnxTest, GivesTheOutputOfTheNetwork) {
  write("net.onnx", model(kMean, {-1, 3, 8, 8}));
  EXPECT_THAT(whole(":scale=1:normalize=false"), ElementsAre(3.5f, 35, 100));
  EXPECT_THAT(whole(":scale=1:normalize=false:bgr=true"), ElementsAre(100, 35, 3.5f));
  const std::vector<float> unit = whole("");
  EXPECT_NEAR(unit[0] * unit[0] + unit[1] * unit[1] + unit[2] * unit[2], 1, 1e-6);
}

TEST_F(OnnxTest, TakesFixedBatchesHalvesAndBytes) {
  for (const int type : {1, 2, 10}) {
    const std::vector<test_network::Node> first = {{"Identity", {"x"}, {"y"}}};
    write("net.onnx", model(type == 2 ? first : kMean, {4, 3, 8, 8}, "", type));
    const std::string scale = type == 2 ? "" : ":scale=1";
    EXPECT_THAT(whole(scale + ":normalize=false"), ElementsAre(3.5f, 35, 100)) << type;
  }
}

TEST_F(OnnxTest, AnyTensorCanBeTheLayer) {
  write("net.onnx", model(kMean, {1, 3, 8, 8}));
  const std::vector<float> flat = whole(":scale=1:normalize=false:layer=map:pool=flat");
  ASSERT_EQ(flat.size(), 192u);
  EXPECT_EQ(flat[9], 1);
  EXPECT_THROW(whole(":layer=none"), InvalidArgument);
  EXPECT_THROW(whole(":pool=class"), DataError);
}

TEST_F(OnnxTest, PatchesAreTheMapBeforeThePooling) {
  write("net.onnx", model(kMean, {1, 3, 8, 8}));
  const FeatureSpec spec = open("onnx-patches", "net.onnx", ":scale=1:normalize=false");
  Image wide = test_images::constant(16, 8, 9);
  const Image middle = gradient();
  for (int y = 0; y < 8; ++y) std::copy_n(middle.pixel(0, y), 24, wide.pixel(4, y));
  const LocalDescriptors found = spec.feature->local({wide, "wide"});
  EXPECT_EQ(found.grid_rows, 8);
  EXPECT_EQ(found.grid_cols, 8);
  EXPECT_EQ(found.descriptors(9, 0), 1);
  EXPECT_EQ(found.descriptors(9, 1), 10);
  EXPECT_FLOAT_EQ(found.frames(9, 0), 5);  // column 1 of the crop, which begins at 4
  EXPECT_FLOAT_EQ(found.frames(9, 1), 1);
  EXPECT_FLOAT_EQ(found.frames(9, 2), 1);
}

TEST_F(OnnxTest, WhatCannotRunIsRefusedWithOperatorOpsetAndAWayOut) {
  write("net.onnx", model({{"Frobnicate", {"x"}, {"y"}}}, {1, 3, 8, 8}));
  EXPECT_THAT([&] { whole(""); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("net.onnx (opset 13) cannot be run by ONNX"),
                                             HasSubstr("operator Frobnicate is unknown"),
                                             HasSubstr("--vectors FILE"))));
  write("net.onnx", model({{"Flatten", {"x"}, {"y"}}}, {1, 3, 8, 8}));
  EXPECT_THAT(
      [&] { open("onnx-patches", "net.onnx", ""); },
      ThrowsMessage<DataError>(HasSubstr("gives an output of 1 x 192, patches need a map")));
}

TEST_F(OnnxTest, HostileNetworksAreMessages) {
  // A cycle.
  write("net.onnx",
        model({{"Relu", {"z"}, {"a"}}, {"Add", {"a", "x"}, {"z"}}, {"Relu", {"z"}, {"y"}}},
              {1, 3, 8, 8}));
  EXPECT_THROW(whole(""), DataError);
  // 4 TB asked for: the shape is a weight, 8 bytes per number.
  std::string sizes;
  for (const uint64_t size : {uint64_t{1} << 20, uint64_t{1} << 20})
    for (int byte = 0; byte < 8; ++byte) sizes += static_cast<char>(size >> 8 * byte & 255);
  const std::string shape = internal::proto_number(1, 2) + internal::proto_number(2, 7) +
                            internal::proto_field(8, "s") + internal::proto_field(9, sizes);
  write("net.onnx", model({{"ConstantOfShape", {"s"}, {"big"}},
                           {"ReduceMean", {"big"}, {"m"}},
                           {"Add", {"x", "m"}, {"y"}}},
                          {1, 3, 8, 8}, internal::proto_field(5, shape)));
  EXPECT_THAT([&] { whole(""); }, ThrowsMessage<DataError>(HasSubstr("of memory")));
}

TEST_F(OnnxTest, AStopEndsAnImageThatIsUnderWay) {
  std::vector<test_network::Node> slow = {{"Identity", {"x"}, {"0"}}};
  const auto pool = [](const std::string& from, const std::string& to) {
    return test_network::Node{
        "AveragePool", {from}, {to}, {{"kernel_shape", {31, 31}}, {"pads", {15, 15, 15, 15}}}};
  };
  for (int i = 0; i < 80; ++i) slow.push_back(pool(std::to_string(i), std::to_string(i + 1)));
  slow.push_back({"GlobalAveragePool", {"80"}, {"y"}});
  write("net.onnx", model(slow, {1, 3, 512, 512}));
  FeatureSpec spec = parse_feature("onnx:" + folder_.file("net.onnx"));
  spec.feature->prepare();
  std::stop_source source;
  const Monitor monitor(source.get_token());
  spec.feature->open(monitor);
  const Image image = test_images::noise(512, 512, 1);
  const Stopwatch whole_run;
  spec.feature->whole({image, "image"});
  const double needed = whole_run.seconds();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const Stopwatch stopped_run;
  EXPECT_THROW(spec.feature->whole({image, "image"}), DataError);
  EXPECT_LT(stopped_run.seconds(), needed);
}

TEST_F(OnnxTest, TheFingerprintHasEveryFileThatCounts) {
  const auto fingerprint = [&] {
    FeatureSpec spec = parse_feature("onnx:" + folder_.file("net.onnx"));
    spec.feature->prepare();
    return spec.feature->fingerprint();
  };
  const std::string entry =
      internal::proto_field(1, "location") + internal::proto_field(2, "net.data");
  write("net.onnx", model(kMean, {1, 3, 8, 8},
                          internal::proto_field(5, internal::proto_field(8, "w") +
                                                       internal::proto_field(13, entry))));
  EXPECT_THAT(fingerprint, ThrowsMessage<IoError>(HasSubstr("net.data, which is not there")));
  write("net.data", "1");
  const std::string first = fingerprint();
  write("net.data", "2");
  const std::string second = fingerprint();
  EXPECT_NE(first, second);
  write("preprocessor_config.json", R"({"image_mean": 0.5, "image_std": 0.5})");
  EXPECT_NE(fingerprint(), second);
}

}  // namespace
}  // namespace milieu
