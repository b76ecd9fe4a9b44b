// SPDX-License-Identifier: Apache-2.0
// The transport: HTTP/1.1 on 127.0.0.1 through cpp-httplib (only http_server.cc sees it), with the
// checks of access.h before a body is read and the limits of connections.h. A malformed request
// gets a 4xx with a JSON message.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/connections.h"
#include "serve/message.h"

namespace milieu::serve {

struct HttpOptions {
  int port = 0;  // 0: any free one
  ConnectionLimits connections;
  size_t max_body = size_t{8} << 20;  // bytes
};

class HttpServer {
 public:
  // Binds; throws IoError when the port is taken. `handle` runs on many threads at once.
  HttpServer(const HttpOptions& options, Handler handle);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::string address() const;     // with the token
  std::string one_time_address();  // with a token for one visit
  void run();                      // answers until stop(); returns when every thread has ended
  void stop();                     // from any thread, also before run()
  bool is_stopping() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace milieu::serve
