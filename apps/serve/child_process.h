// SPDX-License-Identifier: Apache-2.0
// A child process whose stderr we read line by line. When this program dies, however it dies, the
// child finds its stderr closed: `milieu --progress-json` then stops and keeps what is valid.
// (PR_SET_PDEATHSIG would not do: the signal comes once for each thread of the dying parent, and
// the second one means "quit at once".)
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace milieu::serve {

class ChildProcess {
 public:
  // Starts `arguments` ([0] is the program's path) in its own process group, with stdin and
  // stdout closed. Throws IoError.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Hands over whole lines until the child has ended; `on_line` gets an empty line about ten times
  // a second as well, so that it can check for other work. Returns the exit code, 128 + N for
  // signal N.
  int wait(const std::function<void(const std::string& line)>& on_line);
  void send_signal(int signal);

 private:
  int collect();

  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace milieu::serve
