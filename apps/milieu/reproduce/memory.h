// SPDX-License-Identifier: Apache-2.0
// What a long experiment has finished: figures by name, in a file that is whole at any moment, so
// that a stopped `milieu reproduce` goes on where it was.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace milieu::cli {

class ReproduceMemory {
 public:
  // `path` empty: nothing is kept. `key` says what the figures depend on; a file of another key is
  // refused, as is a file that is not one of ours.
  ReproduceMemory(std::string path, std::string key);

  std::optional<std::vector<double>> find(const std::string& name) const;
  // Adds a piece and writes the file; may be called from any thread.
  void add(const std::string& name, const std::vector<double>& figures);

 private:
  std::string path_, key_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<double>> pieces_;
};

}  // namespace milieu::cli
