// SPDX-License-Identifier: Apache-2.0
// The second layer: scores of words, statistics, Eqs. 9 and 10.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/dlgmm/dlgmm_loops.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/dlgmm/word_full_internal.h"

namespace milieu::internal {

namespace {

bool is_tied(const DlgmmModel& model) {
  return model.word_variances.rows() == 1 && model.num_words() > 1;
}

double variance_of(const DlgmmModel& model, int64_t word, int64_t r) {
  const int64_t row = model.word_variances.rows() == 1 ? 0 : word;
  return model.word_variances(row, model.word_variances.cols() == 1 ? 0 : r);
}

// -R/2 log 2 pi - 1/2 sum_r log delta2.
double log_constant(const DlgmmModel& model, int64_t word) {
  const int64_t dim = model.words.cols();
  double sum = static_cast<double>(dim) * std::log(2 * std::numbers::pi);
  for (int64_t r = 0; r < dim; ++r) sum += std::log(variance_of(model, word, r));
  return -0.5 * sum;
}

// The floats of word v: factors (R, then |x|^2's or the x^2's) and the constant.
void fill_float_scores(const DlgmmModel& model, int64_t v, bool is_free, WordScorer& s) {
  const int64_t dim = model.words.cols();
  float* factors = s.factors.row(v);
  double squares = 0;
  for (int64_t r = 0; r < dim; ++r) {
    const double inverse = s.beta / variance_of(model, v, r);
    const double w = model.words(v, r) - static_cast<double>(s.center[r]);
    factors[r] = static_cast<float>(w * inverse);
    squares += w * w * inverse;
    if (is_free) factors[s.is_diagonal ? dim + r : dim] = static_cast<float>(-0.5 * inverse);
  }
  s.float_constants[v] = s.constants[v] - 0.5 * squares;
}

int64_t num_factors(const WordScorer& s, int64_t dim, bool is_free) {
  if (!is_free) return dim;
  return s.is_full ? dim + dim * (dim + 1) / 2 : s.is_diagonal ? 2 * dim : dim + 1;
}

// sum phi (o - omega)^2 about the new omega, in one dimension.
double second_about(const WordStats& stats, DoubleView old_words, const DlgmmModel& model,
                    int64_t v, int64_t r) {
  const double moved = model.words(v, r) - old_words(v, r);
  const double shift = moved * (moved * stats.mass[v] - 2 * stats.first(v, r));
  return shift + (stats.second.cols() == 1 ? 0.0 : stats.second(v, r));
}

// The same over all dimensions.
double spread_of(const WordStats& stats, DoubleView old_words, const DlgmmModel& model, int64_t v) {
  double sum = stats.second.cols() == 1 ? stats.second(v, 0) : 0.0;
  for (int64_t r = 0; r < model.words.cols(); ++r)
    sum += second_about(stats, old_words, model, v, r);
  return sum;
}

// [Xie15, Eq. 10] for one row of the variances: of word v, or of all words when v is -1.
void update_variances(const WordStats& stats, DoubleView old_words, int64_t v, double floor,
                      DlgmmModel& model) {
  const int64_t first = v < 0 ? 0 : v;
  const int64_t last = v < 0 ? model.num_words() : v + 1;
  const int64_t dim = model.words.cols();
  if (stats.is_full) return update_full_variances(stats, old_words, first, last, floor, model);
  double mass = 0;
  for (int64_t w = first; w < last; ++w) mass += stats.mass[w];
  if (mass < kLightWord) return;
  double* row = model.word_variances.row(v < 0 ? 0 : v);
  if (model.word_variances.cols() == 1) {
    double sum = 0;
    for (int64_t w = first; w < last; ++w) sum += spread_of(stats, old_words, model, w);
    row[0] = std::max(floor, sum / (mass * static_cast<double>(dim)));
    return;
  }
  for (int64_t r = 0; r < dim; ++r) {
    double sum = 0;
    for (int64_t w = first; w < last; ++w) sum += second_about(stats, old_words, model, w, r);
    row[r] = std::max(floor, sum / mass);
  }
}

}  // namespace

WordScorer make_word_scorer(const DlgmmModel& model) {
  const int64_t num_words = model.num_words();
  const int64_t dim = model.words.cols();
  WordScorer s;
  s.words = model.words.view();
  s.beta = model.beta;
  s.is_full = model.has_full_words();
  s.is_diagonal = model.word_variances.cols() > 1 && !s.is_full;
  s.inverse = Matrix<double>(num_words, model.word_variances.cols());
  s.center.assign(dim, 0);
  for (int64_t r = 0; r < dim; ++r) {
    double mean = 0;
    for (int64_t v = 0; v < num_words; ++v) mean += model.words(v, r);
    s.center[r] = static_cast<float>(mean / static_cast<double>(num_words));
  }
  const bool is_free = !is_tied(model) && num_words > 1;
  s.factors = Matrix<float>(num_words, num_factors(s, dim, is_free));
  s.constants.resize(num_words);
  s.float_constants.resize(num_words);
  for (int64_t v = 0; v < num_words; ++v) {
    if (s.is_full) {
      fill_full_scores(model, v, is_free, s);
    } else {
      s.constants[v] = s.beta * log_constant(model, v);
      for (int64_t r = 0; r < s.inverse.cols(); ++r) s.inverse(v, r) = 1 / variance_of(model, v, r);
      fill_float_scores(model, v, is_free, s);
    }
    double norm = 0;
    for (const float factor : s.factors.row_span(v))
      norm += static_cast<double>(factor) * static_cast<double>(factor);
    s.largest_factor = std::max(s.largest_factor, std::sqrt(norm));
  }
  return s;
}

double word_score(const WordScorer& s, const float* patch, int64_t word) {
  const int64_t dim = s.words.cols();
  const double* w = s.words.row(word);
  if (s.is_full) return s.constants[word] - 0.5 * s.beta * full_distance(s, patch, word);
  if (s.is_diagonal)
    return s.constants[word] -
           0.5 * s.beta *
               MILIEU_SELECT_ISA(dlgmm_weighted_distance)(patch, w, s.inverse.row(word), dim);
  const int row = 0;
  double distance = 0;
  MILIEU_SELECT_ISA(dlgmm_distances)(patch, 0, &row, 1, w, dim, &distance);
  return s.constants[word] - 0.5 * s.beta * (distance * s.inverse(word, 0));
}

void PairsByWord::sort(const PatchShares& shares, int64_t num_words) {
  const int64_t count = shares.first.back();
  first.assign(num_words + 1, 0);
  for (int64_t a = 0; a < count; ++a) ++first[shares.words[a] + 1];
  for (int64_t v = 0; v < num_words; ++v) first[v + 1] += first[v];
  places.resize(count);
  rows.resize(count);
  values.resize(count);
  for (int64_t i = 0; i < shares.num_patches(); ++i)
    for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a) {
      const int64_t at = first[shares.words[a]]++;
      places[at] = a;
      rows[at] = static_cast<int>(i);
    }
  for (int64_t v = num_words; v > 0; --v) first[v] = first[v - 1];
  first[0] = 0;
}

