// SPDX-License-Identifier: Apache-2.0
// The first layer: Eq. 4 with the theta-step, Eqs. 7 and 8, and their terms of the bound.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/base/parallel.h"
#include "milieu/dlgmm/cluster_internal.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

namespace {

constexpr double kNoShare = 1e-300;  // a smaller zeta adds nothing to the statistics
constexpr double kNegligible = 50;   // a cluster this far below another one has no share: exp(-50)

double log_two_pi() { return std::log(2 * std::numbers::pi); }

// H[q(theta)], a band's part of T6.
double theta_entropy(const Theta& theta) {
  return 0.5 * static_cast<double>(theta.tau2.size()) * (1 + log_two_pi()) +
         0.5 * sum_log(theta.tau2);
}

// A band's part of T3 with e at its optimum: n.alpha - N log e (counts times kappa).
double count_term(std::span<const double> counts, double total, const Theta& theta,
                  double log_sum) {
  double sum = -total * log_sum;
  for (size_t v = 0; v < counts.size(); ++v) sum += counts[v] * theta.alpha[v];
  return sum;
}

double total_of(std::span<const double> counts) {
  double sum = 0;
  for (const double n : counts) sum += n;
  return sum;
}

// A = sum_j zeta_j Sigma_j^-1 and m = A^-1 sum_j zeta_j Sigma_j^-1 mu_j for one band, diagonal.
void mix_precisions(const ClusterPrior& prior, int g, std::span<const double> zeta,
                    ImageScratch& s) {
  s.precision.assign(prior.num_words, 0);
  s.mean.assign(prior.num_words, 0);
  for (int j = 0; j < prior.num_clusters(); ++j) {
    const std::span<const double> precision = prior.precision(j, g);
    const std::span<const double> mean = prior.mean(j, g);
    for (int64_t v = 0; v < prior.num_words; ++v) {
      s.precision[v] += zeta[j] * precision[v];
      s.mean[v] += zeta[j] * precision[v] * mean[v];
    }
  }
  for (int64_t v = 0; v < prior.num_words; ++v) s.mean[v] /= s.precision[v];
}

struct BandParts {
  double t3 = 0, t6 = 0;
};

std::span<const double> band_of(std::span<const double> values, int64_t num_words, int g) {
  return values.subspan(g * num_words, num_words);
}

// The parts of a band of `counts` whose theta is at its maximum.
BandParts parts_of(std::span<const double> counts, const Theta& theta, double log_sum) {
  return {count_term(counts, total_of(counts), theta, log_sum), theta_entropy(theta)};
}

// Mean field's theta-step of one band, against the clusters mixed by zeta.
BandParts solve_mixed(const ClusterPrior& prior, int g, std::span<const double> zeta,
                      std::span<const double> counts, Theta& theta, ImageScratch& s,
                      ClusterStats& stats) {
  const double total = total_of(counts);
  ThetaValue value;
  if (prior.is_full) {
    mix_full_precisions(prior, g, zeta, s.full_precision, s.mean);
    value = solve_theta_full(counts, total, s.full_precision.view(), s.mean, theta);
  } else {
    mix_precisions(prior, g, zeta, s);
    value = solve_theta(counts, total, s.precision, s.mean, theta, s.solvers[0]);
  }
  stats.newton_steps += value.steps;
  return parts_of(counts, theta, value.log_sum);
}

void add_alpha(std::span<double> alpha, int64_t num_words, int g, double share,
               const Theta& theta) {
  for (int64_t v = 0; v < num_words; ++v) alpha[g * num_words + v] += share * theta.alpha[v];
}

// T1 and T5 of one image.
void add_zeta_terms(const ClusterPrior& prior, std::span<const double> zeta, BoundTerms& bound) {
  for (size_t j = 0; j < zeta.size(); ++j) {
    if (zeta[j] <= 0) continue;
    bound.terms[0] += zeta[j] * prior.log_weights[j];
    bound.terms[4] -= zeta[j] * std::log(zeta[j]);
  }
}

// Structured: the posterior of the image under cluster j.
struct ClusterFit {
  std::vector<BandParts> parts;   // one per band
  std::vector<double> densities;  // E log N, one per band
};

// The steps of all bands of cluster j together. False, with thetas on their way, once log pi_j plus
// the energy is certain to stay below `least`.
bool climb_cluster(const ClusterPrior& prior, int j, std::span<const double> counts, double least,
                   std::span<Theta> thetas, ImageScratch& s, ClusterStats& stats) {
  double constant = s.log_priors[j];  // what the energy has beside the bands' F
  for (int g = 0; g < prior.num_bands; ++g) {
    const std::span<const double> n = band_of(counts, prior.num_words, g);
    s.solvers[g].begin(n, total_of(n), prior.precision(j, g), prior.mean(j, g), thetas[g]);
    constant += 0.5 * (static_cast<double>(prior.num_words) - prior.log_dets(j, g));
  }
  bool is_below = false;
  for (bool is_done = false; !is_done && !is_below;) {
    double energy = constant;
    is_done = true;
    for (ThetaSolver& solver : s.solvers) {
      solver.step();
      is_done = is_done && solver.is_done();
      energy += solver.value().objective;
    }
    if (is_done || energy >= least) continue;
    double most = constant;
    for (const ThetaSolver& solver : s.solvers) most += solver.upper_bound();
    is_below = most < least;
  }
  for (const ThetaSolver& solver : s.solvers) stats.newton_steps += solver.value().steps;
  return !is_below;
}

// log pi and the energy of the image's vector.
void set_log_priors(const ClusterPrior& prior, std::span<const double> vector, ImageScratch& s) {
  s.log_priors = prior.log_weights;
  if (prior.vectors.is_empty()) return;
  for (int j = 0; j < prior.num_clusters(); ++j) s.log_priors[j] += prior.vectors.energy(j, vector);
}

// The energy of cluster j at its best thetas; -inf once it is certain to stay below `least`.
double solve_cluster(const ClusterPrior& prior, int j, std::span<const double> counts, double least,
                     std::span<Theta> thetas, ImageScratch& s, ClusterFit& fit,
                     ClusterStats& stats) {
  if (!prior.is_full && !climb_cluster(prior, j, counts, least, thetas, s, stats)) return -INFINITY;
  double energy = 0;
  fit.parts.resize(prior.num_bands), fit.densities.resize(prior.num_bands);
  for (int g = 0; g < prior.num_bands; ++g) {
    const std::span<const double> n = band_of(counts, prior.num_words, g);
    ThetaValue value;
    if (prior.is_full) {
      value =
          solve_theta_full(n, total_of(n), prior.full_precision(j, g), prior.mean(j, g), thetas[g]);
      stats.newton_steps += value.steps;
    } else {
      value = s.solvers[g].value();
    }
    fit.parts[g] = parts_of(n, thetas[g], value.log_sum);
    fit.densities[g] = expected_log_density(prior, j, g, thetas[g]);
    energy += fit.parts[g].t3 + fit.parts[g].t6 + fit.densities[g];
  }
  return energy;
}

// What is left of the log priors beside log pi, which update_zeta adds.
void add_vector_energies(const ClusterPrior& prior, ImageScratch& s) {
  for (size_t j = 0; j < s.energies.size(); ++j)
    s.energies[j] += s.log_priors[j] - prior.log_weights[j];
}

// Structured: a theta for each cluster and band, then zeta. The likeliest cluster comes first, so
// that those that have no share need few steps.
void update_structured(const ClusterPrior& prior, std::span<const double> counts,
                       std::span<double> zeta, std::span<double> alpha, ImageScratch& s,
                       ClusterStats& stats) {
  const int num_bands = prior.num_bands;
  const int64_t num_words = prior.num_words;
  s.thetas.resize(static_cast<size_t>(prior.num_clusters()) * num_bands);
  s.energies.assign(prior.num_clusters(), -INFINITY);
  std::vector<ClusterFit> fits(prior.num_clusters());
  const auto thetas_of = [&](int j) {
    return std::span<Theta>(s.thetas).subspan(static_cast<size_t>(j) * num_bands, num_bands);
  };
  const auto first = static_cast<int>(std::ranges::max_element(zeta) - zeta.begin());
  for (int g = 0; g < num_bands; ++g)
    start_theta(band_of(counts, num_words, g), prior.precision(first, g), thetas_of(first)[g]);
  int best = first;
  double highest = -INFINITY;
  for (int i = 0; i < prior.num_clusters(); ++i) {
    const int j = i == 0 ? first : (i <= first ? i - 1 : i);
    // Clusters differ little: the best one's theta is near.
    if (j != first) std::ranges::copy(thetas_of(best), thetas_of(j).begin());
    s.energies[j] =
        solve_cluster(prior, j, counts, highest - kNegligible, thetas_of(j), s, fits[j], stats);
    if (s.log_priors[j] + s.energies[j] <= highest) continue;
    highest = s.log_priors[j] + s.energies[j];
    best = j;
  }
  add_vector_energies(prior, s);
  update_zeta(prior, s.energies, zeta);
  add_zeta_terms(prior, zeta, stats.bound);
  for (int j = 0; j < prior.num_clusters(); ++j) {
    if (!(zeta[j] >= kNoShare)) continue;  // nor a NaN share: it may have no fit
    stats.bound.terms[1] += zeta[j] * (s.log_priors[j] - prior.log_weights[j]);
    for (int g = 0; g < num_bands; ++g) {
      const Theta& theta = thetas_of(j)[g];
      stats.bound.terms[1] += zeta[j] * fits[j].densities[g];
      stats.bound.terms[2] += zeta[j] * fits[j].parts[g].t3;
      stats.bound.terms[5] += zeta[j] * fits[j].parts[g].t6;
      stats.add(prior, j, g, zeta[j], theta);
      add_alpha(alpha, num_words, g, zeta[j], theta);
    }
  }
}

// Low rank: theta of all bands given the mean of h, then h and zeta given theta.
void update_low_rank(const ClusterPrior& prior, std::span<const double> counts,
                     std::span<double> zeta, std::span<double> alpha, ImageScratch& s,
                     ClusterStats& stats) {
  const FactorPrior& factors = prior.factors;
  const int64_t num_words = prior.num_words;
  factors.pull(alpha, s.pull);
  factors.mean(s.pull, zeta, s.factors);
  s.thetas.resize(prior.num_bands);
  s.mean.resize(num_words);
  s.tau2.clear();
  for (int g = 0; g < prior.num_bands; ++g) {
    const std::span<const double> n = band_of(counts, num_words, g);
    const std::span<const double> precision = band_of(factors.precision, num_words, g);
    factors.image(s.factors, g * num_words, s.mean);
    start_theta(n, precision, s.thetas[g]);
    const ThetaValue value =
        solve_theta(n, total_of(n), precision, s.mean, s.thetas[g], s.solvers[0]);
    const BandParts parts = parts_of(n, s.thetas[g], value.log_sum);
    stats.newton_steps += value.steps;
    stats.bound.terms[2] += parts.t3;
    stats.bound.terms[5] += parts.t6;
    std::ranges::copy(s.thetas[g].alpha, alpha.begin() + g * num_words);
    s.tau2.insert(s.tau2.end(), s.thetas[g].tau2.begin(), s.thetas[g].tau2.end());
  }
  factors.pull(alpha, s.pull);
  s.energies = factors.levels;
  for (int j = 0; j < prior.num_clusters(); ++j)
    for (int64_t f = 0; f < factors.size(); ++f) s.energies[j] += factors.pulls(j, f) * s.pull[f];
  add_vector_energies(prior, s);
  update_zeta(prior, s.energies, zeta);
  add_zeta_terms(prior, zeta, stats.bound);
  stats.bound.terms[5] += factors.entropy;
  for (size_t j = 0; j < zeta.size(); ++j) stats.mass[j] += zeta[j];
  stats.factors.add(factors, zeta, alpha, s.tau2, s.pull);
}

// Mean field, as in the paper: one theta per band from the zeta before, then zeta.
void update_mean_field(const ClusterPrior& prior, std::span<const double> counts,
                       std::span<double> zeta, std::span<double> alpha, ImageScratch& s,
                       ClusterStats& stats) {
  s.thetas.resize(prior.num_bands);
  s.energies.assign(prior.num_clusters(), 0);
  for (int g = 0; g < prior.num_bands; ++g) {
    const std::span<const double> n = band_of(counts, prior.num_words, g);
    start_theta(n, prior.precision(0, g), s.thetas[g]);
    const BandParts parts = solve_mixed(prior, g, zeta, n, s.thetas[g], s, stats);
    stats.bound.terms[2] += parts.t3;
    stats.bound.terms[5] += parts.t6;
    for (int j = 0; j < prior.num_clusters(); ++j)
      s.energies[j] += expected_log_density(prior, j, g, s.thetas[g]);
    add_alpha(alpha, prior.num_words, g, 1, s.thetas[g]);
  }
  add_vector_energies(prior, s);
  update_zeta(prior, s.energies, zeta);
  add_zeta_terms(prior, zeta, stats.bound);
  for (int j = 0; j < prior.num_clusters(); ++j) {
    if (zeta[j] < kNoShare) continue;
    stats.bound.terms[1] += zeta[j] * s.energies[j];
    for (int g = 0; g < prior.num_bands; ++g) stats.add(prior, j, g, zeta[j], s.thetas[g]);
  }
}

}  // namespace

