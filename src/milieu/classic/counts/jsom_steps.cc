// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/jsom_steps.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/classic/counts/topics_steps.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 32;
constexpr int kMaxRowRounds = 50;
constexpr double kStill = 1e-5;  // mean move of gamma, as a share of the row, at which it is done
constexpr double kLeastAlpha = 1e-4, kMostAlpha = 1e4;

// E log theta under gamma, and exp of it scaled so that the largest is 1; returns that largest one.
double expected_topics(std::span<const double> gamma, JsomRow& s) {
  double sum = 0;
  for (const double g : gamma) sum += g;
  const double base = digamma(sum);
  double largest = -INFINITY;
  for (size_t k = 0; k < gamma.size(); ++k) {
    s.elog[k] = digamma(gamma[k]) - base;
    largest = std::max(largest, s.elog[k]);
  }
  for (size_t k = 0; k < gamma.size(); ++k) s.weight[k] = std::exp(s.elog[k] - largest);
  return largest;
}

void mix_priors(const JsomModel& model, std::span<const double> zeta, std::vector<double>& prior) {
  std::fill(prior.begin(), prior.end(), 0.0);
  for (size_t j = 0; j < zeta.size(); ++j)
    for (size_t k = 0; k < prior.size(); ++k)
      prior[k] += zeta[j] * model.priors(static_cast<int64_t>(j), static_cast<int64_t>(k));
}

void update_clusters_of_row(const JsomModel& model, std::span<const double> normalizers,
                            const std::vector<double>& elog, std::span<double> zeta) {
  for (size_t j = 0; j < zeta.size(); ++j) {
    zeta[j] = std::log(model.weights[j]) + normalizers[j];
    for (size_t k = 0; k < elog.size(); ++k)
      zeta[j] += (model.priors(static_cast<int64_t>(j), static_cast<int64_t>(k)) - 1) * elog[k];
  }
  const double log_sum = log_sum_exp(zeta);
  for (double& z : zeta) z = std::exp(z - log_sum);
}

// One round of phi and gamma; the mean move of gamma.
double update_topics_of_row(DoubleView words, std::span<const float> counts,
                            std::span<double> gamma, JsomRow& s) {
  expected_topics(gamma, s);
  std::fill(s.next.begin(), s.next.end(), 0.0);
  for (const int64_t v : s.words) {
    const double* row = words.row(v);
    const double factor =
        static_cast<double>(counts[v]) / topic_dot(s.weight.data(), row, gamma.size());
    for (size_t k = 0; k < gamma.size(); ++k) s.next[k] += factor * row[k];
  }
  double moved = 0;
  for (size_t k = 0; k < gamma.size(); ++k) {
    const double next = s.prior[k] + s.weight[k] * s.next[k];
    moved += std::abs(next - gamma[k]);
    gamma[k] = next;
  }
  return moved / static_cast<double>(gamma.size());
}

// The row's part of the bound, and its statistics; phi is at its optimum for gamma.
void add_row(const JsomModel& model, std::span<const double> normalizers, DoubleView words,
             std::span<const float> counts, std::span<const double> gamma,
             std::span<const double> zeta, JsomRow& s, JsomStats& stats) {
  const double largest = expected_topics(gamma, s);
  for (const int64_t v : s.words) {
    const double sum = topic_dot(s.weight.data(), words.row(v), gamma.size());
    const double n = counts[v];
    stats.bound += n * (largest + std::log(sum));
    for (size_t k = 0; k < gamma.size(); ++k)
      stats.words(static_cast<int64_t>(k), v) +=
          n * s.weight[k] * words(v, static_cast<int64_t>(k)) / sum;
  }
  double total = 0;
  for (size_t k = 0; k < gamma.size(); ++k) {
    total += gamma[k];
    stats.bound += log_gamma(gamma[k]) - (gamma[k] - 1) * s.elog[k];
  }
  stats.bound -= log_gamma(total);
  for (size_t j = 0; j < zeta.size(); ++j) {
    if (zeta[j] <= 0) continue;
    const auto row = static_cast<int64_t>(j);
    stats.mass[j] += zeta[j];
    double density = normalizers[j];
    for (size_t k = 0; k < gamma.size(); ++k) {
      density += (model.priors(row, static_cast<int64_t>(k)) - 1) * s.elog[k];
      stats.logs(row, static_cast<int64_t>(k)) += zeta[j] * s.elog[k];
    }
    stats.bound += zeta[j] * (std::log(model.weights[j]) + density - std::log(zeta[j]));
  }
}

