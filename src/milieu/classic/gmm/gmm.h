// SPDX-License-Identifier: Apache-2.0
// Gaussian mixture by expectation maximisation [Dempster77]. The public interface; the loop is in
// gmm.cc, the steps in gmm_steps.h. docs/algorithms/gmm.md says how to choose the options.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/checkpoint.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// The shape that every component's covariance takes: s I, diag(s_1 .. s_d), its own matrix,
// or one matrix shared by all components.
enum class GmmCovariance { Spherical, Diagonal, Full, Tied };

// "spherical", "diagonal", "full", "tied": the names in options and model files.
const char* to_string(GmmCovariance covariance);
// Throws DataError for any other name: it is how a model file names the shape.
GmmCovariance gmm_covariance_from(std::string_view word);

// Where the first means come from: one k-means run, or samples drawn without replacement.
enum class GmmInit { KMeans, Random };

struct GmmOptions {
  int num_clusters = 8;  // components, k; at most the number of samples
  GmmCovariance covariance = GmmCovariance::Diagonal;  // more freedom needs more samples
  int num_restarts = 1;          // independent restarts; the highest log-likelihood is kept
  int max_iterations = 100;      // EM iterations of one restart
  double rel_tolerance = 1e-5;   // stop when the log-likelihood rises by less than this fraction of
                                 // max(|log-likelihood|, total weight); 0: always max_iterations
  double regularization = 1e-6;  // least variance, as a share of each feature's variance over all
                                 // samples; larger keeps components from shrinking onto few samples
  GmmInit init = GmmInit::KMeans;
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(GmmOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k").in_python("n_components"),
    "number of components");
  v("covariance", o.covariance,
    one_of<GmmCovariance>({{"spherical", GmmCovariance::Spherical},
                           {"diagonal", GmmCovariance::Diagonal},
                           {"full", GmmCovariance::Full},
                           {"tied", GmmCovariance::Tied}})
        .in_python("covariance_type"),
    "shape of the covariances; tied is one full matrix for all components");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum EM iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the log-likelihood rises by less than this fraction; 0 runs max_iterations");
  v("regularization", o.regularization, between(1e-12, 1),
    "smallest variance of a component, as a fraction of each feature's variance over all samples");
  v("init", o.init,
    one_of<GmmInit>({{"kmeans", GmmInit::KMeans}, {"random", GmmInit::Random}})
        .former("k-means", GmmInit::KMeans),
    "how the first means are found: by a k-means run or as random samples");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// What predicts for new samples. A component of weight 0 is empty: it gets no sample.
struct GmmModel {
  static constexpr std::string_view kKind = "gmm";
  static constexpr int kFormatVersion = 1;
  GmmCovariance covariance = GmmCovariance::Diagonal;
  std::vector<double> weights;  // k, >= 0, sum 1
  Matrix<double> means;         // k x d
  // Variances: spherical k x 1, diagonal k x d; full k x (d d), tied 1 x (d d), row-major matrices.
  Matrix<double> covariances;
};

// What is saved of a model: every array and scalar, by name (store/ reads and writes from this).
template <MaybeConst<GmmModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  visit_enum(v, "covariance", m.covariance, gmm_covariance_from);
  v("weights", m.weights);
  v("means", m.means);
  v("covariances", m.covariances);
}

struct GmmInput {
  static constexpr int64_t kBlockRows = 2048;  // what rows that ranks share are cut for

  FloatView points = {};                 // n x d samples, rows; finite
  std::span<const double> weights = {};  // n sample weights >= 0, or empty: all 1
  // A given start makes it a single start. At most one of the two may be given.
  FloatView initial_means = {};             // k x d, or empty; each mean takes its first weight and
                                            // covariance from the samples nearest to it
  const GmmModel* initial_model = nullptr;  // k components of options.covariance, or null
  // Where several ranks share the rows: points and weights are this rank's own, and so are labels.
  // Null: all are here.
  const Rows* rows = nullptr;
  Checkpoint* checkpoint = nullptr;  // keeps the state of the fit, and has one to go on from
};

template <class Visitor>
void visit_inputs(GmmInput& in, Visitor&& v) {
  v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
  v("initial_means", in.initial_means, InputRule{InputKind::Table, "k x d"},
    "initial means, one per row; they replace all restarts");
}

struct GmmResult {
  std::vector<int> labels;  // n, in [0, k); equal to predict(model, points)
  GmmModel model;
  // objective: weighted sum over samples of log p(x); it is maximised and its trace never falls.
  // extra: mean_log_likelihood (objective / total weight), aic and bic (smaller is better).
  RunSummary summary;
};

// Throws InvalidArgument for options out of range, empty points, more components than samples, and
// weights or starts that do not fit; DataError for points that are not finite. A stopped fit
// returns the best complete state; one that is stopped before its first pass over the samples still
// makes that pass.
GmmResult fit_gmm(const GmmInput& input, const GmmOptions& options,
                  Monitor& monitor = silent_monitor());

// The three below throw DataError for a model whose arrays do not match and for points
// that are not finite, InvalidArgument for points of another width.

// The most probable component of each row; ties go to the lowest index.
std::vector<int> predict(const GmmModel& model, FloatView points, int num_threads = 0);

// n x k: the probability of each component given the row; rows sum to 1.
Matrix<double> predict_probabilities(const GmmModel& model, FloatView points, int num_threads = 0);

// log p(x) of each row under the mixture.
std::vector<double> log_densities(const GmmModel& model, FloatView points, int num_threads = 0);

}  // namespace milieu
