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
#include "milieu/run/restart_shards.h"

namespace milieu {

namespace internal {

template <class Function>
struct FitTypes;
template <class Result, class MethodInput, class Options>
struct FitTypes<Result (*)(const MethodInput&, const Options&, Monitor&)> {
  using Input = MethodInput;
  using Opts = Options;
};

}  // namespace internal

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

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    if constexpr (requires { this->input_.counts; })
      this->input_.counts = input.data.points.view();
    else
      this->input_.points = input.data.points.view();
    return to_outcome(kFit(this->input_, this->options_, monitor));
  }

  // In shards: restarts, where the method can run a part of them.
  static constexpr bool kHasShards =
      requires(typename internal::FitTypes<decltype(kFit)>::Opts options) {
    options.restart_range;
  };
  bool has_shards() const override { return kHasShards; }

  ShardProgress fit_shard(const Input& input, const Shard& shard, const std::string& file,
                          Monitor& monitor) override {
    if constexpr (kHasShards)
      return run_restarts(
          shard, this->options_.num_restarts, file, restarts_key(input),
          [&](int restart) { return fit_restart(input, restart, monitor).summary.objective; },
          monitor);
    return Method::fit_shard(input, shard, file, monitor);
  }

  RunOutcome merge_shards(const Input& input, const std::vector<std::string>& files,
                          Monitor& monitor) override {
    if constexpr (kHasShards) {
      const int best = choose_restart(files, this->options_.num_restarts, restarts_key(input),
                                      this->options_.kRestartChoice);
      RunOutcome out = fit_restart(input, best, monitor);
      out.summary.num_restarts = this->options_.num_restarts;
      return out;
    }
    return Method::merge_shards(input, files, monitor);
  }

 private:
  RunOutcome fit_restart(const Input& input, int restart, Monitor& monitor) {
    this->options_.restart_range = {restart, 1};
    return fit(input, monitor);
  }

  std::string restarts_key(const Input& input) {
    refuse_given_start(this->files().fields());
    return milieu::restarts_key(this->option_fields(), this->files().fields(), input);
  }
};

template <auto kFit>
MethodEntry rows_method(MethodEntry entry) {
  entry.make = [] { return std::make_unique<RowsMethod<kFit>>(); };
  return entry;
}

}  // namespace milieu
