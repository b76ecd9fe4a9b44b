// SPDX-License-Identifier: Apache-2.0
// cpp-httplib parses requests and writes answers. Ours are the socket below it (Channel, with
// deadlines), the loop over the requests of a connection, and everything before the handlers: only
// bodies of POST and PATCH are read, and only after the checks.
#include "serve/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "milieu/base/error.h"
#include "serve/access.h"

namespace milieu::serve {

namespace {

constexpr int kBacklog = 1024;            // Debian's cpp-httplib is compiled with 5
constexpr size_t kMaxPath = 1024;         // nobody needs longer ones
constexpr size_t kThreadsInReserve = 64;  // for connections that are being closed

// cpp-httplib's view of a Channel.
class ChannelStream : public httplib::Stream {
 public:
  explicit ChannelStream(Channel& channel) : channel_(channel) {}
  bool is_readable() const override { return channel_.is_readable(); }
  bool is_writable() const override { return channel_.is_alive(); }
  ssize_t read(char* data, size_t size) override { return channel_.read(data, size); }
  ssize_t write(const char* data, size_t size) override { return channel_.write(data, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = "", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = "", port = 0; }
  socket_t socket() const override { return channel_.socket(); }

 private:
  Channel& channel_;
};

// Threads are started when they are needed: few visitors need few. One is there from the beginning,
// so that a system that allows none says so before an address is printed.
class Pool : public httplib::TaskQueue {
 public:
  explicit Pool(Connections& connections)
      : connections_(connections),
        max_threads_(connections.limits().max_connections + kThreadsInReserve) {
    try {
      add_thread();
    } catch (const std::system_error& error) {
      throw IoError(
          fmt::format("the explorer cannot start a thread: {}; raise the limit of "
                      "processes (ulimit -u) or of memory (ulimit -v)",
                      error.code().message()));
    }
  }
  ~Pool() override { shutdown(); }

  void enqueue(std::function<void()> task) override {
    connections_.make_room();
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    try {
      if (tasks_.size() > num_idle_ && threads_.size() < max_threads_) add_thread();
    } catch (const std::system_error&) {
      // the threads that there are do it later
    }
    wake_.notify_one();
  }

  void shutdown() override {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  void add_thread() {
    threads_.emplace_back([this] { work(); });
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++num_idle_;
      wake_.wait(lock, [this] { return is_over_ || !tasks_.empty(); });
      --num_idle_;
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  Connections& connections_;
  size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t num_idle_ = 0;
  bool is_over_ = false;
};

// The connection that this thread serves, for the handlers that cpp-httplib calls.
struct Current {
  Connections* connections = nullptr;
  Connections::Handle handle;
  Channel* channel = nullptr;
  bool leaves_body = false;  // the answer came before the body was read: no request can follow
};
thread_local Current t_current;

bool has_body(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  return request.has_header("Transfer-Encoding") || (!length.empty() && length != "0");
}

bool takes_body(const httplib::Request& request) {
  return request.method == "POST" || request.method == "PATCH";
}

std::vector<std::string> values_of(const httplib::Request& request, const char* name) {
  std::vector<std::string> values;
  for (size_t i = 0; i < request.get_header_value_count(name); ++i)
    values.push_back(request.get_header_value(name, i));
  return values;
}

AccessRequest access_request(const httplib::Request& request) {
  return {.method = request.method,
          .path = request.path,
          .hosts = values_of(request, "Host"),
          .origins = values_of(request, "Origin"),
          .cookies = values_of(request, "Cookie"),
          .fetch_site = values_of(request, "Sec-Fetch-Site"),
          .token = request.has_param("token") ? request.get_param_value("token") : ""};
}

// What HTTP itself allows but this server does not take.
std::optional<Reply> refuse_form(const httplib::Request& request, size_t max_body) {
  const std::string& method = request.method;
  if (request.path.size() > kMaxPath || request.path.find('\0') != std::string::npos)
    return error_reply(request.path.size() > kMaxPath ? 414 : 400, "the path is malformed");
  if (method != "GET" && method != "HEAD" && method != "DELETE" && !takes_body(request))
    return error_reply(405, fmt::format("the method {} is not supported here", method));
  // Two lengths, or a length and chunks: a proxy may see another request than this server.
  if (request.get_header_value_count("Content-Length") +
          request.get_header_value_count("Transfer-Encoding") >
      1)
    return error_reply(400, "the body has more than one length");
  if (!takes_body(request)) return std::nullopt;
  if (request.has_header("Content-Encoding"))
    return error_reply(415, "the body must not be compressed");
  if (has_body(request) &&
      !request.get_header_value("Content-Type").starts_with("application/json"))
    return error_reply(415, "the body must be application/json");
  if (request.get_header_value<uint64_t>("Content-Length") > max_body)
    return error_reply(413, fmt::format("the body is too large: at most {} bytes", max_body));
  if (!request.has_header("Transfer-Encoding") && !request.has_header("Content-Length"))
    return error_reply(411, "the body has no length");
  return std::nullopt;
}

const char* error_sentence(int status) {
  switch (status) {
    case 400:
      return "the request is malformed";
    case 404:
      return "there is nothing at this path";
    case 413:
      return "the body is too large";
    case 414:
      return "the path is too long";
    case 416:
      return "the range is malformed";
    default:
      return "the request cannot be answered";
  }
}

void add_common_headers(httplib::Response& response) {
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  if (!response.has_header("Cache-Control")) response.set_header("Cache-Control", "no-store");
}

void fill_response(Reply reply, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  add_common_headers(response);
  if (!reply.stream) {
    if (reply.status != 204) response.set_content(std::move(reply.body), reply.type);
    return;
  }
  t_current.channel->set_endless();
  response.set_chunked_content_provider(
      reply.type, [stream = std::move(reply.stream)](size_t, httplib::DataSink& sink) {
        bool is_open = true;
        stream([&](std::string_view piece) {
          is_open = is_open && sink.is_writable() && sink.write(piece.data(), piece.size());
          return is_open;
        });
        if (is_open) sink.done();
        return is_open;
      });
}

}  // namespace

class HttpServer::Impl : public httplib::Server {
 public:
  Impl(const HttpOptions& options, serve::Handler handle)
      : connections_(options.connections), handle_(std::move(handle)), max_body_(options.max_body) {
    pool_ = std::make_unique<Pool>(connections_);
    new_task_queue = [this] { return pool_.release(); };  // cpp-httplib deletes it
    set_payload_max_length(options.max_body);
    set_tcp_nodelay(true);
    // What answers promise; the loop below keeps it.
    set_keep_alive_timeout(static_cast<time_t>(options.connections.idle_seconds));
    set_keep_alive_max_count(1'000'000);
    set_socket_options([this](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      socket_ = socket;
    });
    declare_handlers();
    port_ = options.port == 0 ? bind_to_any_port("127.0.0.1")
                              : (bind_to_port("127.0.0.1", options.port) ? options.port : -1);
    if (port_ <= 0)
      throw IoError(
          fmt::format("port {} of 127.0.0.1 cannot be used: {}; choose another with --port",
                      options.port, std::strerror(errno)));
    ::listen(socket_, kBacklog);  // again, with a longer queue
    access_ = std::make_unique<Access>(make_token(), port_);
  }

