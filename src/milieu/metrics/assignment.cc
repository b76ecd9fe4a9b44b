// SPDX-License-Identifier: Apache-2.0
// Problem: given profits p_ij, choose a one-to-one assignment of all rows to columns (rows <= cols)
//          whose sum of profits is largest; the other case is solved on the transposed table.
// Given:   costs c_ij = -p_ij.
// Find:    the assignment, and duals u_i, v_j with u_i + v_j <= c_ij, equal on assigned pairs.
// Symbols: u, v duals; reduced cost c_ij - u_i - v_j >= 0.
// Method:  one row after another; a shortest path in reduced costs (Dijkstra without a heap, since
//          the table is dense) leads from the new row to a free column, the assignment alternates
//          along it. O(rows^2 cols). (Kuhn 1955; Jonker and Volgenant 1987.)
// Conventions: all arithmetic is in whole numbers, so the sum is exactly the largest. Among nearest
//          columns a free one is preferred, then the lowest index.
#include "milieu/base/counted.h"
#include "milieu/metrics/assignment_internal.h"

#include <fmt/format.h>

#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/metrics/metrics.h"

namespace milieu {

namespace internal {
namespace {

constexpr Wide kUnreached = (Wide{1} << 126) - 1 + (Wide{1} << 126);

// Entries of the table, seen with at most as many rows as columns.
class Costs {
 public:
  Costs(std::span<const int64_t> profit, int rows, int cols, std::span<const Wide> column_weights)
      : profit_(profit),
        weights_(column_weights),
        cols_(cols),
        is_transposed_(rows > cols),
        num_rows_(is_transposed_ ? cols : rows),
        num_cols_(is_transposed_ ? rows : cols) {}

  int num_rows() const { return num_rows_; }
  int num_cols() const { return num_cols_; }
  bool is_transposed() const { return is_transposed_; }

  Wide operator()(int row, int col) const {
    const int i = is_transposed_ ? col : row;
    const int j = is_transposed_ ? row : col;
    const Wide profit = profit_[static_cast<size_t>(i) * cols_ + j];
    return weights_.empty() ? -profit : -profit * weights_[j];
  }

 private:
  std::span<const int64_t> profit_;
  std::span<const Wide> weights_;
  int cols_;
  bool is_transposed_;
  int num_rows_;
  int num_cols_;
};

class Solver {
 public:
  explicit Solver(const Costs& costs)
      : costs_(costs),
        u_(costs.num_rows(), 0),
        v_(costs.num_cols(), 0),
        col_from_row_(costs.num_rows(), -1),
        row_from_col_(costs.num_cols(), -1),
        distance_(costs.num_cols()),
        parent_(costs.num_cols()),
        is_settled_(costs.num_cols()) {}

  void run() {
    for (int row = 0; row < costs_.num_rows(); ++row) {
      const int sink = find_free_column(row);
      update_duals(row, distance_[sink]);
      flip_path(row, sink);
    }
  }

  const std::vector<int>& col_from_row() const { return col_from_row_; }
  const std::vector<int>& row_from_col() const { return row_from_col_; }

 private:
  // Dijkstra from `start` until the nearest free column is settled; returns that column.
  int find_free_column(int start) {
    distance_.assign(distance_.size(), kUnreached);
    is_settled_.assign(is_settled_.size(), 0);
    Wide reached = 0;
    int row = start;
    while (true) {
      relax(row, reached);
      const int col = nearest_open_column();
      reached = distance_[col];
      is_settled_[col] = 1;
      row = row_from_col_[col];
      if (row < 0) return col;
    }
  }

  void relax(int row, Wide reached) {
    for (int col = 0; col < costs_.num_cols(); ++col) {
      if (is_settled_[col]) continue;
      const Wide through = reached + costs_(row, col) - u_[row] - v_[col];
      if (through < distance_[col]) {
        distance_[col] = through;
        parent_[col] = row;
      }
    }
  }

  int nearest_open_column() const {
    int best = -1;
    for (int col = 0; col < costs_.num_cols(); ++col) {
      if (is_settled_[col]) continue;
      const bool is_nearer = best < 0 || distance_[col] < distance_[best];
      const bool is_free_tie = best >= 0 && distance_[col] == distance_[best] &&
                               row_from_col_[col] < 0 && row_from_col_[best] >= 0;
      if (is_nearer || is_free_tie) best = col;
    }
    MILIEU_ASSERT(best >= 0);  // there are at least as many columns as rows
    return best;
  }

  // Keeps reduced costs >= 0 and makes them 0 along the path found.
  void update_duals(int start, Wide length) {
    u_[start] += length;
    for (int col = 0; col < costs_.num_cols(); ++col) {
      if (!is_settled_[col]) continue;
      const Wide slack = length - distance_[col];
      v_[col] -= slack;
      if (row_from_col_[col] >= 0) u_[row_from_col_[col]] += slack;
    }
  }

  void flip_path(int start, int sink) {
    int col = sink;
    int row = -1;
    while (row != start) {
      row = parent_[col];
      row_from_col_[col] = row;
      std::swap(col_from_row_[row], col);
    }
  }

  const Costs& costs_;
  std::vector<Wide> u_, v_;
  std::vector<int> col_from_row_, row_from_col_;
  std::vector<Wide> distance_;  // of each column from the new row, in reduced costs
  std::vector<int> parent_;     // row before each column on its shortest path
  std::vector<char> is_settled_;
};

}  // namespace

std::vector<int> weighted_assignment(std::span<const int64_t> profit, int rows, int cols,
                                     std::span<const Wide> column_weights) {
  const Costs costs(profit, rows, cols, column_weights);
  Solver solver(costs);
  solver.run();
  return costs.is_transposed() ? solver.row_from_col() : solver.col_from_row();
}

}  // namespace internal

std::vector<int> maximum_assignment(std::span<const int64_t> profit, int rows, int cols) {
  require(rows >= 0 && cols >= 0 &&
              profit.size() == static_cast<size_t>(rows) * static_cast<size_t>(cols),
          [&] {
            return fmt::format("profit has {}, must have rows x cols = {} x {}",
                               counted(profit.size(), "entry", "entries"), rows, cols);
          });
  return internal::weighted_assignment(profit, rows, cols, {});
}

}  // namespace milieu