// The words of a row and room for its topics; returns the number of words.
double start_row(std::span<const float> counts, int64_t num_topics, JsomRow& s) {
  s.words.clear();
  double total = 0;
  for (size_t v = 0; v < counts.size(); ++v)
    if (counts[v] > 0) {
      s.words.push_back(static_cast<int64_t>(v));
      total += static_cast<double>(counts[v]);
    }
  for (std::vector<double>* v : {&s.elog, &s.weight, &s.next, &s.prior}) v->resize(num_topics);
  return total;
}

double dirichlet_value(double mass, std::span<const double> logs, std::span<const double> alpha) {
  double sum = 0, value = 0;
  for (size_t k = 0; k < alpha.size(); ++k) {
    sum += alpha[k];
    value += (alpha[k] - 1) * logs[k] - mass * log_gamma(alpha[k]);
  }
  return value + mass * log_gamma(sum);
}

}  // namespace

double trigamma(double x) {
  double shift = 0;
  for (; x < 12; x += 1) shift += 1 / (x * x);
  const double y = 1 / (x * x);
  return shift + 1 / x + y / 2 +
         y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66)))));
}

Matrix<double> expected_words(DoubleView lambda) {
  Matrix<double> words = expected_log_words(lambda);
  for (int64_t i = 0; i < words.size(); ++i) words.data()[i] = std::exp(words.data()[i]);
  return words;
}

std::vector<double> log_normalizers(DoubleView priors) {
  std::vector<double> normalizers(priors.rows(), 0.0);
  for (int64_t j = 0; j < priors.rows(); ++j) {
    double sum = 0;
    for (const double a : priors.row_span(j)) {
      sum += a;
      normalizers[j] -= log_gamma(a);
    }
    normalizers[j] += log_gamma(sum);
  }
  return normalizers;
}

JsomStats::JsomStats(int64_t num_clusters, int64_t num_topics, int64_t num_words)
    : mass(num_clusters, 0.0), logs(num_clusters, num_topics), words(num_topics, num_words) {}

void JsomStats::merge(const JsomStats& other) {
  for (size_t j = 0; j < mass.size(); ++j) mass[j] += other.mass[j];
  for (int64_t i = 0; i < logs.size(); ++i) logs.data()[i] += other.logs.data()[i];
  for (int64_t i = 0; i < words.size(); ++i) words.data()[i] += other.words.data()[i];
  bound += other.bound;
}

void infer_row_clusters(const JsomModel& model, std::span<const double> normalizers,
                        DoubleView words, std::span<const float> counts, std::span<double> zeta,
                        JsomRow& s) {
  const double total = start_row(counts, model.words.rows(), s);
  const auto num_topics = static_cast<double>(model.words.rows());
  for (size_t j = 0; j < zeta.size(); ++j) {
    const std::span<const double> alpha = model.priors.row_span(static_cast<int64_t>(j));
    s.prior.assign(alpha.begin(), alpha.end());
    s.gamma = s.prior;
    for (double& g : s.gamma) g += total / num_topics;
    for (int round = 0; round < kMaxRowRounds; ++round)
      if (update_topics_of_row(words, counts, s.gamma, s) * num_topics <
          kStill * std::max(1.0, total))
        break;
    const double largest = expected_topics(s.gamma, s);
    double bound = std::log(model.weights[j]) + normalizers[j], sum = 0;
    for (const int64_t v : s.words)
      bound += static_cast<double>(counts[v]) *
               (largest + std::log(topic_dot(s.weight.data(), words.row(v), s.gamma.size())));
    for (size_t k = 0; k < s.gamma.size(); ++k) {
      sum += s.gamma[k];
      bound += log_gamma(s.gamma[k]) + (alpha[k] - s.gamma[k]) * s.elog[k];
    }
    zeta[j] = bound - log_gamma(sum);
  }
  const double log_sum = log_sum_exp(zeta);
  for (double& z : zeta) z = std::exp(z - log_sum);
}

