// SPDX-License-Identifier: Apache-2.0
// Where both layers begin: a k-means codebook, and clusters from counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

namespace {

// Streams of the seed: 0 draws patches, 1 starts k-means, 2 + r starts the clusters of restart r.
constexpr uint64_t kPatchStream = 0;
constexpr uint64_t kWordStream = 1;
constexpr uint64_t kClusterStream = 2;

int64_t seed_from(uint64_t seed, uint64_t stream) {
  return static_cast<int64_t>(Random(seed).child(stream).next_bits() >> 2);
}

// At most `limit` patches, in the order of the file.
Matrix<float> draw_patches(FloatView patches, int64_t limit, uint64_t seed) {
  if (patches.rows() <= limit) return Matrix<float>(patches);
  std::vector<int64_t> rows =
      Random(seed).child(kPatchStream).sample_without_replacement(patches.rows(), limit);
  std::sort(rows.begin(), rows.end());
  Matrix<float> drawn(limit, patches.cols());
  for (int64_t i = 0; i < limit; ++i)
    std::copy_n(patches.row(rows[i]), patches.cols(), drawn.row(i));
  return drawn;
}

// Rows that differ from each other, counted up to `limit`.
int64_t count_distinct(FloatView rows, int64_t limit) {
  std::vector<int64_t> order(rows.rows());
  for (int64_t i = 0; i < rows.rows(); ++i) order[i] = i;
  const auto row_less = [&](int64_t a, int64_t b) {
    return std::ranges::lexicographical_compare(rows.row_span(a), rows.row_span(b));
  };
  std::sort(order.begin(), order.end(), row_less);
  int64_t count = rows.rows() > 0 ? 1 : 0;
  for (size_t i = 1; i < order.size() && count < limit; ++i)
    count += row_less(order[i - 1], order[i]);
  return count;
}

// Few words of few patches are easily missed by one start of k-means, and starts then cost little;
// of many patches there are so many words that one start is enough.
int codebook_restarts(int64_t num_values, int64_t num_words) {
  constexpr int64_t kCheapProducts = 200'000'000;
  return static_cast<int>(std::clamp<int64_t>(kCheapProducts / (num_values * num_words), 1, 10));
}

// A stopped k-means has no labels: then all words are kept.
void keep_used_words(const KMeansResult& found, DlgmmModel& model) {
  std::vector<int64_t> kept;
  for (int64_t v = 0; v < found.model.centers.rows(); ++v)
    if (found.summary.clusters == 0 || found.summary.sizes[v] > 0) kept.push_back(v);
  model.words = Matrix<double>(static_cast<int64_t>(kept.size()), found.model.centers.cols());
  for (size_t v = 0; v < kept.size(); ++v)
    for (int64_t r = 0; r < model.words.cols(); ++r)
      model.words(static_cast<int64_t>(v), r) = found.model.centers(kept[v], r);
}

}  // namespace

double patch_variance(FloatView patches) {
  constexpr int64_t kEnough = 100000;
  const int64_t step = std::max<int64_t>(1, patches.rows() / kEnough);
  double total = 0;
  for (int64_t r = 0; r < patches.cols(); ++r) {
    double sum = 0, squares = 0, count = 0;
    const double origin = patches(0, r);
    for (int64_t i = 0; i < patches.rows(); i += step) {
      const double x = static_cast<double>(patches(i, r)) - origin;
      sum += x, squares += x * x, count += 1;
    }
    total += std::max(0.0, squares / count - (sum / count) * (sum / count));
  }
  return total / static_cast<double>(patches.cols());
}

void start_words(const DlgmmInput& input, const DlgmmOptions& options, Monitor& monitor,
                 DlgmmModel& model) {
  const FloatView patches = input.images.patches;
  double variance = 0;
  if (!input.initial_words.empty()) {
    model.words = Matrix<double>(input.initial_words.rows(), input.initial_words.cols());
    for (int64_t v = 0; v < model.words.rows(); ++v)
      for (int64_t r = 0; r < model.words.cols(); ++r)
        model.words(v, r) = input.initial_words(v, r);
    variance = 0.5 * patch_variance(patches);
  } else {
    const Matrix<float> drawn = draw_patches(patches, options.max_codebook_patches, options.seed);
    KMeansOptions kmeans;
    kmeans.num_clusters =
        static_cast<int>(count_distinct(drawn.view(), std::max(options.num_words, 1)));
    kmeans.num_restarts = codebook_restarts(drawn.size(), kmeans.num_clusters);
    kmeans.max_iterations = 30;
    kmeans.rel_tolerance = 1e-3;
    kmeans.seed = seed_from(options.seed, kWordStream);
    kmeans.num_threads = options.num_threads;
    const Rows rows = team_of(input).rows(drawn.rows(), KMeansInput::kBlockRows);
    KMeansInput own;
    own.points = drawn.view().rows_between(rows.begin(), rows.end());
    own.rows = &rows;
    const KMeansResult found = fit_kmeans(own, kmeans, monitor);
    keep_used_words(found, model);
    variance = found.summary.objective / static_cast<double>(drawn.size());
  }
  const int64_t dim = model.words.cols();
  const bool is_full = options.word_covariance == WordCovariance::Full;
  const bool is_diagonal = options.word_covariance == WordCovariance::Diagonal;
  model.word_variances =
      Matrix<double>(options.tie_words ? 1 : model.words.rows(), is_full       ? dim * dim
                                                                 : is_diagonal ? dim
                                                                               : 1);
  const double floor = options.min_word_variance * patch_variance(patches);
  const double first = std::max({variance, floor, 1e-30});
  for (int64_t i = 0; i < model.word_variances.size(); ++i)
    model.word_variances.data()[i] = !is_full || i % (dim * dim) % (dim + 1) == 0 ? first : 0.0;
}

