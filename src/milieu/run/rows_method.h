// SPDX-License-Identifier: Apache-2.0
// A method that clusters rows, from its fit function alone:
//
//   rows_method<fit_kmeans>({.name = "kmeans", .title = "k-means", ...})
//
// The fit function has the shape of all: Result fit(const Input&, const Options&, Monitor&), where
// Input has `points` (or `counts`, for methods of counts) and Result is {labels, model, summary}.
#pragma once

#include <memory>
#include <utility>

#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"
#include "milieu/run/method.h"
#include "milieu/run/methods.h"
#include "milieu/run/npy_result.h"
#include "milieu/run/predictor_internal.h"

namespace milieu {

namespace internal {

template <class Function>
struct FitTypes;
template <class Result, class MethodInput, class Options>
struct FitTypes<Result (*)(const MethodInput&, const Options&, Monitor&)> {
  using Input = MethodInput;
  using Opts = Options;
  using Output = Result;
};

}  // namespace internal

// What methods with soft results may write beside the labels.
struct SoftOutput {
  bool probabilities = false;
};

template <class Visitor>
void visit_fields(SoftOutput& o, Visitor&& v) {
  v("probabilities", o.probabilities, anything(),
    "also write probabilities.npy: the share of every cluster in every row");
}

template <auto kFit>
class RowsMethod : public MethodWith<typename internal::FitTypes<decltype(kFit)>::Opts,
                                     typename internal::FitTypes<decltype(kFit)>::Input> {
 public:
  // Words of images are counted for a method of counts, unless the feature says otherwise.
  Input read(InputSpec& spec, Monitor& monitor) override {
    if constexpr (requires { this->input_.counts; }) {
      if (spec.feature.empty() && spec.vectors.empty() && is_image_folder(spec.path))
        spec.feature = default_feature(true);
      if (!spec.feature.empty() && !is_feature_input(spec.path))
        spec.feature = counting_features(spec.feature);
    }
    return read_rows(spec, this->num_threads(), "", monitor);
  }

  std::vector<Field> own_fields() override {
    if constexpr (kHasShares) return fields_of(soft_);
    return {};
  }

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    const FloatView points = input.data.points.view();
    if constexpr (requires { this->input_.counts; })
      this->input_.counts = points;
    else
      this->input_.points = points;
    auto result = kFit(this->input_, this->options_, monitor);
    std::vector<ResultFile> files;
    if constexpr (kHasShares)
      if (soft_.probabilities && !monitor.should_stop())
        files.push_back(
            npy_result("probabilities.npy",
                       internal::shares_of(result.model, points, this->num_threads()).view()));
    RunOutcome out = to_outcome(std::move(result));
    out.files = std::move(files);
    return out;
  }

 private:
  static constexpr bool kHasShares =
      internal::HasShares<decltype(internal::FitTypes<decltype(kFit)>::Output::model)>;
  SoftOutput soft_;
};

template <auto kFit>
MethodEntry rows_method(MethodEntry entry) {
  entry.make = [] { return std::make_unique<RowsMethod<kFit>>(); };
  return entry;
}

}  // namespace milieu
