// SPDX-License-Identifier: Apache-2.0
// A method that clusters rows, from its fit function alone:
//
//   rows_method<fit_kmeans>({.name = "kmeans", .title = "k-means", ...})
//
// Where Input has `rows`, several ranks can share the rows (base/ranks/rows.h), cut for
// Input::kBlockRows. The fit function has the shape of all: Result fit(const Input&, const
// Options&, Monitor&), where Input has `points` (or `counts`, for methods of counts) and Result is
// {labels, model, summary}.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "milieu/base/export.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/data/format/npy_folder.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/identity/row_hash.h"
#include "milieu/input/default_network.h"
#include "milieu/input/image_rows.h"
#include "milieu/run/checkpoint_file.h"
#include "milieu/run/method.h"
#include "milieu/run/methods.h"
#include "milieu/run/model_shares.h"
#include "milieu/run/npy_result.h"
#include "milieu/run/restart_shards.h"

namespace MILIEU_API milieu {

namespace internal {

template <class Function>
struct FitTypes;
template <class Result, class MethodInput, class Options>
struct FitTypes<Result (*)(const MethodInput&, const Options&, Monitor&)> {
  using Input = MethodInput;
  using Opts = Options;
  using Output = Result;
};

// Whether the fit takes rows that several ranks share.
template <auto kFit>
constexpr bool kSharesRows = requires(typename FitTypes<decltype(kFit)>::Input input) {
  input.rows;
};

// Whether the fit keeps a state from which a killed run goes on.
template <auto kFit>
constexpr bool kKeepsState = requires(typename FitTypes<decltype(kFit)>::Input input) {
  input.checkpoint;
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
    // Rank 0 writes the report, which may look at any row.
    if constexpr (internal::kSharesRows<kFit>)
      if (this->ranks().rank() > 0 && spec.select.empty() && spec.rows.empty() &&
          is_npy_folder(spec.path))
        return read_own_rows(spec);
    return read_rows(spec, this->num_threads(), "", monitor);
  }

  std::vector<Field> own_fields() override {
    std::vector<Field> fields;
    if constexpr (internal::kKeepsState<kFit>) fields = fields_of(checkpoint_);
    if constexpr (kHasShares)
      for (Field& field : fields_of(soft_)) fields.push_back(std::move(field));
    return fields;
  }

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    samples() = input.data.points.view();
    if constexpr (internal::kSharesRows<kFit>) share_rows();
    if constexpr (internal::kKeepsState<kFit>) keep_state(monitor);
    auto result = kFit(this->input_, this->options_, monitor);
    is_complete_ = !monitor.should_stop();
    if (file_ && !is_complete_) file_->report(result.summary);
    if constexpr (internal::kSharesRows<kFit>) gather(result);
    std::vector<ResultFile> files;
    if constexpr (kHasShares)
      if (soft_.probabilities && is_complete_ && this->ranks().rank() == 0)
        files.push_back(npy_result(
            "probabilities.npy",
            internal::shares_of(result.model, input.data.points.view(), this->num_threads())
                .view()));
    RunOutcome out = to_outcome(std::move(result));
    out.files = std::move(files);
    return out;
  }

  // A checkpoint is needed until the result is there.
  void on_saved() override {
    if (file_ && is_complete_) file_->remove();
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
  // Of a folder of shards; the other rows stay unread.
  Input read_own_rows(const InputSpec& spec) {
    const NpyFolder folder = open_npy_folder(spec.path);
    const Rows own(folder.num_rows, std::decay_t<decltype(this->input_)>::kBlockRows,
                   this->ranks());
    Input input;
    input.source = RowSource::of(load_rows(folder, own.begin(), own.end(), this->num_threads()), {},
                                 {}, spec.path, load_options_of(spec, this->num_threads()));
    input.data = input.source->take();
    return input;
  }

  void keep_state(Monitor& monitor) {
    if (checkpoint_.checkpoint.empty()) return;
    file_ = std::make_unique<CheckpointFile>(checkpoint_.checkpoint, fingerprint(), this->ranks(),
                                             monitor);
    this->input_.checkpoint = file_.get();
  }

  // Of the options and of everything that the fit is given, whoever has which rows.
  std::string fingerprint() {
    Fingerprint print(CheckpointFile::kKind);
    print.version().options(this->option_fields());
    print.number(rows_.size()).number(samples().cols());
    print.number(hash_rows(rows_, samples()));
    if constexpr (requires { this->input_.weights; }) {
      const auto weights = this->input_.weights;
      const MatrixView<const double> column(weights.data(), static_cast<int64_t>(weights.size()),
                                            weights.empty() ? 0 : 1);
      if (rows_.any(!weights.empty())) print.number(hash_rows(rows_, column));
    }
    if constexpr (requires { this->input_.initial_centers; })
      print.rows(this->input_.initial_centers, 1);
    if constexpr (requires { this->input_.initial_means; })
      print.rows(this->input_.initial_means, 1);
    return print.hex();
  }

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
  CheckpointPath checkpoint_;
  std::unique_ptr<CheckpointFile> file_;
  bool is_complete_ = false;
  static constexpr bool kHasShares =
      internal::HasShares<decltype(internal::FitTypes<decltype(kFit)>::Output::model)>;
  SoftOutput soft_;
};

template <auto kFit>
MethodEntry rows_method(MethodEntry entry) {
  entry.make = [] { return std::make_unique<RowsMethod<kFit>>(); };
  entry.shares_rows = internal::kSharesRows<kFit>;
  return entry;
}

}  // namespace milieu
