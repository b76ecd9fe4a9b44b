// SPDX-License-Identifier: Apache-2.0
// A method that clusters rows, from its fit function alone:
//
//   rows_method<fit_kmeans>({.name = "kmeans", .title = "k-means", ...})
//
// Where Input has `rows`, several ranks can share the rows (base/rows.h), cut for
// Input::kBlockRows. The fit function has the shape of all: Result fit(const Input&, const
// Options&, Monitor&), where Input has `points` (or `counts`, for methods of counts) and Result is
// {labels, model, summary}.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "milieu/base/rows.h"
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

// Whether the fit takes rows that several ranks share.
template <auto kFit>
constexpr bool kSharesRows = requires(typename FitTypes<decltype(kFit)>::Input input) {
  input.rows;
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
    if constexpr (internal::kSharesRows<kFit>) share_rows();
    auto result = kFit(this->input_, this->options_, monitor);
    if constexpr (internal::kSharesRows<kFit>) gather(result);
    return to_outcome(std::move(result));
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

  // Leaves this rank its own rows.
  void share_rows() {
    auto& input = this->input_;
    FloatView& points = samples();
    const int64_t n = points.rows();
    rows_ = Rows(n, std::decay_t<decltype(input)>::kBlockRows, this->ranks());
    if (!rows_.is_shared()) return;
    points = points.rows_between(rows_.begin(), rows_.end());
    if constexpr (requires { input.weights; })
      if (static_cast<int64_t>(input.weights.size()) == n)
        input.weights = input.weights.subspan(rows_.begin(), rows_.own_size());
    input.rows = &rows_;
  }

  // Rank 0 gets what all have found.
  template <class Result>
  void gather(Result& result) {
    if (!rows_.is_shared()) return;
    result.labels = rows_.template gather_to_first<int>(result.labels);
    if constexpr (requires { result.probabilities.view(); }) gather_matrix(result.probabilities);
    if constexpr (requires { result.proportions.view(); }) gather_matrix(result.proportions);
  }

  void gather_matrix(Matrix<double>& rows) {
    const std::span<const double> own(rows.data(), static_cast<size_t>(rows.size()));
    const std::vector<double> all = rows_.gather_to_first(own, rows.cols());
    Matrix<double> gathered(static_cast<int64_t>(all.size()) / rows.cols(), rows.cols());
    std::ranges::copy(all, gathered.data());
    rows = std::move(gathered);
  }

  FloatView& samples() {
    if constexpr (requires { this->input_.counts; })
      return this->input_.counts;
    else
      return this->input_.points;
  }

  Rows rows_;
};

template <auto kFit>
MethodEntry rows_method(MethodEntry entry) {
  entry.make = [] { return std::make_unique<RowsMethod<kFit>>(); };
  entry.shares_rows = internal::kSharesRows<kFit>;
  return entry;
}

}  // namespace milieu
