// SPDX-License-Identifier: Apache-2.0
// Mean shift: every seed climbs to a mode of the density of the samples; samples belong to the
// nearest mode. The number of clusters follows from the bandwidth. The public interface; the loop
// is in mean_shift.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// How samples around a position are weighed when it moves to their mean.
enum class MeanShiftKernel {
  Flat,      // samples within the bandwidth count 1
  Gaussian,  // exp(-d^2 / (2 bandwidth^2)), cut off at 5 bandwidths
};

enum class MeanShiftSeeds {
  All,   // every distinct sample
  Bins,  // one sample of each occupied cell of a grid as wide as the bandwidth: far fewer seeds in
         // few dimensions
};

struct MeanShiftOptions {
  double bandwidth = 0;          // h; larger gives fewer, broader clusters; 0: estimated
  double quantile = 0.3;         // of the estimate: the mean distance to the neighbour at this
                                 // share of the samples; larger gives a larger bandwidth
  int bandwidth_samples = 2000;  // samples the estimate uses, drawn with `seed`
  MeanShiftKernel kernel = MeanShiftKernel::Flat;
  MeanShiftSeeds seeds = MeanShiftSeeds::All;
  int min_bin_size = 1;         // bins with fewer samples give no seed
  bool cluster_all = true;      // false: samples farther than the bandwidth from every mode get
                                // the label -1
  int max_iterations = 300;     // moves of a seed
  double rel_tolerance = 1e-3;  // a seed rests when it moves by less than this share of the
                                // bandwidth
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(MeanShiftOptions& o, Visitor&& v) {
  v("bandwidth", o.bandwidth, at_least(0), "radius of the kernel; 0 estimates it from the samples");
  v("quantile", o.quantile, between(0, 1),
    "fraction of the samples that the estimated bandwidth reaches; larger is smoother");
  v("bandwidth_samples", o.bandwidth_samples, at_least(1).advanced(),
    "samples used to estimate the bandwidth");
  v("kernel", o.kernel,
    one_of<MeanShiftKernel>(
        {{"flat", MeanShiftKernel::Flat}, {"gaussian", MeanShiftKernel::Gaussian}}),
    "how the samples around a position are weighted");
  v("seeds", o.seeds,
    one_of<MeanShiftSeeds>({{"all", MeanShiftSeeds::All}, {"bins", MeanShiftSeeds::Bins}}),
    "start from every sample, or from one per bin");
  v("min_bin_size", o.min_bin_size, at_least(1).advanced(), "bins with fewer samples give no seed");
  v("cluster_all", o.cluster_all, anything(),
    "false: samples farther than the bandwidth from every mode get the label -1");
  v("max_iterations", o.max_iterations, at_least(1), "maximum moves per seed");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "a seed stops when it moves by less than this fraction of the bandwidth");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct MeanShiftInput {
  FloatView points;  // n x d samples, rows
};

// What predicts for new samples.
struct MeanShiftModel {
  static constexpr std::string_view kKind = "meanshift";
  static constexpr int kFormatVersion = 1;
  Matrix<float> modes;   // k x d, most supported first
  double bandwidth = 0;  // given or estimated; above 0
  int cluster_all = 1;   // 0: samples farther than the bandwidth from every mode get -1
};

template <MaybeConst<MeanShiftModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("modes", m.modes);
  v("bandwidth", m.bandwidth);
  v("cluster_all", m.cluster_all);
}

struct MeanShiftResult {
  std::vector<int> labels;  // n, in [0, k), or -1; equal to predict(model, points)
  MeanShiftModel model;
  // objective: mean density at the seeds' positions, which no move of a seed lowers: higher is
  // better, for one bandwidth. The density of a position is the mean over the samples of
  // 1 - d^2 / h^2 (flat kernel, samples within h) or of exp(-d^2 / (2 h^2)) (Gaussian), in [0, 1].
  // trace: after each move. extra: "bandwidth", "seeds" (how many), "orphans" (samples labelled
  // -1).
  RunSummary summary;
};

MeanShiftResult fit_mean_shift(const MeanShiftInput& input, const MeanShiftOptions& options,
                               Monitor& monitor = silent_monitor());

// Nearest mode of each row, ties to the lowest index; -1 where the model leaves orphans.
std::vector<int> predict(const MeanShiftModel& model, FloatView points, int num_threads = 0);

// The bandwidth that `fit_mean_shift` takes when none is given. 0 when each of the samples used
// has duplicates up to the quantile.
double estimate_bandwidth(FloatView points, const MeanShiftOptions& options,
                          Monitor& monitor = silent_monitor());

}  // namespace milieu
