// SPDX-License-Identifier: Apache-2.0
#include "serve/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "milieu/base/error.h"

namespace milieu::serve {

namespace {

constexpr size_t kMaxLine = 64 << 10;  // of one line of a child's output

// In the child between fork and exec: only calls that are allowed there.
[[noreturn]] void become(char* const* arguments, int error_pipe) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(error_pipe, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw IoError(fmt::format("cannot create a pipe for a new process: {}", std::strerror(errno)));
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) become(pointers.data(), ends[1]);
  const int reason = errno;
  ::close(ends[1]);
  pipe_ = ends[0];
  if (pid_ > 0) return;
  ::close(pipe_);
  throw IoError(fmt::format("{} cannot be started: {}", arguments[0], std::strerror(reason)));
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    send_signal(SIGKILL);
    collect();
  }
  if (pipe_ >= 0) ::close(pipe_);
}

void ChildProcess::send_signal(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

int ChildProcess::collect() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int ChildProcess::wait(const std::function<void(const std::string&)>& on_line) {
  std::string text;
  char piece[4096];
  while (true) {
    pollfd entry{.fd = pipe_, .events = POLLIN, .revents = 0};
    const int ready = poll(&entry, 1, 100);
    on_line("");
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(pipe_, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece, static_cast<size_t>(got));
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      if (end > 0) on_line(text.substr(0, end));
      text.erase(0, end + 1);
    }
    if (text.size() > kMaxLine) text.clear();
  }
  if (!text.empty()) on_line(text);
  return collect();
}

}  // namespace milieu::serve