void score_pairs(const WordScorer& s, FloatView patches, PairsByWord& pairs, PatchShares& shares) {
  const auto num_words = static_cast<int64_t>(s.constants.size());
  pairs.sort(shares, num_words);
  shares.scores.resize(shares.first.back());
  shares.distances.resize(shares.first.back());
  for (int64_t v = 0; v < num_words; ++v) {
    const int64_t first = pairs.first[v], last = pairs.first[v + 1];
    if (first == last) continue;
    if (s.is_diagonal || s.is_full) {
      for (int64_t k = first; k < last; ++k)
        shares.scores[pairs.places[k]] = word_score(s, patches.row(pairs.rows[k]), v);
      continue;
    }
    double* distances = pairs.values.data() + first;
    MILIEU_SELECT_ISA(dlgmm_distances)
    (patches.data(), patches.stride(), pairs.rows.data() + first, last - first, s.words.row(v),
     s.words.cols(), distances);
    const double constant = s.constants[v], inverse = s.inverse(v, 0);
    for (int64_t k = first; k < last; ++k, ++distances) {
      shares.distances[pairs.places[k]] = *distances;
      shares.scores[pairs.places[k]] = constant - 0.5 * s.beta * (*distances * inverse);
    }
  }
}

WordStats::WordStats(int64_t num_words, int64_t dim, bool is_diagonal, bool full)
    : mass(num_words, 0.0),
      first(num_words, dim),
      second(num_words, full          ? dim * dim
                        : is_diagonal ? dim
                                      : 1),
      is_full(full) {}

