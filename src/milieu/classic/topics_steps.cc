// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/topics_steps.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerBlock = 32;
constexpr int kMaxRowRounds = 200;
constexpr double kStill = 1e-6;  // mean move of gamma at which a row is done

// E log theta under gamma.
void expected_logs(std::span<const double> gamma, std::vector<double>& elog) {
  double sum = 0;
  for (const double g : gamma) sum += g;
  const double base = digamma(sum);
  elog.resize(gamma.size());
  for (size_t k = 0; k < gamma.size(); ++k) elog[k] = digamma(gamma[k]) - base;
}

// phi of one word, unnormalised by its log sum, which is returned.
double word_shares(std::span<const double> elog, const double* log_words,
                   std::vector<double>& phi) {
  double largest = -INFINITY;
  for (size_t k = 0; k < elog.size(); ++k) {
    phi[k] = elog[k] + log_words[k];
    largest = std::max(largest, phi[k]);
  }
  double sum = 0;
  for (double& p : phi) sum += p = std::exp(p - largest);
  for (double& p : phi) p /= sum;
  return largest + std::log(sum);
}

double log_beta_function(std::span<const double> parameters) {
  double sum = 0, logs = 0;
  for (const double p : parameters) sum += p, logs += std::lgamma(p);
  return logs - std::lgamma(sum);
}

}  // namespace

double digamma(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132)))));
  return shift + std::log(x) - 0.5 / x - series;
}

Matrix<double> expected_log_words(DoubleView lambda) {
  Matrix<double> logs(lambda.cols(), lambda.rows());
  for (int64_t k = 0; k < lambda.rows(); ++k) {
    double sum = 0;
    for (const double l : lambda.row_span(k)) sum += l;
    const double base = digamma(sum);
    for (int64_t v = 0; v < lambda.cols(); ++v) logs(v, k) = digamma(lambda(k, v)) - base;
  }
  return logs;
}

void TopicStats::merge(const TopicStats& other) {
  for (int64_t i = 0; i < words.size(); ++i) words.data()[i] += other.words.data()[i];
  bound += other.bound;
}

void infer_row(std::span<const float> counts, DoubleView log_words, double alpha,
               std::span<double> gamma, RowScratch& s, TopicStats* stats) {
  s.words.clear();
  double total = 0;
  for (size_t v = 0; v < counts.size(); ++v)
    if (counts[v] > 0) {
      s.words.push_back(static_cast<int64_t>(v));
      total += static_cast<double>(counts[v]);
    }
  const double num_topics = static_cast<double>(gamma.size());
  std::fill(gamma.begin(), gamma.end(), alpha + total / num_topics);
  s.phi.resize(gamma.size());
  for (int round = 0; round < kMaxRowRounds; ++round) {
    expected_logs(gamma, s.elog);
    s.next.assign(gamma.size(), alpha);
    for (const int64_t v : s.words) {
      word_shares(s.elog, log_words.row(v), s.phi);
      for (size_t k = 0; k < gamma.size(); ++k)
        s.next[k] += static_cast<double>(counts[v]) * s.phi[k];
    }
    double moved = 0;
    for (size_t k = 0; k < gamma.size(); ++k) moved += std::abs(s.next[k] - gamma[k]);
    std::copy(s.next.begin(), s.next.end(), gamma.begin());
    if (moved < kStill * num_topics * std::max(1.0, total)) break;
  }
  if (!stats) return;
  expected_logs(gamma, s.elog);
  for (const int64_t v : s.words) {
    const double n = counts[v];
    stats->bound += n * word_shares(s.elog, log_words.row(v), s.phi);
    for (size_t k = 0; k < gamma.size(); ++k)
      stats->words(static_cast<int64_t>(k), v) += n * s.phi[k];
  }
  for (size_t k = 0; k < gamma.size(); ++k) stats->bound += (alpha - gamma[k]) * s.elog[k];
  stats->bound +=
      log_beta_function(gamma) - num_topics * std::lgamma(alpha) + std::lgamma(num_topics * alpha);
}

