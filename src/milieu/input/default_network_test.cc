// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/default_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class DefaultNetworkTest : public ::testing::Test {
 protected:
  DefaultNetworkTest()
      : config_("XDG_CONFIG_HOME", dir_.file("config")),
        network_("MILIEU_NETWORK", ""),
        home_("HOME", dir_.file("home")) {
    std::filesystem::create_directories(dir_.file("config/milieu"));
  }
  void configure(const std::string& text) const { dir_.write("config/milieu/config", text); }

  TempDir dir_;
  ScopedVariable config_, network_, home_;
};

TEST_F(DefaultNetworkTest, NothingIsSetUp) {
  EXPECT_EQ(default_network_feature(), "");
  configure("# nothing yet\n\n");
  EXPECT_EQ(default_network_feature(), "");
}

TEST_F(DefaultNetworkTest, ConfigurationNamesTheNetwork) {
  configure("# my networks\nnetwork = nets/dino.onnx:preset=dinov2  # small\n");
  EXPECT_EQ(default_network_feature(),
            "onnx:" + dir_.file("config/milieu/nets/dino.onnx:preset=dinov2"));
  configure("network = ~/nets/clip.onnx\n");
  EXPECT_EQ(default_network_feature(), "onnx:" + dir_.file("home/nets/clip.onnx"));
  configure("network=/nets/clip.onnx");
  EXPECT_EQ(default_network_feature(true), "onnx-patches:/nets/clip.onnx");
}

TEST_F(DefaultNetworkTest, EnvironmentOverridesTheConfiguration) {
  configure("network = /nets/dino.onnx\n");
  const ScopedVariable network("MILIEU_NETWORK", "/nets/clip.onnx");
  EXPECT_EQ(default_network_feature(), "onnx:/nets/clip.onnx");
  EXPECT_EQ(default_network_feature(true), "onnx-patches:/nets/clip.onnx");
}

TEST_F(DefaultNetworkTest, OtherLinesAreRefusedByNumber) {
  configure("\nnetwrok = x\n");
  EXPECT_THAT([] { default_network_feature(); },
              ThrowsMessage<InvalidArgument>(HasSubstr("line 2: 'netwrok = x' must be network")));
}

TEST_F(DefaultNetworkTest, ConfigurationIsBelowTheHome) {
  EXPECT_EQ(user_config_path(), dir_.file("config/milieu/config"));
  const ScopedVariable config("XDG_CONFIG_HOME", "");
  EXPECT_EQ(user_config_path(), dir_.file("home/.config/milieu/config"));
  const ScopedVariable home("HOME", "");
  EXPECT_EQ(user_config_path(), "");
}

}  // namespace
}  // namespace milieu