Matrix<float> log_counts(DoubleView counts, int num_bands) {
  Matrix<float> points(counts.rows(), counts.cols());
  const int64_t num_words = counts.cols() / num_bands;
  for (int64_t d = 0; d < counts.rows(); ++d)
    for (int g = 0; g < num_bands; ++g) {
      double mean = 0;
      for (int64_t v = 0; v < num_words; ++v)
        mean += std::log(counts(d, g * num_words + v) + 0.5) / static_cast<double>(num_words);
      for (int64_t v = 0; v < num_words; ++v)
        points(d, g * num_words + v) =
            static_cast<float>(std::log(counts(d, g * num_words + v) + 0.5) - mean);
    }
  return points;
}

namespace {

// Labels of own rows that `fit` finds in rows as ranks share them: cut for blocks of `block` rows.
template <class Fit>
std::vector<int> label_shared(const Matrix<float>& own, int64_t block, const Team& team,
                              Fit&& fit) {
  if (!team.is_shared()) return fit(own.view(), team.rows(own.rows(), block));
  const std::vector<int64_t> from = team.borders_of(own.rows());
  const Rows rows = team.rows(from.back(), block);
  std::vector<int64_t> to;
  for (int r = 0; r < rows.ranks().size(); ++r) to.push_back(rows.stretch_of(r).first);
  to.push_back(from.back());
  const std::span<const float> values(own.data(), static_cast<size_t>(own.size()));
  const std::vector<float> moved = team.move_rows(values, own.cols(), from, to);
  const std::vector<int> labels = fit(FloatView(moved.data(), rows.own_size(), own.cols()), rows);
  return team.move_rows(std::span<const int>(labels), 1, to, from);
}

}  // namespace

uint64_t cluster_seed(const DlgmmOptions& options, int restart) {
  return seed_from(options.seed, kClusterStream + restart);
}

std::vector<int> start_labels(DoubleView counts, int num_bands, const DlgmmOptions& options,
                              int restart, Monitor& monitor, const Team& team) {
  const uint64_t seed = cluster_seed(options, restart);
  if (options.init == DlgmmInit::Random) {
    Random random(seed);
    const std::vector<int64_t> borders = team.borders_of(counts.rows());
    std::vector<int> labels(borders.back());
    for (size_t d = 0; d < labels.size(); ++d)
      labels[d] = static_cast<int>(d < static_cast<size_t>(options.num_clusters)
                                       ? d
                                       : random.uniform_index(options.num_clusters));
    random.shuffle(std::span<int>(labels));
    return {labels.begin() + borders[team.rank()], labels.begin() + borders[team.rank() + 1]};
  }
  if (options.init == DlgmmInit::Lda) {
    TopicsOptions topics;
    topics.num_clusters = options.num_clusters;
    topics.seed = seed;
    topics.num_threads = options.num_threads;
    topics.num_restarts = 1;
    Matrix<float> bags(counts.rows(), counts.cols());
    for (int64_t d = 0; d < counts.rows(); ++d)
      for (int64_t v = 0; v < counts.cols(); ++v) bags(d, v) = static_cast<float>(counts(d, v));
    return label_shared(bags, TopicsInput::kBlockRows, team, [&](FloatView own, const Rows& rows) {
      TopicsInput input;
      input.counts = own;
      input.rows = &rows;
      return fit_topics(input, topics, monitor).labels;
    });
  }
  KMeansOptions kmeans;
  kmeans.num_clusters = options.num_clusters;
  kmeans.num_restarts = 1;
  kmeans.seed = seed;
  kmeans.num_threads = options.num_threads;
  const Matrix<float> points = log_counts(counts, num_bands);
  return label_shared(points, KMeansInput::kBlockRows, team, [&](FloatView own, const Rows& rows) {
    KMeansInput input;
    input.points = own;
    input.rows = &rows;
    return fit_kmeans(input, kmeans, monitor).labels;
  });
}