std::optional<TopicStats> infer_rows(FloatView counts, DoubleView lambda, double alpha,
                                     MatrixView<double> gamma, int num_threads, Monitor& monitor) {
  const Matrix<double> log_words = expected_log_words(lambda);
  TopicStats stats = parallel_reduce(
      counts.rows(), kRowsPerBlock, num_threads, TopicStats(lambda.rows(), lambda.cols()),
      [&](const Block& block, TopicStats& part) {
        RowScratch scratch;
        for (int64_t d = block.begin; d < block.end && !monitor.should_stop(); ++d)
          infer_row(counts.row_span(d), log_words, alpha, gamma.row_span(d), scratch, &part);
      },
      [](TopicStats& total, const TopicStats& part) { total.merge(part); });
  if (monitor.should_stop()) return std::nullopt;
  return stats;
}

double topic_bound(DoubleView lambda, double eta) {
  const double num_words = static_cast<double>(lambda.cols());
  const Matrix<double> logs = expected_log_words(lambda);
  double bound = 0;
  for (int64_t k = 0; k < lambda.rows(); ++k) {
    for (int64_t v = 0; v < lambda.cols(); ++v) bound += (eta - lambda(k, v)) * logs(v, k);
    bound += log_beta_function(lambda.row_span(k)) - num_words * std::lgamma(eta) +
             std::lgamma(num_words * eta);
  }
  return bound;
}

GibbsState start_gibbs(FloatView counts, int num_topics, Random& random) {
  GibbsState s;
  s.row_topics = Matrix<double>(counts.rows(), num_topics);
  s.topic_words = Matrix<double>(num_topics, counts.cols());
  s.topic_totals.assign(num_topics, 0);
  for (int64_t d = 0; d < counts.rows(); ++d)
    for (int64_t v = 0; v < counts.cols(); ++v)
      for (int c = 0; c < static_cast<int>(counts(d, v)); ++c) {
        const int k = static_cast<int>(random.uniform_index(num_topics));
        s.row.push_back(static_cast<int>(d));
        s.word.push_back(static_cast<int>(v));
        s.topic.push_back(k);
        s.row_topics(d, k) += 1, s.topic_words(k, v) += 1, s.topic_totals[k] += 1;
      }
  return s;
}

bool sweep_gibbs(GibbsState& s, double alpha, double eta, Random& random, Monitor& monitor) {
  constexpr size_t kAskEvery = 4096;
  const double mass = eta * static_cast<double>(s.topic_words.cols());
  const int64_t num_topics = s.topic_words.rows();
  std::vector<double> weights(num_topics);
  for (size_t i = 0; i < s.topic.size(); ++i) {
    if (i % kAskEvery == 0 && monitor.should_stop()) return false;
    const int64_t d = s.row[i], v = s.word[i];
    const int old = s.topic[i];
    s.row_topics(d, old) -= 1, s.topic_words(old, v) -= 1, s.topic_totals[old] -= 1;
    for (int64_t k = 0; k < num_topics; ++k)
      weights[k] =
          (s.topic_words(k, v) + eta) / (s.topic_totals[k] + mass) * (s.row_topics(d, k) + alpha);
    const int k = static_cast<int>(random.weighted_index(weights));
    s.topic[i] = k;
    s.row_topics(d, k) += 1, s.topic_words(k, v) += 1, s.topic_totals[k] += 1;
  }
  return true;
}

double gibbs_log_joint(const GibbsState& s, double alpha, double eta) {
  const auto log_ratio = [](DoubleView counts, double prior) {
    const double width = static_cast<double>(counts.cols());
    double sum = 0;
    for (int64_t i = 0; i < counts.rows(); ++i) {
      double total = 0;
      for (const double c : counts.row_span(i)) {
        total += c;
        if (c > 0) sum += std::lgamma(c + prior) - std::lgamma(prior);
      }
      sum += std::lgamma(width * prior) - std::lgamma(total + width * prior);
    }
    return sum;
  };
  return log_ratio(s.row_topics, alpha) + log_ratio(s.topic_words, eta);
}

}  // namespace milieu