double BoundTerms::total() const {
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum;
}

void BoundTerms::merge(const BoundTerms& other) {
  for (size_t i = 0; i < terms.size(); ++i) terms[i] += other.terms[i];
}

double expected_log_density(const ClusterPrior& prior, int j, int g, const Theta& theta) {
  const int64_t num_words = prior.num_words;
  const std::span<const double> mean = prior.mean(j, g);
  const std::span<const double> precision = prior.precision(j, g);
  double sum = static_cast<double>(num_words) * log_two_pi() + prior.log_dets(j, g);
  for (int64_t v = 0; v < num_words; ++v) {
    const double away = theta.alpha[v] - mean[v];
    sum += precision[v] * (prior.is_full ? theta.tau2[v] : theta.tau2[v] + away * away);
  }
  if (prior.is_full) {
    const DoubleView full = prior.full_precision(j, g);
    for (int64_t v = 0; v < num_words; ++v) {
      double dot = 0;
      for (int64_t w = 0; w < num_words; ++w) dot += full(v, w) * (theta.alpha[w] - mean[w]);
      sum += dot * (theta.alpha[v] - mean[v]);
    }
  }
  return -0.5 * sum;
}

void update_zeta(const ClusterPrior& prior, std::span<const double> energies,
                 std::span<double> zeta) {
  for (size_t j = 0; j < zeta.size(); ++j) zeta[j] = prior.log_weights[j] + energies[j];
  // Divided by their sum, not by the exponential of its logarithm: that has few digits behind the
  // point when an image has many patches, and the bound sees every error of the sum.
  const double largest = *std::ranges::max_element(zeta);
  double sum = 0;
  for (double& z : zeta) sum += z = std::exp(z - largest);
  for (double& z : zeta) z /= sum;
}

