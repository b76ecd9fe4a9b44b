// SPDX-License-Identifier: Apache-2.0
// Which sample can represent which, at what cost: the problem of exemplar clustering as sparse
// lists. Row p holds the candidates q != p with d_pq, cheapest first; opening p itself always
// serves p at its penalty d_pp. See [Komodakis11, Eq. 1].
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/base/parallel.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// One row or column of the lists: samples with costs, cheapest first, ties lowest index first.
struct ServiceRun {
  const int* index = nullptr;
  const float* cost = nullptr;
  int64_t size = 0;
};

// Compressed rows with a transpose. Costs are float, all sums over them double.
struct ServiceLists {
  int64_t n = 0;
  std::vector<double> penalty;  // n: d_qq, what opening q costs
  // Row p, the candidates of p: server[begin[p]..begin[p+1]) with their costs. Those that cost
  // penalty[p] or more can never pay off and are not used.
  std::vector<int64_t> begin;
  std::vector<int> server;
  std::vector<float> cost;
  // Column q, the samples that list q: client[column_begin[q]..column_begin[q+1]). Empty when the
  // lists are symmetric: column q is then row q.
  std::vector<int64_t> column_begin;
  std::vector<int> client;
  std::vector<float> client_cost;
  bool is_symmetric = false;
  // A candidate that row p does not list costs at least cap[p]. Lists are complete for p when
  // cap[p] >= penalty[p]: serving p at its penalty or more never beats opening p.
  std::vector<double> cap;

  bool is_complete() const;
  int64_t num_entries() const { return static_cast<int64_t>(server.size()); }
  ServiceRun row(int64_t p) const {
    return {server.data() + begin[p], cost.data() + begin[p], begin[p + 1] - begin[p]};
  }
  ServiceRun column(int64_t q) const {
    if (is_symmetric) return row(q);
    return {client.data() + column_begin[q], client_cost.data() + column_begin[q],
            column_begin[q + 1] - column_begin[q]};
  }
};

// One entry of lists given by the caller: q can represent p at cost d_pq.
struct ServiceEntry {
  int p = 0;
  int q = 0;
  float cost = 0;
};

// From rows of costs computed on demand: `fill(block, out)` writes the costs of serving the block's
// samples by all samples into out (block.size() x n). Keeps the entries below penalty[p], and of
// these only the `num_kept` cheapest when num_kept > 0 (cap[p] is then the first cost left out).
// `is_symmetric` promises that the costs are symmetric to the last bit: with equal penalties half
// the memory is enough. Throws InvalidArgument on NaN and -infinity; +infinity means "cannot
// serve".
using FillCosts = std::function<void(const Block& rows, MatrixView<float> out)>;
ServiceLists lists_from_rows(int64_t n, std::span<const double> penalty, int num_kept,
                             int num_threads, Monitor& monitor, const FillCosts& fill,
                             bool is_symmetric = false);

// From a square cost matrix, [p, q] = cost of serving p by q; the diagonal is ignored. Keeps the
// entries below penalty[p]. Throws as lists_from_rows, and when the matrix is not square.
ServiceLists lists_from_matrix(FloatView costs, std::span<const double> penalty, int num_threads,
                               Monitor& monitor);

// From entries in any order; a repeated pair keeps the smaller cost. `cap` empty: pairs that are
// not listed are impossible (cap is infinite).
ServiceLists lists_from_entries(int64_t n, std::vector<ServiceEntry> entries,
                                std::span<const double> penalty, std::vector<double> cap);

// The same lists in which candidates q with is_closed[q] serve only themselves. Empty when the
// monitor stopped it.
ServiceLists without_candidates(const ServiceLists& lists, const std::vector<char>& is_closed,
                                const Monitor& monitor = silent_monitor());

// Bytes that lists of this many entries take.
int64_t estimate_list_bytes(int64_t n, int64_t num_entries, bool is_symmetric = false);

}  // namespace milieu
