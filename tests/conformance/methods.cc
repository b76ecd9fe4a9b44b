// SPDX-License-Identifier: Apache-2.0
#include "methods.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/cac/cac.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/icc/icc.h"

namespace milieu {

namespace {

ConformanceMethod kmeans() {
  ConformanceMethod m = conformance_method(
      "kmeans", KMeansOptions{}, [](FloatView points, const KMeansOptions& options, Monitor& mon) {
        return fit_kmeans({points, {}, {}}, options, mon);
      });
  add_given_start(m, KMeansOptions{}, [](FloatView points, FloatView start, const auto& options) {
    return fit_kmeans({points, {}, start}, options);
  });
  m.direction = TraceDirection::Falls;
  return m;
}

ConformanceMethod kmodes() {
  ConformanceMethod m = conformance_method(
      "kmodes", KModesOptions{}, [](FloatView points, const KModesOptions& options, Monitor& mon) {
        return fit_kmodes({points, {}, {}}, options, mon);
      });
  add_given_start(m, KModesOptions{}, [](FloatView points, FloatView start, const auto& options) {
    return fit_kmodes({points, {}, start}, options);
  });
  m.is_binary = true;
  m.direction = TraceDirection::Falls;
  return m;
}

ConformanceMethod gmm(std::string name, GmmCovariance covariance) {
  GmmOptions defaults;
  defaults.covariance = covariance;
  ConformanceMethod m = conformance_method(
      std::move(name), defaults, [](FloatView points, const GmmOptions& options, Monitor& mon) {
        return fit_gmm({points, {}, {}}, options, mon);
      });
  add_given_start(m, defaults, [](FloatView points, FloatView start, const auto& options) {
    return fit_gmm({points, {}, start}, options);
  });
  m.direction = TraceDirection::Rises;
  return m;
}

ConformanceMethod ncut() {
  return conformance_method("ncut", NcutOptions{},
                            [](FloatView points, const NcutOptions& options, Monitor& monitor) {
                              return fit_ncut({points}, options, monitor);
                            });
}

ConformanceMethod mean_shift(std::string name, MeanShiftKernel kernel) {
  MeanShiftOptions defaults;
  defaults.kernel = kernel;
  ConformanceMethod m =
      conformance_method(std::move(name), defaults,
                         [](FloatView points, const MeanShiftOptions& options, Monitor& monitor) {
                           return fit_mean_shift({points}, options, monitor);
                         });
  m.direction = TraceDirection::Rises;
  m.num_samples = 600;  // every sample climbs on its own: quadratic in each move
  return m;
}

ConformanceMethod agglomerative(std::string name, Linkage linkage) {
  AgglomerativeOptions defaults;
  defaults.linkage = linkage;
  ConformanceMethod m = conformance_method(
      std::move(name), defaults,
      [](FloatView points, const AgglomerativeOptions& options, Monitor& monitor) {
        return fit_agglomerative({points}, options, monitor);
      });
  m.direction = TraceDirection::Rises;
  return m;
}

ConformanceMethod kmedoids() {
  ConformanceMethod m =
      conformance_method("kmedoids", KMedoidsOptions{},
                         [](FloatView points, const KMedoidsOptions& options, Monitor& monitor) {
                           return fit_kmedoids({points, {}, {}}, options, monitor);
                         });
  m.direction = TraceDirection::Falls;
  return m;
}

// A context for any samples: points half-way between samples that lie far apart. Separated clusters
// are then the parts that it separates.
Matrix<float> context_between(FloatView points) {
  const int64_t n = points.rows(), d = std::max<int64_t>(1, points.cols());
  std::vector<std::pair<double, std::pair<int64_t, int64_t>>> pairs;
  for (int64_t i = 0; i < n && points.cols() > 0; ++i)
    for (const int64_t step : {1, 2, 5}) {
      const int64_t j = (i + step) % n;
      double squared = 0;
      for (int64_t t = 0; t < d; ++t) {
        const double difference = static_cast<double>(points(i, t)) - points(j, t);
        squared += difference * difference;
      }
      if (squared > 0 && std::isfinite(squared)) pairs.push_back({squared, {i, j}});
    }
  double farthest = 0;
  for (const auto& [squared, pair] : pairs) farthest = std::max(farthest, squared);
  std::erase_if(pairs, [&](const auto& pair) { return pair.first < 0.1 * farthest; });
  pairs.resize(std::min<size_t>(pairs.size(), 150));
  Matrix<float> context(std::max<int64_t>(1, static_cast<int64_t>(pairs.size())), d);
  for (size_t i = 0; i < pairs.size(); ++i)
    for (int64_t t = 0; t < d; ++t)
      context(static_cast<int64_t>(i), t) =
          0.5f * points(pairs[i].second.first, t) + 0.5f * points(pairs[i].second.second, t);
  return context;
}

ConformanceMethod dcp(std::string name, DcpOptimizer optimizer, DcpKernel kernel) {
  DcpOptions defaults;
  defaults.scale = true;  // the cost is measured in units of the data
  defaults.num_restarts = 8;
  defaults.search.optimizer = optimizer;
  defaults.kernel = kernel;
  ConformanceMethod m = conformance_method(
      std::move(name), defaults, [](FloatView points, const DcpOptions& options, Monitor& monitor) {
        const Matrix<float> context = context_between(points);
        DcpInput input;
        input.points = points;
        input.context = context;
        return fit_dcp(input, options, monitor);
      });
  m.direction = TraceDirection::Falls;
  m.num_samples = 400;
  m.separates_by_planes = true;
  m.may_leave_empty = true;
  return m;
}

ConformanceMethod exemplar() {
  ConformanceMethod m =
      conformance_method("exemplar", ExemplarOptions{},
                         [](FloatView points, const ExemplarOptions& options, Monitor& monitor) {
                           ExemplarInput input;
                           input.points = points;
                           return fit_exemplar(input, options, monitor);
                         });
  m.num_samples = 600;
  return m;
}

// Every sample is an image of one patch; as many words as clusters. Under mean field the patch
// counts eightfold: one count weighs less than the prior mean from which prediction starts, and the
// first cluster confirms itself. Where words are well apart the bound rises ever more slowly (means
// of log frequencies grow without limit), so that convergence takes more than the default passes.
ConformanceMethod dlgmm(std::string name, DlgmmPosterior posterior) {
  DlgmmOptions defaults;
  defaults.posterior = posterior;
  if (posterior == DlgmmPosterior::MeanField) defaults.kappa = 8;
  defaults.num_restarts = 1;
  defaults.max_iterations = 1000;
  ConformanceMethod m = conformance_method(
      std::move(name), defaults, [](FloatView points, DlgmmOptions options, Monitor& monitor) {
        if (options.num_words > 0) options.num_words = std::max(options.num_clusters, 1);
        DlgmmInput input;
        input.images.patches = points;
        return fit_dlgmm(input, options, monitor);
      });
  m.direction = TraceDirection::Rises;
  m.may_leave_out = true;
  m.labels_in_a_pass = true;
  m.num_samples = 600;
  return m;
}

// Without context the words are the clusters, those of k-means.
ConformanceMethod cac_words() {
  ConformanceMethod m;
  const auto options_of = [](const ConformanceSettings& settings) {
    CacOptions options;
    options.num_words = settings.num_clusters;
    options.seed = settings.seed;
    options.num_threads = settings.num_threads;
    return options;
  };
  m = conformance_method("cac", CacOptions{.num_words = 3},
                         [](FloatView points, const CacOptions& options, Monitor& monitor) {
                           CacInput input;
                           input.views = {points};
                           return fit_cac(input, options, monitor);
                         });
  m.fit = [options_of](FloatView points, const ConformanceSettings& settings, Monitor& monitor) {
    CacInput input;
    input.views = {points};
    return internal::to_outcome(fit_cac(input, options_of(settings), monitor));
  };
  m.direction = TraceDirection::Falls;
  return m;
}

// Each sample in two views: the phrases are the clusters. Samples alone have words, not phrases, so
// what predicts for them is left out.
ConformanceMethod cac_views() {
  const auto fit_views = [](FloatView points, const CacOptions& options, Monitor& monitor) {
    CacInput input;
    input.views = {points, points};
    return fit_cac(input, options, monitor);
  };
  ConformanceMethod m =
      conformance_method("cac_views", CacOptions{.num_words = 3, .num_phrases = 3}, fit_views);
  m.fit = [fit_views](FloatView points, const ConformanceSettings& settings, Monitor& monitor) {
    CacOptions options;
    options.num_words = settings.num_clusters;
    options.num_phrases = settings.num_clusters;
    options.seed = settings.seed;
    options.num_threads = settings.num_threads;
    ConformanceOutcome outcome = internal::to_outcome(fit_views(points, options, monitor));
    outcome.summary.d = points.cols();  // the suite has one view in mind
    outcome.predict = nullptr;
    outcome.predict_from_file = nullptr;
    return outcome;
  };
  m.direction = TraceDirection::Falls;
  return m;
}

ConformanceMethod icc(std::string name, IccClimb climb) {
  IccOptions defaults;
  defaults.climb = climb;
  ConformanceMethod m = conformance_method(
      std::move(name), defaults, [](FloatView points, const IccOptions& options, Monitor& monitor) {
        return fit_icc({points, {}, {}, {}}, options, monitor);
      });
  if (climb == IccClimb::Free) m.num_samples = 600;  // every sample climbs on its own
  return m;
}

template <class Options, class Fit>
ConformanceMethod counts(std::string name, const Options& defaults, Fit fit) {
  ConformanceMethod m = conformance_method(std::move(name), defaults, fit);
  m.is_counts = true;
  m.num_samples = 600;
  return m;
}

ConformanceMethod bags(std::string name, BagWeighting weighting) {
  BagsOptions defaults;
  defaults.weighting = weighting;
  return counts(std::move(name), defaults,
                [](FloatView points, const BagsOptions& options, Monitor& monitor) {
                  return fit_bags({points}, options, monitor);
                });
}

ConformanceMethod multinomials() {
  ConformanceMethod m =
      counts("multinomials", MultinomialsOptions{},
             [](FloatView points, const MultinomialsOptions& options, Monitor& monitor) {
               return fit_multinomials({points}, options, monitor);
             });
  m.direction = TraceDirection::Rises;
  return m;
}

ConformanceMethod topics() {
  ConformanceMethod m = counts("topics", TopicsOptions{},
                               [](FloatView points, const TopicsOptions& options, Monitor& mon) {
                                 return fit_topics({points}, options, mon);
                               });
  m.may_leave_empty = true;  // a topic may be the strongest of no row
  m.labels_in_a_pass = true;
  return m;
}

// As many topics as clusters.
ConformanceMethod jsom() {
  ConformanceMethod m =
      counts("jsom", JsomOptions{}, [](FloatView points, JsomOptions options, Monitor& monitor) {
        if (options.num_topics > 0) options.num_topics = std::max(options.num_clusters, 1);
        return fit_jsom({points}, options, monitor);
      });
  m.may_leave_empty = true;
  m.labels_in_a_pass = true;
  return m;
}

}  // namespace

std::vector<ConformanceMethod> all_methods() {
  return {cac_words(),
          cac_views(),
          kmeans(),
          kmodes(),
          gmm("gmm", GmmCovariance::Diagonal),
          gmm("gmm_spherical", GmmCovariance::Spherical),
          gmm("gmm_full", GmmCovariance::Full),
          gmm("gmm_tied", GmmCovariance::Tied),
          ncut(),
          mean_shift("meanshift", MeanShiftKernel::Flat),
          mean_shift("meanshift_gaussian", MeanShiftKernel::Gaussian),
          agglomerative("agglomerative", Linkage::Ward),
          agglomerative("agglomerative_average", Linkage::Average),
          agglomerative("agglomerative_complete", Linkage::Complete),
          agglomerative("agglomerative_single", Linkage::Single),
          dcp("dcp", DcpOptimizer::Lbfgs, DcpKernel::Linear),
          dcp("dcp_annealing", DcpOptimizer::Annealing, DcpKernel::Linear),
          kmedoids(),
          exemplar(),
          dlgmm("dlgmm", DlgmmPosterior::Structured),
          dlgmm("dlgmm_mean_field", DlgmmPosterior::MeanField),
          icc("icc", IccClimb::Basin),
          icc("icc_gradient", IccClimb::Gradient),
          icc("icc_free", IccClimb::Free),
          bags("bags", BagWeighting::LogCounts),
          bags("bags_tf_idf", BagWeighting::TfIdf),
          multinomials(),
          topics(),
          jsom()};
}

// The suites of the other files run on each method, named after it.
INSTANTIATE_TEST_SUITE_P(Methods, Conformance, ::testing::ValuesIn(all_methods()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace milieu