namespace {

std::vector<double> indicator(int label, int num_clusters) {
  std::vector<double> shares(num_clusters, 0.0);
  shares[label] = 1;
  return shares;
}

// Layers of any valid values; only their shapes are used. Factors that are there stay.
void blank_factors(int64_t width, DlgmmModel& model) {
  const int64_t num_clusters = model.num_clusters();
  if (model.is_low_rank()) {
    if (model.factors.empty()) {
      model.factors = Matrix<double>(width, 1);
      model.origin = Matrix<double>(1, width);
    }
    model.factor_means = Matrix<double>(num_clusters, model.factors.cols());
    model.factor_variances.assign(static_cast<size_t>(model.factors.cols()), 1.0);
  }
  if (!model.has_image_vectors()) return;
  model.image_means = Matrix<double>(num_clusters, model.image_projection.rows() - 1);
  model.image_variances.assign(static_cast<size_t>(model.image_projection.rows()) - 1, 1.0);
}

// An image whose h are the coordinates of its log counts, without doubt.
void start_factors(const DlgmmModel& model, std::span<const double> counts,
                   std::span<const float> point, int label, ClusterStats& stats) {
  const int64_t size = model.factors.cols();
  FactorStats& to = stats.factors;
  std::vector<double> h(static_cast<size_t>(size), 0.0);
  for (size_t v = 0; v < point.size(); ++v)
    for (int64_t f = 0; f < size; ++f)
      h[f] += model.factors(static_cast<int64_t>(v), f) *
              (static_cast<double>(point[v]) - model.origin(0, static_cast<int64_t>(v)));
  stats.mass[label] += 1;
  for (int64_t f = 0; f < size; ++f) {
    to.first(label, f) += h[f];
    to.second[f] += h[f] * h[f];
  }
  for (size_t v = 0; v < point.size(); ++v) {
    double rest = static_cast<double>(point[v]);
    for (int64_t f = 0; f < size; ++f) rest -= model.factors(static_cast<int64_t>(v), f) * h[f];
    to.residual_first[v] += rest;
    to.residual_second[v] += rest * rest + 1 / (1 + model.kappa * counts[v]);
  }
}

}  // namespace

void start_clusters(DoubleView counts, std::span<const int> labels, const DlgmmOptions& options,
                    DlgmmModel& model, const Team& team, DoubleView vectors) {
  const int num_clusters = options.num_clusters;
  const int64_t num_words = model.num_words();
  const bool full =
      options.covariance == DlgmmCovariance::Full || options.covariance == DlgmmCovariance::Tied;
  const bool tied = options.covariance == DlgmmCovariance::TiedDiagonal ||
                    options.covariance == DlgmmCovariance::Tied || model.is_low_rank();
  const int rows = tied ? 1 : num_clusters;
  model.weights.assign(num_clusters, 1.0 / num_clusters);
  model.means = Matrix<double>(num_clusters, counts.cols());
  model.covariances = full ? Matrix<double>(int64_t{rows} * model.num_bands, num_words * num_words)
                           : Matrix<double>(rows, counts.cols());
  for (int64_t i = 0; i < model.covariances.rows(); ++i)  // any valid one: only its shape is used
    for (int64_t v = 0; v < (full ? num_words : counts.cols()); ++v)
      model.covariances(i, full ? v * num_words + v : v) = 1;
  blank_factors(counts.cols(), model);
  const ClusterPrior prior = make_cluster_prior(model);
  const Matrix<float> points = log_counts(counts, model.num_bands);
  const auto add_images = [&](ClusterStats& stats) {
    Theta theta;
    for (int64_t d = 0; d < counts.rows(); ++d) {
      if (model.has_image_vectors())
        stats.vectors.add(indicator(labels[d], num_clusters), vectors.row_span(d));
      if (model.is_low_rank()) {
        start_factors(model, counts.row_span(d), points.row_span(d), labels[d], stats);
        continue;
      }
      for (int g = 0; g < model.num_bands; ++g) {
        theta.alpha.assign(points.row(d) + g * num_words, points.row(d) + (g + 1) * num_words);
        theta.tau2.resize(num_words);
        for (int64_t v = 0; v < num_words; ++v)
          theta.tau2[v] = 1 / (1 + model.kappa * counts(d, g * num_words + v));
        stats.add(prior, labels[d], g, 1, theta);
      }
    }
  };
  const ClusterStats stats = team.chain(ClusterStats(prior), add_images);
  update_clusters(stats, options.min_cluster_variance, model);
}

}  // namespace milieu::internal
