// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

TEST(CacheFolder, IsWhereTheUserSaysElseBelowTheHome) {
  const ScopedVariable home("HOME", "/home-of-a-user");
  const ScopedVariable xdg("XDG_CACHE_HOME", "");
  const ScopedVariable own("MILIEU_CACHE", "");
  EXPECT_EQ(cache_folder(), "/home-of-a-user/.cache/milieu");
  const ScopedVariable other("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(cache_folder(), "/caches/milieu");
  const ScopedVariable mine("MILIEU_CACHE", "/mine");
  EXPECT_EQ(cache_folder(), "/mine");
}

TEST(CacheFolder, WithoutAHomeItSaysWhatToSet) {
  const ScopedVariable home("HOME", "");
  const ScopedVariable xdg("XDG_CACHE_HOME", "");
  const ScopedVariable own("MILIEU_CACHE", "");
  EXPECT_THAT([] { cache_folder(); },
              ThrowsMessage<InvalidArgument>(HasSubstr("set MILIEU_CACHE")));
}

TEST(CacheFolder, PlacesAreNamedAfterTheirSourceAndDifferByContent) {
  const ScopedVariable own("MILIEU_CACHE", "/mine");
  const auto place = [](const std::string& source, const char* content) {
    return cache_place(source, "-patches", Fingerprint("test").text(content));
  };
  EXPECT_THAT(place("/photos/cats", "a"), StartsWith("/mine/cats-patches-"));
  EXPECT_EQ(place("/photos/cats", "a"), place("/photos/cats", "a"));
  EXPECT_NE(place("/photos/cats", "a"), place("/photos/cats", "b"));
  // A name as long as the file system allows leaves room for the rest.
  EXPECT_LT(place("/photos/" + std::string(255, 'x'), "a").size(), 255u);
}

}  // namespace
}  // namespace milieu
