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

}  // namespace milieu::cli
