// SPDX-License-Identifier: Apache-2.0
// The open connections of the server, and a socket with deadlines. There is a thread for each
// connection, so their number is limited: when it is reached, the one that has waited longest
// without a whole request is closed. A slow client therefore costs at most one place for a few
// seconds, and no number of them keeps an honest one out.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>

namespace milieu::serve {

struct ConnectionLimits {
  size_t max_connections = 256;
  double idle_seconds = 20;     // between two requests
  double request_seconds = 10;  // from the first byte of a request to its last
  double write_seconds = 10;    // a reader that takes nothing for this long is gone
  double answer_seconds = 120;  // for a whole answer; streams have no such limit
};

using Clock = std::chrono::steady_clock;

class Connections {
 public:
  explicit Connections(ConnectionLimits limits) : limits_(limits) {}

  struct Connection {
    int socket = -1;
    bool is_busy = false;  // a whole request has come and is being answered
    Clock::time_point since = Clock::now();
  };
  using Handle = std::list<Connection>::iterator;

  // Called for each new connection before a thread takes it up: closes the oldest waiting one when
  // there are too many.
  void make_room();
  Handle open(int socket);    // a thread has taken it up
  void close(Handle handle);  // and closes the socket
  void set_busy(Handle handle, bool is_busy);
  void close_all();  // wakes every thread: the server stops
  size_t size() const;
  const ConnectionLimits& limits() const { return limits_; }

 private:
  ConnectionLimits limits_;
  mutable std::mutex mutex_;
  std::list<Connection> open_;
  size_t num_waiting_ = 0;  // accepted, no thread yet
  bool is_closing_ = false;
};

// Reads and writes of one connection; every wait has an end.
class Channel {
 public:
  Channel(int socket, const ConnectionLimits& limits) : socket_(socket), limits_(limits) {}

  // Waits for the first byte of the next request; false when none comes.
  bool wait_for_request();
  // As recv: bytes read, 0 at the end, -1 when the time is over.
  ssize_t read(char* data, size_t size);
  // As send: bytes written, -1 when the reader has gone or takes nothing.
  ssize_t write(const char* data, size_t size);
  bool is_readable() const;
  bool is_alive() const;  // the other side has not closed
  // Takes what the other side is still sending, for a moment: closing at once would discard the
  // answer on its way.
  void drain();
  // The answer is a stream: it may take as long as it likes.
  void set_endless() { answer_until_ = Clock::time_point::max(); }
  int socket() const { return socket_; }

 private:
  bool fill(Clock::time_point until);

  int socket_;
  const ConnectionLimits& limits_;
  std::string buffer_;
  size_t taken_ = 0;  // of the buffer
  Clock::time_point request_until_ = Clock::time_point::max();
  Clock::time_point answer_until_ = Clock::time_point::max();
};

}  // namespace milieu::serve
