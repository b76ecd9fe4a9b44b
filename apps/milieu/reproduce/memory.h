// SPDX-License-Identifier: Apache-2.0
// What a long experiment has finished: figures by name, in a file that is complete at any time, so
// that an interrupted `milieu reproduce` resumes where it was.
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
  // Empty `path`: nothing is kept. `key` is what the figures depend on; a file with another key is
  // refused, as is a file that is not one of ours.
  ReproduceMemory(std::string path, std::string key);

  std::optional<std::vector<double>> find(const std::string& name) const;
  // Adds a step and writes the file; may be called from any thread.
  void add(const std::string& name, const std::vector<double>& figures);

 private:
  std::string path_, key_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<double>> pieces_;
};

}  // namespace milieu::cli
