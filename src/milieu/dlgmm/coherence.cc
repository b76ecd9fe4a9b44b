// SPDX-License-Identifier: Apache-2.0
// Shares of words in patches: Eq. 5, and Eq. 14 with its Markov random field.
#include <algorithm>
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

// The neighbours of a cell of the image, as patches of the shares, into scratch.near.
void find_neighbors(const Neighborhood& hood, int64_t cell, CoherenceScratch& scratch) {
  std::vector<int64_t>& near = scratch.near;
  near.clear();
  if (!hood.first.empty()) {
    for (int64_t k = hood.first[cell]; k < hood.first[cell + 1]; ++k)
      near.push_back(hood.begin + hood.list[k]);
    return;
  }
  const int64_t rows = hood.rows, cols = hood.cols, row = cell / cols, col = cell % cols;
  const int64_t at = hood.begin + cell;
  if (row > 0) near.push_back(at - cols);
  if (col > 0) near.push_back(at - 1);
  if (col + 1 < cols) near.push_back(at + 1);
  if (row + 1 < rows) near.push_back(at + cols);
  if (!scratch.has_diagonals) return;
  if (row > 0 && col > 0) near.push_back(at - cols - 1);
  if (row > 0 && col + 1 < cols) near.push_back(at - cols + 1);
  if (row + 1 < rows && col > 0) near.push_back(at + cols - 1);
  if (row + 1 < rows && col + 1 < cols) near.push_back(at + cols + 1);
}

void scatter(const PatchShares& s, int64_t i, double factor, std::vector<double>& dense) {
  for (int64_t a = s.first[i]; a < s.first[i + 1]; ++a) dense[s.words[a]] += factor * s.phi[a];
}

void clear(const PatchShares& s, int64_t i, std::vector<double>& dense) {
  for (int64_t a = s.first[i]; a < s.first[i + 1]; ++a) dense[s.words[a]] = 0;
}

// Updates a cell if it is open and closes it; if it moves, its neighbours open. Returns whether it
// was open.
bool update_cell(PatchShares& s, const Neighborhood& hood, int64_t cell, double gamma,
                 CoherenceScratch& scratch) {
  constexpr double kTolerance = 1e-8;
  uint8_t& is_open = scratch.is_open[cell];
  if (!is_open) return false;
  is_open = 0;
  find_neighbors(hood, cell, scratch);
  for (const int64_t near : scratch.near) scatter(s, near, 1, scratch.dense);
  const double moved = set_shares(s, hood.begin + cell, scratch.dense, gamma);
  for (const int64_t near : scratch.near) {
    clear(s, near, scratch.dense);
    if (moved >= kTolerance) scratch.is_open[near - hood.begin] = 1;
  }
  return true;
}

// The cells of one colour. Returns whether there was an open one.
bool sweep_color(PatchShares& s, const Neighborhood& hood, int color, double gamma,
                 CoherenceScratch& scratch) {
  bool was_open = false;
  const bool has_diagonals = scratch.has_diagonals;
  for (int64_t row = has_diagonals ? color / 2 : 0; row < hood.rows; row += has_diagonals ? 2 : 1)
    for (int64_t col = has_diagonals ? color % 2 : (row + color) % 2; col < hood.cols; col += 2)
      was_open = update_cell(s, hood, row * hood.cols + col, gamma, scratch) || was_open;
  return was_open;
}

bool sweep_once(PatchShares& s, const Neighborhood& hood, double gamma, CoherenceScratch& scratch) {
  bool was_open = false;
  if (!hood.first.empty()) {
    for (int64_t cell = 0; cell < hood.size(); ++cell)
      was_open = update_cell(s, hood, cell, gamma, scratch) || was_open;
    return was_open;
  }
  for (int color = 0; color < (scratch.has_diagonals ? 4 : 2); ++color)
    was_open = sweep_color(s, hood, color, gamma, scratch) || was_open;
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

int64_t Neighborhood::num_pairs(bool has_diagonals) const {
  if (first.empty()) return num_neighbors(rows, cols, has_diagonals);
  return (first.back() - first.front()) / 2;
}

int sweep_coherence(PatchShares& shares, const Neighborhood& hood, double gamma, int max_sweeps,
                    CoherenceScratch& scratch) {
  scratch.is_open.assign(hood.size(), 1);
  for (int sweep = 1; sweep <= max_sweeps; ++sweep)
    if (!sweep_once(shares, hood, gamma, scratch)) return sweep;
  return max_sweeps;
}

double neighbor_agreement(const PatchShares& shares, const Neighborhood& hood,
                          CoherenceScratch& scratch) {
  double sum = 0;
  for (int64_t cell = 0; cell < hood.size(); ++cell) {
    const int64_t i = hood.begin + cell;
    scatter(shares, i, 1, scratch.dense);
    find_neighbors(hood, cell, scratch);
    for (const int64_t n : scratch.near)
      if (n > i)  // each pair once
        for (int64_t a = shares.first[n]; a < shares.first[n + 1]; ++a)
          sum += scratch.dense[shares.words[a]] * shares.phi[a];
    clear(shares, i, scratch.dense);
  }
  return sum;
}

GammaSlope coherence_slope(const PatchShares& shares, const Neighborhood& hood, double gamma,
                           DoubleView frequencies, std::span<const int> bands,
                           CoherenceScratch& scratch) {
  GammaSlope total;
  std::vector<int> words;
  for (int64_t cell = 0; cell < hood.size(); ++cell) {
    const int64_t i = hood.begin + cell;
    find_neighbors(hood, cell, scratch);
    words.clear();
    for (const int64_t near : scratch.near) {
      scatter(shares, near, 1, scratch.dense);
      words.insert(words.end(), shares.words.begin() + shares.first[near],
                   shares.words.begin() + shares.first[near + 1]);
    }
    double seen = 0;
    for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a)
      seen += shares.phi[a] * scratch.dense[shares.words[a]];
    // Words that no neighbour has count as exp(0).
    const std::span<const double> s = frequencies.row_span(bands[cell]);
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
