// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/page_assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace milieu {
namespace {

using testing::HasSubstr;

TEST(PageAssets, PageNamesItsScriptAndStyle) {
  const std::string html(page_assets().html);
  EXPECT_THAT(html, HasSubstr("src=\"/assets/app.js\""));
  EXPECT_THAT(html, HasSubstr("href=\"/assets/app.css\""));
  EXPECT_GT(page_assets().script.size(), 100U);
  EXPECT_GT(page_assets().style.size(), 10U);
}

TEST(PageAssets, PageLoadsNothingFromOtherHosts) {
  const std::regex load(R"re((src|href)="(https?:)?//)re");
  const std::string html(page_assets().html);
  EXPECT_FALSE(std::regex_search(html, load)) << html;
  EXPECT_EQ(page_assets().style.find("url(http"), std::string_view::npos);
  EXPECT_EQ(page_assets().style.find("@import"), std::string_view::npos);
}

// report.html holds the script between <script> tags.
TEST(PageAssets, ScriptCanStandInAPage) {
  EXPECT_EQ(page_assets().script.find("</script"), std::string_view::npos);
  EXPECT_EQ(page_assets().style.find("</style"), std::string_view::npos);
}

}  // namespace
}  // namespace milieu
