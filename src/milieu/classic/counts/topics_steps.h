// SPDX-License-Identifier: Apache-2.0
// Steps of latent Dirichlet allocation.
//
// Symbols   n rows, V words, K topics; alpha, eta the priors; gamma_d (K) and lambda_k (V) the
//           Dirichlet parameters of rows and topics; phi the shares of topics in a word of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/counts/topics.h"

namespace milieu::internal {

// d/dx log Gamma(x), x > 0, within 1e-12.
double digamma(double x);

// log Gamma(x), x > 0. std::lgamma writes a global sign, which threads must not share.
double log_gamma(double x);

// E log beta_kv under lambda, transposed: V x K.
Matrix<double> expected_log_words(DoubleView lambda);

// The same with exp(E log beta_kv), of which the largest of a word is 1, so that shares of topics
// are products of what rows and words say.
struct TopicWords {
  Matrix<double> logs, shares;  // V x K
  std::vector<double> largest;  // V: the largest of logs
};
TopicWords make_topic_words(DoubleView lambda);

// sum_k a_k b_k in four lanes.
double topic_dot(const double* a, const double* b, size_t count);

// What a pass over the rows leaves.
struct TopicStats {
  Matrix<double> words;  // K x V: sum_d n_dv phi_dvk
  double bound = 0;      // the rows' part of the bound
  TopicStats(int64_t num_topics, int64_t num_words) : words(num_topics, num_words) {}
  void merge(const TopicStats& other);
  int64_t num_bytes() const { return words.size() * static_cast<int64_t>(sizeof(double)); }
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(words, bound);
  }
};

// How far a row is taken: until gamma moves by less than `still` per topic, as a share of the row.
struct RowRounds {
  int max_rounds = 200;
  double still = 1e-6;
};
// While the topics still move, rows need not be followed to the last digit.
inline constexpr RowRounds kCoarseRounds{.max_rounds = 50, .still = 1e-4};

// [Blei03, Eqs. 6 and 7] for one row: phi_vk prop exp(E log theta_k + E log beta_kv), gamma_k =
// alpha
// + sum_v n_v phi_vk. Adds to `stats` unless it is null.
struct RowScratch {
  std::vector<double> elog, weights, phi, next, rest;
  double largest = 0;  // of elog; weights are exp(elog - largest)
  std::vector<int64_t> words;
};
void infer_row(std::span<const float> counts, const TopicWords& topics, double alpha,
               const RowRounds& rounds, std::span<double> gamma, RowScratch& scratch,
               TopicStats* stats);

// All rows; nothing when the monitor stops it. `gamma` is n x K.
std::optional<TopicStats> infer_rows(const CountRows& counts, DoubleView lambda, double alpha,
                                     const RowRounds& rounds, MatrixView<double> gamma,
                                     int num_threads, Monitor& monitor);

// The topics' part of the bound: sum_k E log p(beta_k | eta) - E log q(beta_k | lambda_k).
double topic_bound(DoubleView lambda, double eta);

// [Griffiths04, Eq. 5]: one sweep of collapsed Gibbs sampling over all words of all rows.
struct GibbsState {
  std::vector<int> row, word, topic;  // of every occurrence
  Matrix<double> row_topics;          // n x K counts
  Matrix<double> topic_words;         // K x V counts
  std::vector<double> topic_totals;   // K
};
GibbsState start_gibbs(FloatView counts, int num_topics, Random& random);
bool sweep_gibbs(GibbsState& state, double alpha, double eta, Random& random, Monitor& monitor);
// log p(words, topics) with theta and beta integrated out.
double gibbs_log_joint(const GibbsState& state, double alpha, double eta);

}  // namespace milieu::internal
