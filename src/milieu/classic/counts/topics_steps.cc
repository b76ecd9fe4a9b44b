// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/topics_steps.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"

namespace milieu::internal {

namespace {

// Sums of products below this may have lost topics to underflow: then logarithms are added.
constexpr double kTinySum = 1e-200;

// E log theta under gamma, and exp of it scaled so that the largest is 1.
void expect_topics(std::span<const double> gamma, RowScratch& s) {
  double sum = 0;
  for (const double g : gamma) sum += g;
  const double base = digamma(sum);
  s.elog.resize(gamma.size());
  s.weights.resize(gamma.size());
  for (size_t k = 0; k < gamma.size(); ++k) s.elog[k] = digamma(gamma[k]) - base;
  s.largest = *std::ranges::max_element(s.elog);
  for (size_t k = 0; k < gamma.size(); ++k) s.weights[k] = std::exp(s.elog[k] - s.largest);
}

// phi of one word by logarithms; returns the logarithm of what it was divided by.
double phi_by_logs(std::span<const double> elog, const double* log_words,
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

// The same by products where none is lost.
double phi_of_word(const TopicWords& topics, int64_t v, RowScratch& s) {
  const double* shares = topics.shares.row(v);
  const double sum = topic_dot(s.weights.data(), shares, s.weights.size());
  if (!(sum > kTinySum)) return phi_by_logs(s.elog, topics.logs.row(v), s.phi);
  for (size_t k = 0; k < s.phi.size(); ++k) s.phi[k] = s.weights[k] * shares[k] / sum;
  return s.largest + topics.largest[static_cast<size_t>(v)] + std::log(sum);
}

// sum_v n_v phi_vk of the words of a row, into `next`.
void sum_phi(std::span<const float> counts, const TopicWords& topics, RowScratch& s) {
  const size_t num_topics = s.weights.size();
  s.next.assign(num_topics, 0);
  s.rest.assign(num_topics, 0);
  for (const int64_t v : s.words) {
    const double* shares = topics.shares.row(v);
    const double n = counts[static_cast<size_t>(v)];
    const double sum = topic_dot(s.weights.data(), shares, num_topics);
    if (sum > kTinySum) {
      const double factor = n / sum;
      for (size_t k = 0; k < num_topics; ++k) s.next[k] += factor * shares[k];
    } else {
      phi_by_logs(s.elog, topics.logs.row(v), s.phi);
      for (size_t k = 0; k < num_topics; ++k) s.rest[k] += n * s.phi[k];
    }
  }
  for (size_t k = 0; k < num_topics; ++k) s.next[k] = s.weights[k] * s.next[k] + s.rest[k];
}

double log_beta_function(std::span<const double> parameters) {
  double sum = 0, logs = 0;
  for (const double p : parameters) sum += p, logs += log_gamma(p);
  return logs - log_gamma(sum);
}

}  // namespace

double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

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

TopicWords make_topic_words(DoubleView lambda) {
  TopicWords topics{expected_log_words(lambda), {}, {}};
  topics.shares = topics.logs;
  for (int64_t v = 0; v < topics.logs.rows(); ++v) {
    topics.largest.push_back(*std::ranges::max_element(topics.logs.row_span(v)));
    for (double& share : topics.shares.row_span(v)) share = std::exp(share - topics.largest.back());
  }
  return topics;
}

double topic_dot(const double* a, const double* b, size_t count) {
  double lanes[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t l = 0; l < 4; ++l) lanes[l] += a[i + l] * b[i + l];
  for (; i < count; ++i) lanes[0] += a[i] * b[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

void TopicStats::merge(const TopicStats& other) {
  for (int64_t i = 0; i < words.size(); ++i) words.data()[i] += other.words.data()[i];
  bound += other.bound;
}

void infer_row(std::span<const float> counts, const TopicWords& topics, double alpha,
               const RowRounds& rounds, std::span<double> gamma, RowScratch& s, TopicStats* stats) {
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
  for (int round = 0; round < rounds.max_rounds; ++round) {
    expect_topics(gamma, s);
    sum_phi(counts, topics, s);
    for (double& next : s.next) next += alpha;
    double moved = 0;
    for (size_t k = 0; k < gamma.size(); ++k) moved += std::abs(s.next[k] - gamma[k]);
    std::copy(s.next.begin(), s.next.end(), gamma.begin());
    if (moved < rounds.still * num_topics * std::max(1.0, total)) break;
  }
  if (!stats) return;
  expect_topics(gamma, s);
  for (const int64_t v : s.words) {
    const double n = counts[v];
    stats->bound += n * phi_of_word(topics, v, s);
    for (size_t k = 0; k < gamma.size(); ++k)
      stats->words(static_cast<int64_t>(k), v) += n * s.phi[k];
  }
  for (size_t k = 0; k < gamma.size(); ++k) stats->bound += (alpha - gamma[k]) * s.elog[k];
  stats->bound +=
      log_beta_function(gamma) - num_topics * log_gamma(alpha) + log_gamma(num_topics * alpha);
}

std::optional<TopicStats> infer_rows(const CountRows& counts, DoubleView lambda, double alpha,
                                     const RowRounds& rounds, MatrixView<double> gamma,
                                     int num_threads, Monitor& monitor) {
  const TopicWords topics = make_topic_words(lambda);
  TopicStats stats = parallel_reduce(
      counts.rows, num_threads, TopicStats(lambda.rows(), lambda.cols()),
      [&](const Block& block, TopicStats& part) {
        RowScratch scratch;
        for (int64_t d = block.begin; d < block.end && !monitor.should_stop(); ++d)
          infer_row(counts.own.row_span(d), topics, alpha, rounds, gamma.row_span(d), scratch,
                    &part);
      },
      [](TopicStats& total, const TopicStats& part) { total.merge(part); });
  if (counts.rows.any(monitor.should_stop())) return std::nullopt;
  return stats;
}

double topic_bound(DoubleView lambda, double eta) {
  const double num_words = static_cast<double>(lambda.cols());
  const Matrix<double> logs = expected_log_words(lambda);
  double bound = 0;
  for (int64_t k = 0; k < lambda.rows(); ++k) {
    for (int64_t v = 0; v < lambda.cols(); ++v) bound += (eta - lambda(k, v)) * logs(v, k);
    bound += log_beta_function(lambda.row_span(k)) - num_words * log_gamma(eta) +
             log_gamma(num_words * eta);
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
        if (c > 0) sum += log_gamma(c + prior) - log_gamma(prior);
      }
      sum += log_gamma(width * prior) - log_gamma(total + width * prior);
    }
    return sum;
  };
  return log_ratio(s.row_topics, alpha) + log_ratio(s.topic_words, eta);
}

}  // namespace milieu::internal
