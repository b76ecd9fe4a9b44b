// SPDX-License-Identifier: Apache-2.0
// The problems of `milieu reproduce cac held-out`: several views of the same samples.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

struct ViewProblem {
  std::vector<Matrix<float>> views;
  std::vector<int> classes;
};

struct NamedProblem {
  std::string name;
  bool has_chosen = false;  // defaults of cac were chosen with it, or with close relatives
  std::function<ViewProblem()> load;
};

// Names all files before it returns.
std::vector<NamedProblem> view_problems(ReproduceRun& run);

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