  int port() const { return port_; }
  Access& access() const { return *access_; }

  void run() {
    if (!is_stopping_) listen_after_bind();
  }

  void stop_all() {
    is_stopping_ = true;
    connections_.close_all();
    ::shutdown(socket_, SHUT_RDWR);  // ends the accepting loop, whether it has begun or not
  }

  bool is_stopping() const { return is_stopping_; }

 private:
  void declare_handlers() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      std::optional<Reply> refusal = access_->refuse(access_request(request));
      if (!refusal) refusal = refuse_form(request, max_body_);
      if (refusal)
        fill_response(std::move(*refusal), response);
      else if (takes_body(request))
        return HandlerResponse::Unhandled;
      else
        answer(request, response);
      t_current.leaves_body = has_body(request);
      return HandlerResponse::Handled;
    });
    const auto take = [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
    };
    Post("/.*", take);
    Patch("/.*", take);
    set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty())
        fill_response(error_reply(response.status, error_sentence(response.status)), response);
      return HandlerResponse::Handled;
    }));
  }

  // Calls the handler; whatever it throws becomes an answer.
  void answer(const httplib::Request& from, httplib::Response& response) {
    t_current.connections->set_busy(t_current.handle, true);
    Request request{.method = from.method == "HEAD" ? "GET" : from.method,
                    .path = from.path,
                    .query = {},
                    .body = from.body};
    for (const auto& [name, value] : from.params) request.query.emplace(name, value);
    Reply reply;
    try {
      reply = handle_(request);
    } catch (const RequestError& error) {
      reply = error_reply(error.status, error.sentence);
    } catch (const InvalidArgument& error) {
      reply = error_reply(400, error.what());
    } catch (const Error& error) {
      reply = error_reply(503, error.what());
    } catch (const std::exception& error) {
      reply = error_reply(500, fmt::format("internal error: {}", error.what()));
    }
    if (request.path == "/" && reply.status == 200)
      reply.headers.emplace_back("Set-Cookie", access_->cookie());
    fill_response(std::move(reply), response);
  }

  // The loop over the requests of one connection; replaces cpp-httplib's, which has no deadlines.
  bool process_and_close_socket(socket_t socket) override {
    const Connections::Handle handle = connections_.open(socket);
    Channel channel(socket, connections_.limits());
    ChannelStream stream(channel);
    t_current = {&connections_, handle, &channel, false};
    bool is_last = false;
    while (!is_last && !is_stopping_ && channel.wait_for_request()) {
      bool is_closed = false;
      const auto prepare = [&](httplib::Request& request) {
        request.headers.erase("Accept-Encoding");  // nothing is gained on one machine
        request.ranges.clear();
      };
      const bool is_done = process_request(stream, false, is_closed, prepare);
      is_last = !is_done || is_closed || t_current.leaves_body;
      connections_.set_busy(handle, false);
    }
    if (t_current.leaves_body) channel.drain();
    connections_.close(handle);
    return true;
  }

  Connections connections_;
  serve::Handler handle_;
  size_t max_body_;
  socket_t socket_ = -1;
  int port_ = -1;
  std::unique_ptr<Pool> pool_;  // until cpp-httplib takes it
  std::unique_ptr<Access> access_;
  std::atomic<bool> is_stopping_ = false;
};

HttpServer::HttpServer(const HttpOptions& options, Handler handle)
    : impl_(std::make_unique<Impl>(options, std::move(handle))) {}

HttpServer::~HttpServer() { stop(); }
int HttpServer::port() const { return impl_->port(); }
std::string HttpServer::address() const { return impl_->access().address(); }
std::string HttpServer::one_time_address() { return impl_->access().one_time_address(); }
void HttpServer::run() { impl_->run(); }
void HttpServer::stop() { impl_->stop_all(); }
bool HttpServer::is_stopping() const { return impl_->is_stopping(); }

}  // namespace milieu::serve
