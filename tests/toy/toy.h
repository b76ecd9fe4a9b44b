// SPDX-License-Identifier: Apache-2.0
// A method as small as a method can be: clusters are slices of the first column. It proves that a
// method's own files and one line of the table put it everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"
#include "milieu/run/methods.h"

namespace milieu {

struct ToyOptions {
  int num_clusters = 2;
  uint64_t seed = 1;
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(ToyOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "how many slices");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct ToyInput {
  FloatView points;
  std::span<const double> offsets;
};

template <class Visitor>
void visit_inputs(ToyInput& in, Visitor&& v) {
  v("offsets", in.offsets, InputRule{InputKind::Weights, "n"}, "added to every sample's value");
}

struct ToyModel {
  static constexpr std::string_view kKind = "toy";
  static constexpr int kFormatVersion = 1;
  Matrix<float> centers;  // k x d; only the first column counts
};

template <MaybeConst<ToyModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("centers", m.centers);
}

struct ToyResult {
  std::vector<int> labels;
  ToyModel model;
  RunSummary summary;
};

ToyResult fit_toy(const ToyInput& input, const ToyOptions& options, Monitor& monitor);
std::vector<int> predict(const ToyModel& model, FloatView points, int num_threads);

MethodEntry toy_method();

}  // namespace milieu
