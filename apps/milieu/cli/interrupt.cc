// SPDX-License-Identifier: Apache-2.0
// The handler may do almost nothing, so it only wakes a thread (sem_post is allowed in a handler),
// and that thread raises the stop token or ends the program.
#include "cli/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace milieu::cli {

namespace {

sem_t g_wake;  // a handler can only reach what is global

extern "C" void on_signal(int) {
  const int saved = errno;
  sem_post(&g_wake);
  errno = saved;
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Straight to the descriptor: other threads may hold stdio's locks.
void say(const char* message) {
  if (isatty(STDERR_FILENO)) {
    constexpr char kClearLine[] = "\r\x1b[K";
    (void)!write(STDERR_FILENO, kClearLine, sizeof kClearLine - 1);
  }
  (void)!write(STDERR_FILENO, message, std::strlen(message));
}

}  // namespace

Interrupt::Interrupt() {
  sem_init(&g_wake, 0, 0);
  watcher_ = std::thread([this] { watch(); });
  // Also where the parent ignores SIGINT (a job in the background of a script): whoever sends the
  // signal to us means us.
  set_handler(on_signal);
}

Interrupt::~Interrupt() {
  set_handler(SIG_DFL);
  is_over_ = true;
  sem_post(&g_wake);
  watcher_.join();
  sem_destroy(&g_wake);
}

void Interrupt::watch() {
  while (true) {
    while (sem_wait(&g_wake) != 0) {
    }
    if (is_over_) return;
    if (keeping_ == 0 || was_requested()) {
      say(was_requested() ? "milieu: quit\n"
          : is_resumable_
              ? "milieu: interrupted; finished images are kept, the same command resumes\n"
              : "milieu: interrupted, nothing was written\n");
      _exit(130);
    }
    source_.request_stop();
    if (!is_quiet_ && isatty(STDERR_FILENO)) say("stopping; Ctrl-C again quits at once\n");
  }
}

}  // namespace milieu::cli