Matrix<double> infer_clusters(const JsomModel& model, FloatView counts, int num_threads,
                              const Monitor& monitor) {
  const Matrix<double> words = expected_words(model.words);
  const std::vector<double> normalizers = log_normalizers(model.priors);
  Matrix<double> zeta(counts.rows(), model.priors.rows());
  parallel_for(counts.rows(), kRowsPerBlock, num_threads, [&](const Block& block) {
    JsomRow scratch;
    for (int64_t d = block.begin; d < block.end && !monitor.should_stop(); ++d)
      infer_row_clusters(model, normalizers, words, counts.row_span(d), zeta.row_span(d), scratch);
  });
  return zeta;
}

void update_row(const JsomModel& model, std::span<const double> normalizers, DoubleView words,
                std::span<const float> counts, std::span<double> gamma, std::span<double> zeta,
                JsomRow& s, JsomStats* stats) {
  const double total = start_row(counts, model.words.rows(), s);
  for (int round = 0; round < kMaxRowRounds; ++round) {
    mix_priors(model, zeta, s.prior);
    const double moved = update_topics_of_row(words, counts, gamma, s);
    expected_topics(gamma, s);
    update_clusters_of_row(model, normalizers, s.elog, zeta);
    if (moved * static_cast<double>(gamma.size()) < kStill * std::max(1.0, total)) break;
  }
  if (stats) add_row(model, normalizers, words, counts, gamma, zeta, s, *stats);
}

std::optional<JsomStats> update_rows(const JsomModel& model, FloatView counts,
                                     MatrixView<double> gamma, MatrixView<double> zeta,
                                     int num_threads, Monitor& monitor) {
  const Matrix<double> words = expected_words(model.words);
  const std::vector<double> normalizers = log_normalizers(model.priors);
  JsomStats stats = parallel_reduce(
      counts.rows(), kRowsPerBlock, num_threads,
      JsomStats(model.priors.rows(), model.words.rows(), model.words.cols()),
      [&](const Block& block, JsomStats& part) {
        JsomRow scratch;
        for (int64_t d = block.begin; d < block.end && !monitor.should_stop(); ++d)
          update_row(model, normalizers, words, counts.row_span(d), gamma.row_span(d),
                     zeta.row_span(d), scratch, &part);
      },
      [](JsomStats& total, const JsomStats& part) { total.merge(part); });
  if (monitor.should_stop()) return std::nullopt;
  return stats;
}

void fit_dirichlet(double mass, std::span<const double> logs, std::span<double> alpha) {
  constexpr int kMaxSteps = 100;
  constexpr double kGain = 1e-10;
  const size_t size = alpha.size();
  std::vector<double> gradient(size), diagonal(size), next(size);
  double value = dirichlet_value(mass, logs, alpha);
  for (int step = 0; step < kMaxSteps; ++step) {
    double sum = 0;
    for (const double a : alpha) sum += a;
    const double slope = mass * digamma(sum), curve = mass * trigamma(sum);
    double upper = 0, lower = 0;
    for (size_t k = 0; k < size; ++k) {
      gradient[k] = slope - mass * digamma(alpha[k]) + logs[k];
      diagonal[k] = mass * trigamma(alpha[k]);
      upper += gradient[k] / diagonal[k];
      lower += 1 / diagonal[k];
    }
    const double shared = curve * upper / (1 - curve * lower);  // Sherman and Morrison
    double rate = 1, found = -INFINITY;
    for (int halving = 0; halving < 50; ++halving, rate /= 2) {
      for (size_t k = 0; k < size; ++k)
        next[k] = std::clamp(alpha[k] + rate * (gradient[k] + shared) / diagonal[k], kLeastAlpha,
                             kMostAlpha);
      found = dirichlet_value(mass, logs, next);
      if (found >= value) break;
    }
    if (!(found >= value)) return;
    std::copy(next.begin(), next.end(), alpha.begin());
    if (found - value <= kGain * std::max(1.0, std::abs(found))) return;
    value = found;
  }
}

}  // namespace milieu::internal
