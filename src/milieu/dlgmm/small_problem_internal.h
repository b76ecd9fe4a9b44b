// SPDX-License-Identifier: Apache-2.0
// For tests: a DLGMM with every variational parameter kept, so that the bound can be taken at any
// point and each step checked alone. Mean field, or one theta a cluster.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu {

struct SmallProblem {
  int D = 3, J = 2, V = 3, R = 2, rows = 2, cols = 3;
  Matrix<float> o;  // (D N) x R
  DlgmmModel model;
  Matrix<double> zeta;              // D x J
  std::vector<Theta> theta;         // D
  std::vector<double> e;            // D
  std::vector<Matrix<double>> phi;  // D of N x V
  double gamma = 0;

  int N() const { return rows * cols; }

  std::vector<double> counts(int d) const {
    std::vector<double> n(V, 0.0);
    for (int i = 0; i < N(); ++i)
      for (int v = 0; v < V; ++v) n[v] += phi[d](i, v);
    return n;
  }

  WordStats word_stats() const {
    WordStats stats(V, R, model.word_variances.cols() > 1);
    std::vector<int> words(V);
    for (int v = 0; v < V; ++v) words[v] = v;
    for (int d = 0; d < D; ++d)
      for (int i = 0; i < N(); ++i)
        stats.add(o.row(d * N() + i), model.words, words, phi[d].row_span(i));
    return stats;
  }

  ClusterStats cluster_stats() const {
    const ClusterPrior prior = make_cluster_prior(model);
    ClusterStats stats(J, 1, V, prior.is_full);
    for (int d = 0; d < D; ++d)
      for (int j = 0; j < J; ++j) stats.add(prior, j, 0, zeta(d, j), theta[d]);
    return stats;
  }

  // T1 .. T8 of the note, from the definitions.
  BoundTerms bound() const {
    BoundTerms b;
    const double log2pi = std::log(2 * std::numbers::pi);
    const ClusterStats clusters = cluster_stats();
    b.terms[0] = weight_term(clusters, model);
    b.terms[1] = cluster_term(clusters, model.means, model);
    b.terms[3] = word_term(word_stats(), model.words, model);
    for (int d = 0; d < D; ++d) {
      const std::vector<double> n = counts(d);
      for (int v = 0; v < V; ++v) b.terms[2] += model.kappa * n[v] * theta[d].alpha[v];
      b.terms[2] -= model.kappa * N() * normalizer_bound(e[d], theta[d]);
      for (int j = 0; j < J; ++j)
        if (zeta(d, j) > 0) b.terms[4] -= zeta(d, j) * std::log(zeta(d, j));
      b.terms[5] += 0.5 * V * (1 + log2pi) + 0.5 * sum_log(theta[d].tau2);
      for (int i = 0; i < N(); ++i)
        for (int v = 0; v < V; ++v)
          if (phi[d](i, v) > 0) b.terms[6] -= model.kappa * phi[d](i, v) * std::log(phi[d](i, v));
      b.terms[7] +=
          model.kappa * gamma * (agreement(d) - static_cast<double>(num_neighbors(rows, cols)));
    }
    return b;
  }

  double agreement(int d) const {
    double sum = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        for (int v = 0; v < V; ++v) {
          if (c + 1 < cols) sum += phi[d](r * cols + c, v) * phi[d](r * cols + c + 1, v);
          if (r + 1 < rows) sum += phi[d](r * cols + c, v) * phi[d]((r + 1) * cols + c, v);
        }
    return sum;
  }

  // Candidates of image d: all words.
  PatchShares shares(int d) const {
    const WordScorer scorer = make_word_scorer(model);
    PatchShares s;
    s.clear();
    for (int i = 0; i < N(); ++i) {
      for (int v = 0; v < V; ++v) {
        s.words.push_back(v);
        s.scores.push_back(theta[d].alpha[v] + word_score(scorer, o.row(d * N() + i), v));
      }
      s.first.push_back(static_cast<int64_t>(s.words.size()));
    }
    update_shares(s, 0, N());
    return s;
  }
  void take_shares(int d, const PatchShares& s) {
    for (int64_t a = 0; a < int64_t{N()} * V; ++a) phi[d].data()[a] = s.phi[a];
  }

  void step_phi() {
    for (int d = 0; d < D; ++d) take_shares(d, shares(d));
  }
  void step_e() {
    for (int d = 0; d < D; ++d) e[d] = std::exp(best_log_e(theta[d]));
  }
  void step_zeta() {
    const ClusterPrior prior = make_cluster_prior(model);
    for (int d = 0; d < D; ++d) {
      std::vector<double> energies(J);
      for (int j = 0; j < J; ++j) energies[j] = expected_log_density(prior, j, 0, theta[d]);
      update_zeta(prior, energies, zeta.row_span(d));
    }
  }
  // theta to convergence for the zeta given, by the E-step of the library.
  void step_theta();
  void step_clusters(double floor) { update_clusters(cluster_stats(), floor, model); }
  void step_words(double floor) { update_words(word_stats(), floor, model); }
};

inline void SmallProblem::step_theta() {
  const ClusterPrior prior = make_cluster_prior(model);
  for (int d = 0; d < D; ++d) {
    ImageScratch scratch;
    std::vector<double> z(zeta.row(d), zeta.row(d) + J), alpha(V);
    ClusterStats unused(J, 1, V, prior.is_full);
    update_image(prior, DlgmmPosterior::MeanField, model.kappa, counts(d), z, alpha, scratch,
                 unused);
    theta[d] = scratch.thetas[0];
  }
  step_e();
}

}  // namespace milieu
