// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/network/trial_internal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "milieu/base/error.h"

namespace milieu::internal {
namespace {

constexpr int kPollMilliseconds = 50;
constexpr size_t kMostAnswer = 1 << 20;  // bytes

// Bytes of address space that this process uses.
int64_t address_space() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

void limit(int resource, int64_t amount) {
  rlimit limits = {};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limits);
  limits.rlim_cur = std::min(static_cast<rlim_t>(amount), limits.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

// Never returns. The first byte of the answer says whether the work succeeded.
[[noreturn]] void run_child(int fd, const std::function<std::string()>& work,
                            const TrialLimits& limits) {
  for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    ::signal(number, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO), ::dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, address_space() + limits.memory);
  try {
    write_all(fd, "+" + work());
  } catch (const std::bad_alloc&) {
    write_all(fd, "-std::bad_alloc");
  } catch (const std::exception& error) {
    write_all(fd, std::string("-") + error.what());
  }
  ::_exit(0);
}

// The parent's side: the child is ended and waited for whatever happens.
class Child {
 public:
  Child(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // True when there was nothing more to read.
  bool read_some(std::string& text) const {
    pollfd waiting = {fd_, POLLIN, 0};
    if (::poll(&waiting, 1, kPollMilliseconds) <= 0) return false;
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
    if (count > 0 && text.size() < kMostAnswer)
      text.append(buffer.data(), static_cast<size_t>(count));
    return count == 0 || (count < 0 && errno != EINTR);
  }

  // What waitpid says. `at_once`: without letting it finish.
  int end(bool at_once = true) {
    if (pid_ < 0) return status_;
    if (at_once) ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ::close(fd_);
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  int fd_;
  int status_ = 0;
};

TrialResult read_answer(Child& child, const TrialLimits& limits, const Monitor& monitor) {
  using Kind = TrialResult::Kind;
  const auto end = Monitor::Clock::now() + std::chrono::duration<double>(limits.seconds);
  std::string text;
  while (!child.read_some(text)) {
    if (monitor.should_stop()) return {Kind::Stopped, ""};
    if (Monitor::Clock::now() > end)
      return {Kind::TooSlow, fmt::format("{:g} seconds", limits.seconds)};
  }
  const int status = child.end(false);
  if (WIFSIGNALED(status)) {
    if (monitor.should_stop()) return {Kind::Stopped, ""};
    return {Kind::Crashed, ::strsignal(WTERMSIG(status))};
  }
  if (text.empty()) return {Kind::Crashed, "it ended early"};
  return {text[0] == '+' ? Kind::Done : Kind::Failed, text.substr(1)};
}

}  // namespace

TrialResult try_in_child(const std::function<std::string()>& work, const TrialLimits& limits,
                         const Monitor& monitor) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw IoError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    run_child(ends[1], work, limits);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    throw IoError(fmt::format("a process cannot be started: {}", std::strerror(errno)));
  }
  Child child(pid, ends[0]);
  return read_answer(child, limits, monitor);
}

}  // namespace milieu::internal
