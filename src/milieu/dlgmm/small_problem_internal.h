// SPDX-License-Identifier: Apache-2.0
// For tests: a DLGMM with every variational parameter kept, so that the bound can be taken at any
// point and each step checked alone. Mean field, or one theta per cluster.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

struct SmallProblem {
  int D = 3, J = 2, V = 3, R = 2, rows = 2, cols = 3;
  bool is_structured = false;  // a theta for each cluster
  Matrix<float> o;             // (D N) x R
  DlgmmModel model;
  Matrix<double> zeta;              // D x J
  std::vector<Theta> theta;         // D x G; structured D x J x G
  std::vector<double> e;            // of each theta
  std::vector<Matrix<double>> phi;  // D of N x V
  double gamma = 0;

  int N() const { return rows * cols; }
  int G() const { return model.num_bands; }
  // Where theta and e of image d, cluster j and band g are, and their share of the bound.
  size_t at(int d, int j, int g) const {
    return static_cast<size_t>(is_structured ? (d * J + j) * G() + g : d * G() + g);
  }
  double share(int d, int j) const { return is_structured ? zeta(d, j) : 1; }
  int num_shares() const { return is_structured ? J : 1; }
  int band(int i) const { return i / cols * G() / rows; }

  std::vector<double> counts(int d) const {
    std::vector<double> n(static_cast<size_t>(G()) * V, 0.0);
    for (int i = 0; i < N(); ++i)
      for (int v = 0; v < V; ++v) n[band(i) * V + v] += phi[d](i, v);
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
    ClusterStats stats(J, G(), V, prior.is_full);
    for (int d = 0; d < D; ++d)
      for (int j = 0; j < J; ++j)
        for (int g = 0; g < G(); ++g) stats.add(prior, j, g, zeta(d, j), theta[at(d, j, g)]);
    return stats;
  }

  // T3 and T6 of one theta.
  double count_term(std::span<const double> n, int d, int j, int g) const {
    const Theta& t = theta[at(d, j, g)];
    double sum = 0;
    int size = 0;
    for (int i = 0; i < N(); ++i) size += band(i) == g;
    for (int v = 0; v < V; ++v) sum += n[g * V + v] * t.alpha[v];
    return model.kappa * (sum - size * normalizer_bound(e[at(d, j, g)], t));
  }
  double theta_entropy(int d, int j, int g) const {
    return 0.5 * V * (1 + std::log(2 * std::numbers::pi)) + 0.5 * sum_log(theta[at(d, j, g)].tau2);
  }

  // T1 .. T8 of the note, from the definitions.
  BoundTerms bound() const {
    BoundTerms b;
    const ClusterStats clusters = cluster_stats();
    b.terms[0] = weight_term(clusters, model);
    b.terms[1] = cluster_term(clusters, model.means, model);
    b.terms[3] = word_term(word_stats(), model.words, model);
    for (int d = 0; d < D; ++d) {
      const std::vector<double> n = counts(d);
      for (int j = 0; j < num_shares(); ++j)
        for (int g = 0; g < G(); ++g) {
          b.terms[2] += share(d, j) * count_term(n, d, j, g);
          b.terms[5] += share(d, j) * theta_entropy(d, j, g);
        }
      for (int j = 0; j < J; ++j)
        if (zeta(d, j) > 0) b.terms[4] -= zeta(d, j) * std::log(zeta(d, j));
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
        double alpha = 0;
        for (int j = 0; j < num_shares(); ++j)
          alpha += share(d, j) * theta[at(d, j, band(i))].alpha[v];
        s.words.push_back(v);
        s.scores.push_back(alpha + word_score(scorer, o.row(d * N() + i), v));
      }
      s.first.push_back(static_cast<int64_t>(s.words.size()));
    }
    update_shares(s, 0, N());
    return s;
  }
  void take_shares(int d, const PatchShares& s) {
    for (int64_t a = 0; a < int64_t{N()} * V; ++a) phi[d].data()[a] = s.phi[a];
  }

  // Eq. 5, or with gamma sweeps of Eq. 14 from the phi that is there.
  void step_phi(int max_sweeps = 3) {
    for (int d = 0; d < D; ++d) {
      PatchShares s = shares(d);
      if (gamma > 0) {
        CoherenceScratch scratch{std::vector<double>(V, 0.0)};
        s.phi.assign(phi[d].data(), phi[d].data() + phi[d].size());
        sweep_coherence(s, {0, rows, cols}, gamma, max_sweeps, scratch);
      }
      take_shares(d, s);
    }
  }
  void step_e() {
    for (size_t i = 0; i < e.size(); ++i) e[i] = std::exp(best_log_e(theta[i]));
  }
  void step_zeta() {
    const ClusterPrior prior = make_cluster_prior(model);
    for (int d = 0; d < D; ++d) {
      const std::vector<double> n = counts(d);
      std::vector<double> energies(J, 0.0);
      for (int j = 0; j < J; ++j)
        for (int g = 0; g < G(); ++g) {
          energies[j] += expected_log_density(prior, j, g, theta[at(d, j, g)]);
          if (is_structured) energies[j] += count_term(n, d, j, g) + theta_entropy(d, j, g);
        }
      update_zeta(prior, energies, zeta.row_span(d));
    }
  }
  // theta to convergence by the E-step of the library: for the zeta given, or structured with the
  // zeta that belongs to it.
  void step_theta();
  void step_clusters(double floor) { update_clusters(cluster_stats(), floor, model); }
  void step_words(double floor) { update_words(word_stats(), floor, model); }
};

inline void SmallProblem::step_theta() {
  const ClusterPrior prior = make_cluster_prior(model);
  for (int d = 0; d < D; ++d) {
    ImageScratch scratch;
    std::vector<double> z(zeta.row(d), zeta.row(d) + J), alpha(static_cast<size_t>(G()) * V);
    ClusterStats unused(J, G(), V, prior.is_full);
    update_image(prior, is_structured ? DlgmmPosterior::Structured : DlgmmPosterior::MeanField,
                 model.kappa, counts(d), z, alpha, scratch, unused);
    std::ranges::copy(scratch.thetas, theta.begin() + static_cast<int64_t>(at(d, 0, 0)));
    if (is_structured) std::ranges::copy(z, zeta.row(d));
  }
  step_e();
}

}  // namespace milieu::internal