void WordStats::add(const float* patch, DoubleView omega, std::span<const int> words,
                    std::span<const double> phi) {
  const int64_t dim = omega.cols();
  const int row = 0;
  for (size_t a = 0; a < words.size(); ++a) {
    const int v = words[a];
    MILIEU_SELECT_ISA(dlgmm_add)(patch, 0, &row, &phi[a], 1, omega.row(v), dim, first.row(v));
    mass[v] += phi[a];
    if (is_full) {
      add_products(phi[a], patch, omega.row(v), dim, second.row(v));
    } else if (second.cols() > 1) {
      MILIEU_SELECT_ISA(dlgmm_add_squares)(phi[a], patch, omega.row(v), dim, second.row(v));
    } else {
      double distance = 0;
      MILIEU_SELECT_ISA(dlgmm_distances)(patch, 0, &row, 1, omega.row(v), dim, &distance);
      second(v, 0) += phi[a] * distance;
    }
  }
  ++num_patches;
  num_scored += static_cast<int64_t>(words.size());
}

void WordStats::add(FloatView patches, DoubleView omega, const PatchShares& shares,
                    PairsByWord& pairs) {
  const int64_t dim = omega.cols();
  for (int64_t v = 0; v < omega.rows(); ++v) {
    const int64_t begin = pairs.first[v], count = pairs.first[v + 1] - begin;
    if (count == 0) continue;
    const int64_t* places = pairs.places.data() + begin;
    double* phi = pairs.values.data() + begin;
    for (int64_t k = 0; k < count; ++k) mass[v] += phi[k] = shares.phi[places[k]];
    MILIEU_SELECT_ISA(dlgmm_add)
    (patches.data(), patches.stride(), pairs.rows.data() + begin, phi, count, omega.row(v), dim,
     first.row(v));
    for (int64_t k = 0; k < count; ++k) {
      if (is_full)
        add_products(phi[k], patches.row(pairs.rows[begin + k]), omega.row(v), dim, second.row(v));
      else if (second.cols() == 1)
        second(v, 0) += phi[k] * shares.distances[places[k]];
      else
        MILIEU_SELECT_ISA(dlgmm_add_squares)
      (phi[k], patches.row(pairs.rows[begin + k]), omega.row(v), dim, second.row(v));
    }
  }
  num_patches += shares.num_patches();
  num_scored += shares.first.back();
}

void WordStats::merge(const WordStats& other) {
  const auto add_all = [](double* to, const double* from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
  };
  add_all(mass.data(), other.mass.data(), static_cast<int64_t>(mass.size()));
  add_all(first.data(), other.first.data(), first.size());
  add_all(second.data(), other.second.data(), second.size());
  entropy += other.entropy;
  agreement += other.agreement;
  gamma_slope += other.gamma_slope;
  gamma_curvature += other.gamma_curvature;
  loss += other.loss;
  num_patches += other.num_patches;
  num_scored += other.num_scored;
}

double word_term(const WordStats& stats, DoubleView old_words, const DlgmmModel& model) {
  if (stats.is_full) return full_word_term(stats, old_words, model);
  double sum = 0;
  for (int64_t v = 0; v < model.num_words(); ++v) {
    if (stats.mass[v] == 0) continue;
    sum += stats.mass[v] * log_constant(model, v);
    if (model.word_variances.cols() == 1) {
      sum -= 0.5 * spread_of(stats, old_words, model, v) / variance_of(model, v, 0);
      continue;
    }
    for (int64_t r = 0; r < model.words.cols(); ++r)
      sum -= 0.5 * second_about(stats, old_words, model, v, r) / variance_of(model, v, r);
  }
  return model.kappa * model.beta * sum;
}

void update_words(const WordStats& stats, double floor, DlgmmModel& model) {
  const Matrix<double> old_words = model.words;
  for (int64_t v = 0; v < model.num_words(); ++v) {
    if (stats.mass[v] < kLightWord) continue;
    for (int64_t r = 0; r < model.words.cols(); ++r)  // [Xie15, Eq. 9]
      model.words(v, r) += stats.first(v, r) / stats.mass[v];
  }
  if (model.word_variances.rows() == 1) return update_variances(stats, old_words, -1, floor, model);
  for (int64_t v = 0; v < model.num_words(); ++v)
    update_variances(stats, old_words, v, floor, model);
}

}  // namespace milieu::internal
