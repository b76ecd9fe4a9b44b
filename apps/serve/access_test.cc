// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <gtest/gtest.h>

#include <set>

namespace milieu::serve {
namespace {

AccessRequest good() {
  return {.method = "GET",
          .path = "/api/runs",
          .hosts = {"127.0.0.1:80"},
          .origins = {},
          .cookies = {},
          .fetch_site = {},
          .token = "secret"};
}

int status_of(const AccessRequest& request) {
  const std::optional<Reply> refusal = Access("secret", 80).refuse(request);
  return refusal ? refusal->status : 200;
}

TEST(Access, TokensAreLongAndNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(make_token());
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(tokens.begin()->size(), 64U);
}

TEST(Access, SecretsAreComparedWhole) {
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "ab"));
  EXPECT_FALSE(is_same_secret("", "abc"));
}

TEST(Access, TakesTheTokenOrTheCookieOfItsPort) {
  EXPECT_EQ(status_of(good()), 200);
  AccessRequest request = good();
  request.token = "";
  EXPECT_EQ(status_of(request), 401);
  request.cookies = {"a=b; milieu_token_80=secret; c=d"};
  EXPECT_EQ(status_of(request), 200);
  request.cookies = {"milieu_token_81=secret", "xmilieu_token_80=secret", "milieu_token_80="};
  EXPECT_EQ(status_of(request), 401);
  request.cookies = {"milieu_token_80=secret"};
  request.token = "wrong";
  EXPECT_EQ(status_of(request), 401);
}

// The browser's arguments can be read by other users: what is in them is worth nothing afterwards.
TEST(Access, OneTimeTokenOpensThePageOnce_issue20) {
  Access access("secret", 80);
  const std::string address = access.one_time_address();
  AccessRequest request = good();
  request.path = "/";
  request.token = address.substr(address.find('=') + 1);
  EXPECT_NE(request.token, "secret");
  AccessRequest api = request;
  api.path = "/api/runs";
  EXPECT_TRUE(access.refuse(api)) << "it opens the page, nothing else";
  EXPECT_FALSE(access.refuse(request));
  EXPECT_TRUE(access.refuse(request)) << "a second time";
  request.cookies = {"milieu_token_80=secret"};
  EXPECT_FALSE(access.refuse(request)) << "a reload has the cookie";
  EXPECT_FALSE(access.refuse(good()));
}

TEST(Access, AnotherHostOriginOrSiteIsRefusedWhateverTheToken) {
  AccessRequest request = good();
  for (const char* host :
       {"evil", "evil:80", "127.0.0.1", "127.0.0.1:81", "127.0.0.1:80.evil", ""}) {
    request.hosts = {host};
    EXPECT_EQ(status_of(request), 403) << host;
  }
  request.hosts = {"localhost:80"};
  EXPECT_EQ(status_of(request), 200);
  request.hosts = {"localhost:80", "localhost:80"};
  EXPECT_EQ(status_of(request), 403);
  request = good();
  for (const char* origin : {"null", "http://evil", "https://127.0.0.1:80", "127.0.0.1:80", ""}) {
    request.origins = {origin};
    EXPECT_EQ(status_of(request), 403) << origin;
  }
  request.origins = {"http://localhost:80"};
  EXPECT_EQ(status_of(request), 200);
  request = good();
  request.fetch_site = {"same-site"};
  EXPECT_EQ(status_of(request), 403);
  request.path = "/";  // a link may lead to the page, with the token in it
  EXPECT_EQ(status_of(request), 200);
}

}  // namespace
}  // namespace milieu::serve
