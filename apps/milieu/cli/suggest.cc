// SPDX-License-Identifier: Apache-2.0
#include "cli/suggest.h"

#include <algorithm>

namespace milieu::cli {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t rows = a.size() + 1;
  const size_t cols = b.size() + 1;
  std::vector<int> cost(rows * cols);
  for (size_t i = 0; i < rows; ++i) cost[i * cols] = static_cast<int>(i);
  for (size_t j = 0; j < cols; ++j) cost[j] = static_cast<int>(j);
  for (size_t i = 1; i < rows; ++i) {
    for (size_t j = 1; j < cols; ++j) {
      const int replaced = cost[(i - 1) * cols + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      const int deleted = cost[(i - 1) * cols + j] + 1;
      const int inserted = cost[i * cols + j - 1] + 1;
      int best = std::min({replaced, deleted, inserted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, cost[(i - 2) * cols + j - 2] + 1);
      cost[i * cols + j] = best;
    }
  }
  return cost.back();
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  int nearest_distance = static_cast<int>(word.size()) / 3 + 1;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    if (distance < nearest_distance ||
        (distance == nearest_distance && nearest.empty() && distance < 3)) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  if (!nearest.empty()) return nearest;
  const std::string_view core = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (core.size() < 3) return {};
  for (const std::string& candidate : candidates)
    if (candidate.find(core) != std::string::npos) return candidate;
  return {};
}

}  // namespace milieu::cli
