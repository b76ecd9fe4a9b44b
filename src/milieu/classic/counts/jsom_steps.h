// SPDX-License-Identifier: Apache-2.0
// Steps of JSOM.
//
// Symbols   n rows, V words, K topics, J clusters; pi_j, alpha_j (K) the clusters, eta the prior of
//           words, lambda_k (V) the topics; zeta_d (J), gamma_d (K), phi_dvk of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/counts/jsom.h"

namespace milieu::internal {

// d^2/dx^2 log Gamma(x), x > 0, within 1e-10 relative.
double trigamma(double x);

// exp(E log beta_kv) under lambda, transposed: V x K.
Matrix<double> expected_words(DoubleView lambda);

// log of the normaliser of each cluster's Dirichlet: log Gamma(sum alpha) - sum log Gamma(alpha).
std::vector<double> log_normalizers(DoubleView priors);

// What a pass over the rows leaves.
struct JsomStats {
  std::vector<double> mass;  // J: sum_d zeta_dj
  Matrix<double> logs;       // J x K: sum_d zeta_dj E log theta_dk
  Matrix<double> words;      // K x V: sum_d n_dv phi_dvk
  double bound = 0;          // the rows' part of the bound

  JsomStats(int64_t num_clusters, int64_t num_topics, int64_t num_words);
  void merge(const JsomStats& other);
};

struct JsomRow {
  std::vector<double> elog, weight, next, prior, gamma;
  std::vector<int64_t> words;
};

// phi, gamma and zeta of one row in turns until they are still, from the given gamma and zeta: each
// is an exact ascent. gamma = sum_j zeta_j alpha_j + sum_v n_v phi_v; phi_vk prop
// exp(E log theta_k + E log beta_kv); zeta_j prop pi_j exp(E log Dirichlet(theta | alpha_j)). Adds
// to `stats` unless it is null. `words` is expected_words.
void update_row(const JsomModel& model, std::span<const double> normalizers, DoubleView words,
                std::span<const float> counts, std::span<double> gamma, std::span<double> zeta,
                JsomRow& scratch, JsomStats* stats);

// Probabilities of the clusters of one row from the model alone: each cluster has its own gamma,
// and zeta_j is prop to pi_j exp(bound given cluster j). Under one gamma for all clusters, as
// above, a cluster with a strong prior confirms itself.
void infer_row_clusters(const JsomModel& model, std::span<const double> normalizers,
                        DoubleView words, std::span<const float> counts, std::span<double> zeta,
                        JsomRow& scratch);
// All rows: n x J; rows that a stop leaves are zero.
Matrix<double> infer_clusters(const JsomModel& model, FloatView counts, int num_threads,
                              const Monitor& monitor);

// All rows; nothing when the monitor stops it.
std::optional<JsomStats> update_rows(const JsomModel& model, FloatView counts,
                                     MatrixView<double> gamma, MatrixView<double> zeta,
                                     int num_threads, Monitor& monitor);

// The alpha of largest sum: mass (log Gamma(sum alpha) - sum log Gamma(alpha)) + sum (alpha - 1)
// logs, by Newton steps in the manner of [Blei03, App. A.4.2], each of which rises. Starts from and
// writes to `alpha`; entries stay between 1e-4 and 1e4.
void fit_dirichlet(double mass, std::span<const double> logs, std::span<double> alpha);

}  // namespace milieu::internal
