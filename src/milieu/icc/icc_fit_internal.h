// SPDX-License-Identifier: Apache-2.0
// The stages of a fit on the grid, for samples in memory and for streams.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "milieu/icc/icc.h"
#include "milieu/icc/icc_frame_internal.h"
#include "milieu/icc/icc_options_internal.h"
#include "milieu/icc/icc_split_internal.h"

namespace milieu::internal {

class GridFit {
 public:
  using Read = std::function<void(const IccChunkVisitor&)>;

  // Throws InvalidArgument for an invalid grid or bandwidth, or one that needs too much memory.
  // With `has_context` the last class is only context: the model and the summary leave it out.
  GridFit(Projection projection, const IccOptions& options, int num_classes,
          bool has_context = false, const Team& team = Team::alone());

  void read_range(const Read& read);  // the frame [Yu13, Algorithm 2, lines 3 and 4]
  // Lines 5 to 10. `cells`: of the rows of a single chunk, where they are needed.
  void count(const Read& read, Monitor& monitor, std::span<int32_t> cells = {});
  IccResult split(Monitor& monitor);  // lines 11, 12 and Algorithm 3: no labels yet
  int64_t num_rows() const { return num_rows_; }
  // Samples of each sub-class, from the counts.
  std::vector<int64_t> subclass_sizes(const IccModel& model) const;

 private:
  std::array<std::vector<double>, 3> counts_along_axes() const;
  void warn_of_outliers(RunSummary& summary) const;
  void warn_of_sizes(RunSummary& summary, const ClassCounts& counts) const;
  void fill_model(IccModel& model, const std::vector<std::vector<double>>& maps,
                  const std::vector<ClassSplit>& splits) const;

  Projection projection_;
  const IccOptions& options_;
  const Team& team_;
  Bandwidth bandwidth_;
  SplitSettings settings_;
  Range range_;
  std::optional<CellCounts> counts_;
  int num_classes_;
  int num_split_;
  int64_t num_rows_ = 0;
};

// The summary of every fit: sizes and labels, objective, termination, sub-classes.
void finish_summary(IccResult& result, int64_t n, int64_t d, const IccOptions& options,
                    const Monitor& monitor);

// Cells of samples on the grid of a model become their labels. No checks.
void label_cells(const IccModel& model, std::span<const int> classes, std::span<int32_t> cells,
                 int num_threads);
// The places of rows on the model's manifold, in the precision of samples.
Matrix<float> manifold_rows(const ManifoldModel& model, FloatView points, int num_threads);
// predict without its checks, for a model on a grid that was just fitted; rows are on its manifold.
std::vector<int> predict_on_grid(const IccModel& model, FloatView points,
                                 std::span<const int> classes, int num_threads);

}  // namespace milieu::internal
