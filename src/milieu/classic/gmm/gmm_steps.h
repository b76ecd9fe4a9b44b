// SPDX-License-Identifier: Apache-2.0
// The steps of expectation maximisation for Gaussian mixtures, one function each. The symbols and
// conventions are those at the top of gmm.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// True for the kinds whose statistics are outer products.
inline bool has_full_matrices(GmmCovariance covariance) {
  return covariance == GmmCovariance::Full || covariance == GmmCovariance::Tied;
}

// What one fit works on; checked by fit_gmm.
struct GmmProblem {
  Rows rows;                        // n, of all ranks; arrays by row are of own ones
  FloatView points;                 // n x d
  std::span<const double> weights;  // n, or empty: all 1
  double total_weight = 0;
  GmmCovariance covariance = GmmCovariance::Diagonal;
  std::vector<double> floors;  // d: least variance of a component along each feature
  int num_threads = 0;
};

// A model laid out for the score loops.
struct GmmScorer {
  GmmCovariance covariance = GmmCovariance::Diagonal;
  Matrix<double> means;           // k x d
  std::vector<double> constants;  // k: log pi - d/2 log 2 pi - 1/2 log det; -inf for weight 0
  Matrix<double> inverse_std;     // k x d; spherical and diagonal
  std::vector<Matrix<double>> whitening;  // padded d x d; full: one per component, tied: one

  int64_t num_clusters() const { return means.rows(); }
  int64_t num_features() const { return means.cols(); }
  const Matrix<double>& whitening_of(int64_t c) const {
    return whitening[covariance == GmmCovariance::Tied ? 0 : c];
  }
};

// Throws DataError when the model's arrays do not match, a weight is negative or not
// finite, or a covariance is not positive definite: models may come from a file.
GmmScorer make_scorer(const GmmModel& model);

// Buffers for one tile of samples and what is computed from it (see gmm_loops.h for the layout).
class GmmTile {
 public:
  // `covariance` says for which statistics there must be room.
  GmmTile(int64_t num_clusters, int64_t num_features, GmmCovariance covariance);

  // The next `points.rows()` <= kGmmTileRows samples; empty weights mean all 1.
  void load(FloatView points, std::span<const double> weights);
  // log(pi_c N(x | mu_c, Sigma_c)) of every sample and component.
  void score(const GmmScorer& scorer);
  // Scores become weight * responsibility; log sums and labels are set. [Bishop06, Eq. 9.23]
  void normalize();
  // Instead of the responsibilities of normalize(): the whole weight to the label. Call it after.
  void harden();

  int64_t rows() const { return rows_; }
  std::span<const int> labels() const { return {labels_.data(), static_cast<size_t>(rows_)}; }
  std::span<const double> log_sums() const { return log_sums_.row_span(0).first(rows_); }
  std::span<const double> weights() const { return weights_.row_span(0).first(rows_); }
  // Weight times responsibility of component c for sample s.
  double share(int64_t c, int64_t s) const { return scores_(c, s); }

 private:
  friend struct GmmStats;

  int64_t rows_ = 0;
  Matrix<double> points_;              // d lines
  Matrix<double> scores_;              // k lines
  Matrix<double> differences_;         // full: padded d lines
  Matrix<double> shared_;              // full: padded d lines
  Matrix<double> weights_, log_sums_;  // one line each
  std::vector<int> labels_;
};

// Sufficient statistics of samples about the means of the model that shared them out: a plain sum,
// so blocks (and machines) can be merged. Moments about the current means instead of the origin
// lose no digits however far the data lie from it.
struct GmmStats {
  GmmStats(int64_t num_clusters, int64_t num_features, GmmCovariance covariance);

  double log_likelihood = 0;   // sum of weight * log p(x)
  std::vector<double> counts;  // k: N_c = sum of shares
  Matrix<double> first;        // k x d: sum of share * (x - mu)
  Matrix<double> second;       // k x d: of share * (x - mu)^2; full: k x (padded d)^2, of the outer
                               // products, lower triangle

  void add(const GmmScorer& scorer, GmmTile& tile);
  void merge(const GmmStats& other);
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(log_likelihood, counts, first, second);
  }
  int64_t num_bytes() const {
    return (first.size() + second.size()) * static_cast<int64_t>(sizeof(double));
  }
};

// Soft: responsibilities [Bishop06, Eq. 9.23]; hard: all weight to the best component.
enum class GmmSharing { Soft, Hard };

// One pass over the samples: shares them out under `scorer` and sets labels (n, or empty: not
// needed). The statistics are those that problem.covariance needs, whatever the scorer's kind.
// Nothing is returned, and labels are meaningless, when the monitor stops the pass.
std::optional<GmmStats> run_expectation(const GmmProblem& problem, const GmmScorer& scorer,
                                        GmmSharing sharing, Monitor& monitor,
                                        std::span<int> labels);

// The parameters that maximise the expected log-likelihood under the variance floors
// [Bishop06, Eq. 9.24 to 9.26]. A component with less than kGmmEmptyCount of a mean sample is
// switched off: weight 0, mean and covariance as in `previous`, a model of problem.covariance.
inline constexpr double kGmmEmptyCount = 1e-10;
GmmModel maximize(const GmmProblem& problem, const GmmModel& previous, const GmmStats& stats);

// Raises every covariance of the model to the floors: the same bound as in maximize.
void apply_floors(const GmmProblem& problem, GmmModel& model);

// The single Gaussian of all samples: k = 1, diagonal, no floors; a constant feature has variance
// exactly 0. problem.floors is not used.
GmmModel pool_samples(const GmmProblem& problem);

// problem.floors from the pooled variances: `regularization` of each; a constant feature takes the
// mean variance of the others, or 1 when there is none.
std::vector<double> variance_floors(const GmmModel& pooled, double regularization);

// The first model from k means (k x d): each keeps its place and takes weight and covariance from
// the samples nearest to it [Bishop06, Sec. 9.2.2]; a mean without samples is switched off. When
// the monitor stops it, equal components of the pooled variances are put at the means.
GmmModel start_from_means(const GmmProblem& problem, const GmmModel& pooled,
                          const Matrix<double>& means, const Monitor& monitor);

// The first model of a restart: the given one raised to the floors, or start_from_means on the
// given means, the centres of one k-means run, or random samples.
GmmModel first_model(const GmmInput& input, const GmmProblem& problem, const GmmModel& pooled,
                     const GmmOptions& options, int restart, const Monitor& monitor);

// The label of every row, and its log-density: the E-step without statistics.
std::vector<double> label_samples(const GmmModel& model, FloatView points, int num_threads,
                                  std::span<int> labels);

// A result for a run that was stopped before its first pass: equal components of the pooled
// variances at the means, with the labels and the log-likelihood of that model. Much cheaper than a
// pass with full covariances; where even that would take long, labels are -1 and the log-likelihood
// is -infinity.
GmmModel make_stopgap(const GmmProblem& problem, const GmmModel& pooled,
                      const Matrix<double>& means, std::span<int> labels, double* log_likelihood);

}  // namespace milieu::internal
