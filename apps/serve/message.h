// SPDX-License-Identifier: Apache-2.0
// A request and its answer, as the explorer's handlers see them: no socket, no HTTP library.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace milieu::serve {

struct Request {
  std::string method;                        // "GET", "POST", "PATCH", "DELETE"
  std::string path;                          // decoded, without the query: "/api/runs"
  std::map<std::string, std::string> query;  // decoded; of a name given twice the first value
  std::string body;
};

// Takes a piece of a body; false when the reader has gone.
using WriteBody = std::function<bool(std::string_view)>;

struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Set: the body is what this writes (server-sent events). Runs on the connection's thread and
  // must check its server's stop flag.
  std::function<void(const WriteBody& write)> stream;
};

using Handler = std::function<Reply(const Request&)>;

// Thrown by handlers: becomes a reply with this status and {"error": sentence}.
struct RequestError {
  int status = 400;
  std::string sentence;
};

// {"error": sentence}, with bytes that are not UTF-8 replaced.
Reply error_reply(int status, std::string_view sentence);

}  // namespace milieu::serve