void update_image(const ClusterPrior& prior, DlgmmPosterior posterior, double kappa,
                  std::span<const double> counts, std::span<double> zeta, std::span<double> alpha,
                  ImageScratch& scratch, ClusterStats& stats, std::span<const double> vector) {
  scratch.counts.resize(counts.size());
  scratch.solvers.resize(prior.num_bands);
  for (size_t v = 0; v < counts.size(); ++v) scratch.counts[v] = kappa * counts[v];
  set_log_priors(prior, vector, scratch);
  if (!prior.factors.is_empty()) {
    update_low_rank(prior, scratch.counts, zeta, alpha, scratch, stats);
    if (!prior.vectors.is_empty()) stats.vectors.add(zeta, vector);
    return;
  }
  std::fill(alpha.begin(), alpha.end(), 0.0);
  if (posterior == DlgmmPosterior::Structured)
    update_structured(prior, scratch.counts, zeta, alpha, scratch, stats);
  else
    update_mean_field(prior, scratch.counts, zeta, alpha, scratch, stats);
  if (!prior.vectors.is_empty()) stats.vectors.add(zeta, vector);
}

std::optional<ClusterStats> update_images(const ImageTable& table, const DlgmmModel& model,
                                          DoubleView counts, MatrixView<double> zeta,
                                          MatrixView<double> alpha, int num_threads,
                                          Monitor& monitor) {
  const ClusterPrior prior = make_cluster_prior(model);
  const ClusterStats zero(prior);
  ClusterStats stats = table.team->parallel_reduce(
      table.num_images, kLayerBlock, num_threads, zero,
      [&](const Block& block, ClusterStats& part) {
        ImageScratch scratch;
        for (int64_t d = block.begin; d < block.end; ++d) {
          if (table.num_patches(d) == 0) continue;
          if (monitor.should_stop()) return;
          const int64_t row = d - table.own_begin();
          update_image(prior, model.posterior, model.kappa, counts.row_span(row),
                       zeta.row_span(row), alpha.row_span(row), scratch, part, table.vector(d));
        }
      },
      [](ClusterStats& total, const ClusterStats& part) { total.merge(part); });
  if (monitor.should_stop()) return std::nullopt;
  if (model.is_low_rank()) stats.bound.terms[1] = cluster_term(stats, model.means, model);
  return stats;
}

}  // namespace milieu::internal
