// SPDX-License-Identifier: Apache-2.0
#include "serve/replies.h"

#include <fmt/format.h>

#include <charconv>

namespace milieu::serve {

namespace {

constexpr int kMaxDepth = 32;  // of lists and objects in a body

// Lists and objects inside each other: a parser takes memory for every one of them.
bool is_nested_deeper(std::string_view text, int limit) {
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted && c == '\\') ++i;
    if (is_quoted) continue;
    if ((c == '[' || c == '{') && ++depth > limit) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace

Reply json_reply(const Json& json, int status) {
  Reply reply;
  reply.status = status;
  reply.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return reply;
}

Reply text_reply(std::string type, std::string_view body) {
  Reply reply;
  reply.type = std::move(type);
  reply.body = body;
  return reply;
}

Reply download(std::string type, std::string body, const std::string& name) {
  Reply reply = text_reply(std::move(type), body);
  reply.headers.emplace_back("Content-Disposition",
                             fmt::format("attachment; filename=\"{}\"", name));
  return reply;
}

[[noreturn]] void fail_unknown(const std::string& path) {
  throw RequestError{404, fmt::format("there is nothing at {}", path)};
}

void require_method(const Request& request, std::string_view method) {
  if (request.method != method)
    throw RequestError{405,
                       fmt::format("{} takes {}, not {}", request.path, method, request.method)};
}

Json parse_body(const Request& request) {
  if (is_nested_deeper(request.body, kMaxDepth))
    throw RequestError{400, fmt::format("the body is nested deeper than {}", kMaxDepth)};
  Json json = Json::parse(request.body, nullptr, false);
  if (json.is_discarded()) throw RequestError{400, "the body is not JSON"};
  return json;
}

int64_t number_in(const std::string& text, const std::string& what, int64_t low, int64_t high) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < low || value > high)
    throw RequestError{400, fmt::format("{} is '{}', must be a whole number from {} to {}", what,
                                        text, low, high)};
  return value;
}

int64_t query_number(const Request& request, const std::string& name, int64_t standard, int64_t low,
                     int64_t high) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? standard : number_in(found->second, name, low, high);
}

std::string query_text(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

}  // namespace milieu::serve
