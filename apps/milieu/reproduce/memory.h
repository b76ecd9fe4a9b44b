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
  // Empty `path`: nothing is kept. `key` names the options that all figures depend on; a file with
  // another key is refused, as is a file that is not one of ours.
  ReproduceMemory(std::string path, std::string key);

  bool is_kept() const { return !path_.empty(); }
  // The figures of a step, if they are there. `data` is the fingerprint of the data they depend
  // on: figures of other data are an InvalidArgument.
  std::optional<std::vector<double>> find(const std::string& name, const std::string& data) const;
  // Adds a step and writes the file; may be called from any thread.
  void add(const std::string& name, const std::string& data, const std::vector<double>& figures);

 private:
  struct Piece {
    std::string data;
    std::vector<double> figures;
  };

  void read(const std::string& text);

  std::string path_, key_;
  mutable std::mutex mutex_;
  std::map<std::string, Piece> pieces_;
};

}  // namespace milieu::cli
