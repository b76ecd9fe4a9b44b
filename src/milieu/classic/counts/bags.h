// SPDX-License-Identifier: Apache-2.0
// Bags of words: k-means of weighted counts. Two weightings: centred log counts, the strong and
// cheap baseline of dlgmm, and tf-idf on the unit sphere [Sivic03], what [Xie15] compares with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class BagWeighting { LogCounts, TfIdf };

const char* to_string(BagWeighting weighting);
BagWeighting bag_weighting_from(std::string_view word);  // throws DataError for any other name

struct BagsOptions {
  int num_clusters = 8;
  BagWeighting weighting = BagWeighting::LogCounts;
  int num_bands = 1;            // bags side by side in a row, each weighted separately
  int num_restarts = 10;        // independent restarts; the lowest objective is kept
  int max_iterations = 300;     // k-means iterations per restart
  double rel_tolerance = 1e-4;  // stop when the objective falls by less than this fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(BagsOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("weighting", o.weighting,
    one_of<BagWeighting>(
        {{"log-counts", BagWeighting::LogCounts}, {"tf-idf", BagWeighting::TfIdf}}),
    "log(count + 1/2) minus its mean, or counts times inverse document frequency, scaled to length "
    "1");
  v("num_bands", o.num_bands, at_least(1).alias("bands"),
    "bags side by side in each row (words at the top, in the middle, ...), each weighted "
    "separately");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the objective falls by less than this fraction; 0 runs until no label changes");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct BagsInput {
  static constexpr int64_t kBlockRows = 1024;  // what rows that ranks share are cut for

  FloatView counts;  // n x (num_bands V), >= 0
  // Where several ranks share the rows: counts are this rank's own, and
  // so are labels. Null: all are here.
  const Rows* rows = nullptr;
};

struct BagsModel {
  static constexpr std::string_view kKind = "bags";
  static constexpr int kFormatVersion = 1;
  BagWeighting weighting = BagWeighting::LogCounts;
  int num_bands = 1;
  std::vector<double> idf;  // num_bands V: log(n / rows with the word); all 1 for log counts
  Matrix<float> centers;    // k x (num_bands V), of weighted counts
};

template <MaybeConst<BagsModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  visit_enum(v, "weighting", m.weighting, bag_weighting_from);
  v("num_bands", m.num_bands);
  v("idf", m.idf);
  v("centers", m.centers);
}

struct BagsResult {
  std::vector<int> labels;  // n, in [0, k); equal to predict(model, counts)
  BagsModel model;
  RunSummary summary;  // objective: that of k-means on the weighted counts
};

// Throws InvalidArgument for options out of range and empty counts; DataError for counts that are
// negative or not finite.
BagsResult fit_bags(const BagsInput& input, const BagsOptions& options,
                    Monitor& monitor = silent_monitor());

// What is clustered: the counts under the model's weighting. A band without words is zero.
Matrix<float> weighted_counts(const BagsModel& model, FloatView counts);

// Nearest centre of each row; ties go to the lowest index.
std::vector<int> predict(const BagsModel& model, FloatView counts, int num_threads = 0);

}  // namespace milieu
