// SPDX-License-Identifier: Apache-2.0
// What handlers of requests share: replies of each kind, and what they read from a request.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/report/page_json.h"
#include "serve/message.h"

namespace milieu::serve {

using internal::Json;

Reply json_reply(const Json& json, int status = 200);
Reply text_reply(std::string type, std::string_view body);
Reply download(std::string type, std::string body, const std::string& name);

// Little-endian values.
template <class T>
Reply binary_reply(const std::vector<T>& values) {
  Reply reply;
  reply.type = "application/octet-stream";
  reply.body.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(reply.body.data(), values.data(), reply.body.size());
  return reply;
}

[[noreturn]] void fail_unknown(const std::string& path);
void require_method(const Request& request, std::string_view method);

// The body as JSON; RequestError 400 when it is none, or nested too deep.
Json parse_body(const Request& request);

// A whole number; RequestError 400 names `what` and the rule.
int64_t number_in(const std::string& text, const std::string& what, int64_t low, int64_t high);
int64_t query_number(const Request& request, const std::string& name, int64_t standard, int64_t low,
                     int64_t high);
// "" where the query has no such name.
std::string query_text(const Request& request, const std::string& name);

}  // namespace milieu::serve
