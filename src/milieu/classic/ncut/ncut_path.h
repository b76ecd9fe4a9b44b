// SPDX-License-Identifier: Apache-2.0
// Normalized cuts of samples whose distances are given, into several numbers of parts: one
// eigenvalue problem, then k-means for each number. The problem and the symbols are those of
// ncut.h.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/classic/ncut/ncut.h"

namespace MILIEU_API milieu {

struct CutPath {
  int first = 0;                         // number of parts of labels[0]
  std::vector<std::vector<int>> labels;  // of first, first + 1, ... parts; empty if stopped
  std::vector<double> gaps;  // of as many: by how much the k-th eigenvalue exceeds the next one

  int last() const { return first + static_cast<int>(labels.size()) - 1; }
};

// Cuts into `first` to `last` parts, 1 <= first <= last <= n. squared_distances is n x n, not
// necessarily symmetric (the mean of both directions is used); the diagonal is not read. Of the
// options, num_clusters and max_memory_gb are not used, and num_neighbors must be above 0. A graph
// of more than `last` components is joined to more neighbours; one of more than `first` begins
// with one part per component.
CutPath cut_path(FloatView squared_distances, int first, int last, const NcutOptions& options,
                 Monitor& monitor = silent_monitor());

}  // namespace milieu
