// SPDX-License-Identifier: Apache-2.0
// Shares of words in patches: Eq. 5, and Eq. 14 with its Markov random field on the grid.
#include <algorithm>
#include <array>
#include <cmath>

#include "milieu/dlgmm/dlgmm_loops.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {

namespace {

// Softmax of scores + gamma extra (dense, by word) into phi and log_phi of patch i; returns the
// largest move of a phi.
double set_shares(PatchShares& s, int64_t i, const std::vector<double>& extra, double gamma) {
  const int64_t begin = s.first[i];
  const int64_t count = s.first[i + 1] - begin;
  double* log_phi = s.log_phi.data() + begin;
  double* phi = s.phi.data() + begin;
  s.old_phi.assign(phi, phi + count);
  for (int64_t a = 0; a < count; ++a)
    log_phi[a] = s.scores[begin + a] + gamma * extra[s.words[begin + a]];
  MILIEU_SELECT_ISA(dlgmm_softmax)(log_phi, count, phi, log_phi);
  double moved = 0;
  for (int64_t a = 0; a < count; ++a) moved = std::max(moved, std::abs(phi[a] - s.old_phi[a]));
  return moved;
}

// The up to four or eight neighbours of a cell, as patch indices.
struct Neighbors {
  std::array<int64_t, 8> cells{};
  int count = 0;
};

Neighbors neighbors_of(int64_t begin, int64_t rows, int64_t cols, int64_t row, int64_t col,
                       bool has_diagonals) {
  Neighbors n;
  const int64_t cell = begin + row * cols + col;
  if (row > 0) n.cells[n.count++] = cell - cols;
  if (col > 0) n.cells[n.count++] = cell - 1;
  if (col + 1 < cols) n.cells[n.count++] = cell + 1;
  if (row + 1 < rows) n.cells[n.count++] = cell + cols;
  if (!has_diagonals) return n;
  if (row > 0 && col > 0) n.cells[n.count++] = cell - cols - 1;
  if (row > 0 && col + 1 < cols) n.cells[n.count++] = cell - cols + 1;
  if (row + 1 < rows && col > 0) n.cells[n.count++] = cell + cols - 1;
  if (row + 1 < rows && col + 1 < cols) n.cells[n.count++] = cell + cols + 1;
  return n;
}

void scatter(const PatchShares& s, int64_t i, double factor, std::vector<double>& dense) {
  for (int64_t a = s.first[i]; a < s.first[i + 1]; ++a) dense[s.words[a]] += factor * s.phi[a];
}

void clear(const PatchShares& s, int64_t i, std::vector<double>& dense) {
  for (int64_t a = s.first[i]; a < s.first[i + 1]; ++a) dense[s.words[a]] = 0;
}

// Updates the open cells of one colour and closes them; a cell that moves opens its neighbours.
// Returns whether there was an open cell.
bool sweep_color(PatchShares& s, int64_t begin, int64_t rows, int64_t cols, int color, double gamma,
                 CoherenceScratch& scratch) {
  constexpr double kTolerance = 1e-8;
  bool was_open = false;
  const bool has_diagonals = scratch.has_diagonals;
  for (int64_t row = has_diagonals ? color / 2 : 0; row < rows; row += has_diagonals ? 2 : 1)
    for (int64_t col = has_diagonals ? color % 2 : (row + color) % 2; col < cols; col += 2) {
      uint8_t& is_open = scratch.is_open[row * cols + col];
      if (!is_open) continue;
      is_open = 0;
      was_open = true;
      const Neighbors near = neighbors_of(begin, rows, cols, row, col, has_diagonals);
      for (int k = 0; k < near.count; ++k) scatter(s, near.cells[k], 1, scratch.dense);
      const double moved = set_shares(s, begin + row * cols + col, scratch.dense, gamma);
      for (int k = 0; k < near.count; ++k) {
        clear(s, near.cells[k], scratch.dense);
        if (moved >= kTolerance) scratch.is_open[near.cells[k] - begin] = 1;
      }
    }
  return was_open;
}

}  // namespace

void PatchShares::clear() { first.assign(1, 0); }

void update_shares(PatchShares& shares, int64_t begin, int64_t end) {
  shares.phi.resize(shares.first.back());
  shares.log_phi.resize(shares.first.back());
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = shares.first[i];
    MILIEU_SELECT_ISA(dlgmm_softmax)
    (shares.scores.data() + at, shares.first[i + 1] - at, shares.phi.data() + at,
     shares.log_phi.data() + at);
  }
}

int sweep_coherence(PatchShares& shares, int64_t begin, int64_t rows, int64_t cols, double gamma,
                    int max_sweeps, CoherenceScratch& scratch) {
  scratch.is_open.assign(rows * cols, 1);
  for (int sweep = 1; sweep <= max_sweeps; ++sweep) {
    bool was_open = false;
    for (int color = 0; color < (scratch.has_diagonals ? 4 : 2); ++color)
      was_open = sweep_color(shares, begin, rows, cols, color, gamma, scratch) || was_open;
    if (!was_open) return sweep;
  }
  return max_sweeps;
}

double neighbor_agreement(const PatchShares& shares, int64_t begin, int64_t rows, int64_t cols,
                          CoherenceScratch& scratch) {
  double sum = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      const int64_t i = begin + row * cols + col;
      scatter(shares, i, 1, scratch.dense);
      const Neighbors near = neighbors_of(begin, rows, cols, row, col, scratch.has_diagonals);
      for (int k = 0; k < near.count; ++k)
        if (const int64_t n = near.cells[k]; n > i)  // each pair once
          for (int64_t a = shares.first[n]; a < shares.first[n + 1]; ++a)
            sum += scratch.dense[shares.words[a]] * shares.phi[a];
      clear(shares, i, scratch.dense);
    }
  return sum;
}

GammaSlope coherence_slope(const PatchShares& shares, int64_t begin, int64_t rows, int64_t cols,
                           double gamma, DoubleView frequencies, std::span<const int> bands,
                           CoherenceScratch& scratch) {
  GammaSlope total;
  std::vector<int> words;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      const int64_t i = begin + row * cols + col;
      const Neighbors near = neighbors_of(begin, rows, cols, row, col, scratch.has_diagonals);
      words.clear();
      for (int k = 0; k < near.count; ++k) {
        scatter(shares, near.cells[k], 1, scratch.dense);
        words.insert(words.end(), shares.words.begin() + shares.first[near.cells[k]],
                     shares.words.begin() + shares.first[near.cells[k] + 1]);
      }
      double seen = 0;
      for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a)
        seen += shares.phi[a] * scratch.dense[shares.words[a]];
      // Words that no neighbour has count as exp(0).
      const std::span<const double> s = frequencies.row_span(bands[i - begin]);
      double mass = 1, first = 0, second = 0;
      for (const int v : words) {
        const double c = scratch.dense[v];
        if (c == 0) continue;  // taken already
        scratch.dense[v] = 0;
        const double weight = s[v] * std::exp(gamma * c);
        mass += weight - s[v];
        first += weight * c;
        second += weight * c * c;
      }
      first /= mass;
      total.slope += seen - first;
      total.curvature += second / mass - first * first;
    }
  return total;
}

double tight_log_z(std::span<const double> theta, double gamma, int64_t num_pairs) {
  const double log_sum = log_sum_exp(theta);
  double squares = 0;
  for (const double t : theta) squares += std::exp(2 * (t - log_sum));
  return 0.25 * static_cast<double>(num_pairs) * std::log1p(std::expm1(4 * gamma) * squares);
}

}  // namespace milieu::internal
