// SPDX-License-Identifier: Apache-2.0
// Who may send requests: every check of a request before it is handled. The token is in the
// address the program prints; the page's answer sets it as a cookie. Host is checked against DNS
// rebinding, Origin and Sec-Fetch-Site against posts and reads from other sites.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/message.h"

namespace milieu::serve {

// 32 random bytes as hexadecimal digits. Throws IoError when the system has none.
std::string make_token();

// True when both are equal; the time taken does not reveal where they differ.
bool is_same_secret(std::string_view a, std::string_view b);

// What the check examines. Headers that may not be repeated come with all their values.
struct AccessRequest {
  std::string method;
  std::string path;
  std::vector<std::string> hosts;
  std::vector<std::string> origins;
  std::vector<std::string> cookies;     // whole Cookie headers
  std::vector<std::string> fetch_site;  // Sec-Fetch-Site
  std::string token;                    // of the query; "" when there is none
};

class Access {
 public:
  Access(std::string token, int port);

  // Nothing when the request may pass, else the answer: 403 for a wrong host, origin or site, 401
  // without the token. May be asked from any thread.
  std::optional<Reply> refuse(const AccessRequest& request);
  // Set-Cookie of the page: HttpOnly, SameSite=Strict, named after the port, because browsers share
  // cookies between the ports of a host.
  std::string cookie() const;
  // "http://127.0.0.1:8765/?token=..."
  std::string address() const;
  // The same with a token that is good for one visit of the page: for the browser's command line,
  // which every user of the machine can read.
  std::string one_time_address();

 private:
  bool is_own_host(const std::string& host) const;
  bool has_token(const AccessRequest& request);
  bool take_one_time(const AccessRequest& request);
  bool was_used(const std::string& token);

  std::string token_;
  std::mutex mutex_;
  std::string one_time_;  // "": none, or used
  std::string used_;      // the one-time token that was used: a reload then has the cookie
  int port_ = 0;
};

}  // namespace milieu::serve
