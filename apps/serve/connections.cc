// SPDX-License-Identifier: Apache-2.0
#include "serve/connections.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace milieu::serve {

namespace {

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

// Waits until the socket has `events`, at most until `until`.
bool wait_for(int socket, short events, Clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left < 0) return false;
    pollfd entry{.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::min<int64_t>(left + 1, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

void Connections::make_room() {
  const std::lock_guard lock(mutex_);
  ++num_waiting_;
  if (open_.size() + num_waiting_ <= limits_.max_connections) return;
  auto oldest = open_.end();
  for (auto it = open_.begin(); it != open_.end(); ++it)
    if (!it->is_busy && (oldest == open_.end() || it->since < oldest->since)) oldest = it;
  if (oldest == open_.end()) return;
  ::shutdown(oldest->socket, SHUT_RDWR);  // its thread wakes and closes it
  oldest->is_busy = true;                 // not chosen twice
}

Connections::Handle Connections::open(int socket) {
  const std::lock_guard lock(mutex_);
  if (num_waiting_ > 0) --num_waiting_;
  if (is_closing_) ::shutdown(socket, SHUT_RDWR);
  return open_.insert(open_.end(), Connection{.socket = socket});
}

void Connections::close(Handle handle) {
  const std::lock_guard lock(mutex_);
  ::shutdown(handle->socket, SHUT_RDWR);
  ::close(handle->socket);
  open_.erase(handle);
}

void Connections::set_busy(Handle handle, bool is_busy) {
  const std::lock_guard lock(mutex_);
  handle->is_busy = is_busy;
  handle->since = Clock::now();
}

void Connections::close_all() {
  const std::lock_guard lock(mutex_);
  is_closing_ = true;
  for (const Connection& connection : open_) ::shutdown(connection.socket, SHUT_RDWR);
}

size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

bool Channel::wait_for_request() {
  const bool has_more = taken_ < buffer_.size();  // sent along with the one before
  if (!has_more && !fill(Clock::now() + seconds(limits_.idle_seconds))) return false;
  request_until_ = Clock::now() + seconds(limits_.request_seconds);
  answer_until_ = Clock::now() + seconds(limits_.answer_seconds);
  return true;
}

bool Channel::fill(Clock::time_point until) {
  if (!wait_for(socket_, POLLIN, until)) return false;
  buffer_.resize(16384);
  taken_ = 0;
  const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
  buffer_.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return got > 0;
}

ssize_t Channel::read(char* data, size_t size) {
  if (taken_ == buffer_.size() && !fill(request_until_)) return -1;
  const size_t count = std::min(size, buffer_.size() - taken_);
  std::memcpy(data, buffer_.data() + taken_, count);
  taken_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t Channel::write(const char* data, size_t size) {
  const auto until = std::min(answer_until_, Clock::now() + seconds(limits_.write_seconds));
  while (wait_for(socket_, POLLOUT, until)) {
    const ssize_t sent = send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    if (errno != EAGAIN && errno != EINTR) return -1;
  }
  return -1;
}

void Channel::drain() {
  ::shutdown(socket_, SHUT_WR);
  const Clock::time_point until = Clock::now() + seconds(1);
  while (fill(until)) {
  }
}

bool Channel::is_readable() const {
  return taken_ < buffer_.size() || wait_for(socket_, POLLIN, request_until_);
}

bool Channel::is_alive() const {
  char byte = 0;
  const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace milieu::serve
