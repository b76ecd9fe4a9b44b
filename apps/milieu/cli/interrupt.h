// SPDX-License-Identifier: Apache-2.0
// Ctrl-C (SIGINT) and SIGTERM. Outside of Keeping the first signal ends the program with code 130:
// nothing has been written yet. Inside (a fit, the writing of its result) the first one only raises
// the stop token, so that what is valid is kept; the second one ends the program at once.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace milieu::cli {

class Interrupt {
 public:
  Interrupt();   // installs the handlers; one object per process
  ~Interrupt();  // puts the default handlers back
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Given to monitors; raised by a signal inside Keeping.
  std::stop_token token() const { return source_.get_token(); }
  bool was_requested() const { return source_.stop_requested(); }
  // No message when stopping; the exit code says it.
  void set_quiet(bool quiet) { is_quiet_ = quiet; }
  // While this is set, finished work is on disk at any time: the first signal ends the program at
  // once and says that the same command resumes.
  void set_resumable(bool resumable) { is_resumable_ = resumable; }

  // While one of these lives there is something worth keeping.
  class Keeping {
   public:
    explicit Keeping(Interrupt& interrupt) : interrupt_(interrupt) { ++interrupt_.keeping_; }
    ~Keeping() { --interrupt_.keeping_; }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;

   private:
    Interrupt& interrupt_;
  };

 private:
  void watch();

  std::stop_source source_;
  std::atomic<int> keeping_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_quiet_ = false;
  std::atomic<bool> is_resumable_ = false;
  std::thread watcher_;
};

}  // namespace milieu::cli
