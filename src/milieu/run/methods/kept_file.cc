// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/kept_file.h"

#include <fmt/format.h>

#include <utility>

#include "milieu/base/error.h"

namespace milieu {

void KeptFile::save(const std::function<void()>& write) {
  std::string problem;
  try {
    write();
  } catch (const IoError& error) {
    problem = error.what();
  }
  if (!problem.empty() && problem_.empty())
    monitor_.on_note(fmt::format("{}: the run continues and tries again later", problem));
  problem_ = std::move(problem);
}

void KeptFile::report(RunSummary& summary) const {
  if (!problem_.empty())
    summary.warnings.push_back(fmt::format("progress was not kept to the end: {}", problem_));
}

}  // namespace milieu
