// SPDX-License-Identifier: Apache-2.0
// Problem   k-means of f(counts): minimise sum_d |f(n_d) - c_label(d)|^2.
// Given     counts n_dv >= 0 in n rows; G bags of V words side by side in a row.
// Find      k centres; label of a row: the nearest.
// Symbols   log counts: f_v = log(n_v + 1/2) - mean_w log(n_w + 1/2) within a bag; tf-idf:
//           f_v = n_v log(n / df_v) / |.| within a bag, df_v the rows that have word v.
// Conventions  a word that no row has gets the idf log(n); one that all rows have counts nothing.
// See       docs/algorithms/bags.md.
#include "milieu/classic/counts/bags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu {

namespace {

using namespace internal;

std::vector<double> inverse_document_frequencies(const CountRows& counts, int num_threads) {
  std::vector<double> documents = parallel_reduce(
      counts.rows, num_threads, std::vector<double>(counts.own.cols()),
      [&](const Block& block, std::vector<double>& part) {
        for (int64_t d = block.begin; d < block.end; ++d)
          for (size_t v = 0; v < part.size(); ++v)
            part[v] += counts.own(d, static_cast<int64_t>(v)) > 0 ? 1 : 0;
      },
      [](std::vector<double>& all, const std::vector<double>& part) {
        for (size_t v = 0; v < all.size(); ++v) all[v] += part[v];
      });
  for (double& df : documents)
    df = std::log(static_cast<double>(counts.rows.size()) / std::max(df, 1.0));
  return documents;
}

void center_logs(std::span<const float> counts, float* out) {
  double mean = 0;
  for (const float n : counts) mean += std::log(static_cast<double>(n) + 0.5);
  mean /= static_cast<double>(counts.size());
  for (size_t v = 0; v < counts.size(); ++v)
    out[v] = static_cast<float>(std::log(static_cast<double>(counts[v]) + 0.5) - mean);
}

void scale_to_sphere(std::span<const float> counts, const double* idf, float* out) {
  double squares = 0;
  for (size_t v = 0; v < counts.size(); ++v) {
    const double x = static_cast<double>(counts[v]) * idf[v];
    squares += x * x;
  }
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (size_t v = 0; v < counts.size(); ++v)
    out[v] = static_cast<float>(static_cast<double>(counts[v]) * idf[v] * scale);
}

void check_bands(int num_bands, FloatView counts) {
  require(counts.cols() % num_bands == 0, [&] {
    return fmt::format("num_bands is {}, counts have {}: they must be a multiple of it", num_bands,
                       counted(counts.cols(), "column"));
  });
}

}  // namespace

const char* to_string(BagWeighting weighting) {
  return weighting == BagWeighting::TfIdf ? "tf-idf" : "log-counts";
}

BagWeighting bag_weighting_from(std::string_view word) {
  for (const BagWeighting weighting : {BagWeighting::LogCounts, BagWeighting::TfIdf})
    if (word == to_string(weighting)) return weighting;
  throw DataError(fmt::format("bags model: weighting is '{}', must be log-counts or tf-idf", word));
}

namespace {

// weighted_counts of counts that have been checked.
Matrix<float> weigh(const BagsModel& model, FloatView counts) {
  check_bands(model.num_bands, counts);
  const int64_t num_words = counts.cols() / model.num_bands;
  Matrix<float> points(counts.rows(), counts.cols());
  for (int64_t d = 0; d < counts.rows(); ++d)
    for (int g = 0; g < model.num_bands; ++g) {
      const int64_t at = g * num_words;
      const std::span<const float> bag = counts.row_span(d).subspan(at, num_words);
      if (model.weighting == BagWeighting::LogCounts)
        center_logs(bag, points.row(d) + at);
      else
        scale_to_sphere(bag, model.idf.data() + at, points.row(d) + at);
    }
  return points;
}

}  // namespace

Matrix<float> weighted_counts(const BagsModel& model, FloatView counts) {
  check_counts(counts);
  check_num_words(counts, static_cast<int64_t>(model.idf.size()));
  if (model.num_bands < 1) throw DataError("bags model: num_bands must be at least 1");
  return weigh(model, counts);
}

BagsResult fit_bags(const BagsInput& input, const BagsOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  const CountRows counts(input.counts, input.rows, BagsInput::kBlockRows);
  check_counts(counts);
  check_num_clusters(options.num_clusters, counts.rows.size());
  BagsResult result;
  result.model.weighting = options.weighting;
  result.model.num_bands = options.num_bands;
  result.model.idf = options.weighting == BagWeighting::TfIdf
                         ? inverse_document_frequencies(counts, options.num_threads)
                         : std::vector<double>(input.counts.cols(), 1.0);
  const Matrix<float> points = weigh(result.model, input.counts);
  KMeansOptions kmeans;
  kmeans.num_clusters = options.num_clusters;
  kmeans.num_restarts = options.num_restarts;
  kmeans.max_iterations = options.max_iterations;
  kmeans.rel_tolerance = options.rel_tolerance;
  kmeans.seed = options.seed;
  kmeans.num_threads = options.num_threads;
  KMeansResult found = fit_kmeans({points.view(), {}, {}, &counts.rows}, kmeans, monitor);
  result.labels = std::move(found.labels);
  result.model.centers = std::move(found.model.centers);
  result.summary = std::move(found.summary);
  result.summary.method = BagsModel::kKind;
  if (options.weighting == BagWeighting::LogCounts) warn_of_shares(counts, result.summary);
  result.summary.seconds = watch.seconds();
  return result;
}

std::vector<int> predict(const BagsModel& model, FloatView counts, int num_threads) {
  if (model.centers.cols() != static_cast<int64_t>(model.idf.size()))
    throw DataError("bags model: centers and idf have different lengths");
  const Matrix<float> points = weighted_counts(model, counts);
  return predict(KMeansModel{model.centers}, points, num_threads);
}

}  // namespace milieu
