// SPDX-License-Identifier: Apache-2.0
// The table of cac beside its baselines.
#pragma once

#include <string>
#include <vector>

#include "reproduce/reproduce.h"

namespace milieu::cli {

// Mean errors of several methods over problems, and what a paired test says about the last one.
class ErrorTable {
 public:
  ErrorTable(std::string name, std::string title, std::vector<std::string> methods);
  // One row; `figures` has an error and the CPU seconds of each method.
  void add(const std::string& name, bool has_chosen, const std::vector<double>& figures);
  void show(const ReproduceRun& run, std::vector<std::string> notes) const;

 private:
  std::vector<std::vector<std::string>> summary_rows(bool has_chosen) const;

  std::string name_, title_;
  std::vector<std::string> methods_, names_;
  std::vector<bool> has_chosen_;
  std::vector<std::vector<double>> errors_, seconds_;  // problems x methods
};

}  // namespace milieu::cli
