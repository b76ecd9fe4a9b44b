// SPDX-License-Identifier: Apache-2.0
// The grid-free mode: the same difference of density in any number of dimensions, its gradient
// evaluated only along the paths [Yu13, section 4].
#pragma once

#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_frame_internal.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

// Value, gradient and curvature of a class's difference of density at a place, in units of the
// kernel, which is exp(-r^2 / 2) - exp(-reach^2 / 2) inside its reach: continuous at the edge.
struct FieldPoint {
  double value = 0;
  double mass = 0;                // density of the class alone
  std::vector<double> gradient;   // p
  std::vector<double> curvature;  // p x p; empty where there are many dimensions
};

class DensityField {
 public:
  // `samples` n x p in units of the kernel, not copied. Class num_classes is the context.
  DensityField(FloatView samples, std::span<const int> classes, int num_classes, double reach,
               IccWeight weight);

  // At each row of `places` the field of the class `of`; a stopped monitor leaves zeros.
  std::vector<FieldPoint> evaluate(FloatView places, std::span<const int> of, int num_threads,
                                   const Monitor& monitor) const;
  // The values alone.
  std::vector<double> values(FloatView places, std::span<const int> of, int num_threads,
                             const Monitor& monitor) const;
  // The class of largest difference of density at each place; a stopped monitor leaves 0.
  std::vector<int> best_classes(FloatView places, int num_threads, const Monitor& monitor) const;
  // Climbs from each row of `places`; false when the monitor stopped it.
  bool climb(Matrix<float>& places, std::span<const int> of, int num_threads,
             Monitor& monitor) const;
  int num_classes() const { return num_classes_; }

 private:
  RadiusNeighbors neighbors(FloatView places, int num_threads) const;
  double weight_of(int sample_class, int own_class) const;
  // Places whose neighbours are searched for at once: fewer where there are many samples, so that
  // the time between two looks at the monitor does not grow with them.
  int64_t chunk_size() const;
  void add_chunk(FloatView places, std::span<const int> of, int num_threads,
                 std::span<FieldPoint> points) const;
  bool climb_chunk(MatrixView<float> places, std::span<const int> of, int num_threads,
                   Monitor& monitor) const;

  FloatView samples_;
  std::span<const int> classes_;
  int num_classes_;
  std::vector<double> counts_;  // of the classes, then of the context
  double n_ = 0;
  double reach_;
  IccWeight weight_;
  NeighborIndex index_;
};

// Fills modes, labels and sub-classes of `model`, whose samples, classes and frame are set; labels
// of the samples before the context, which are all but the last ones of class num_classes, are
// returned. An empty list: the monitor stopped it.
std::vector<int> fit_free(IccModel& model, const IccOptions& options, int num_classes,
                          Monitor& monitor);

// Labels of places in units of the kernel; class -1 is found by best_classes. An empty list: the
// monitor stopped it.
std::vector<int> predict_free(const IccModel& model, Matrix<float> places,
                              std::span<const int> classes, int num_threads, Monitor& monitor);

}  // namespace milieu::internal
