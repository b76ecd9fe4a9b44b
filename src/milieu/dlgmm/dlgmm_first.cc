// SPDX-License-Identifier: Apache-2.0
// The start of a run: the first counts, and the start of the clusters with the highest bound.
#include <algorithm>
#include <cmath>

#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu {

namespace {

// A valid model whose clusters are all alike, for a run that is stopped before its first counts.
void blank_clusters(const DlgmmOptions& options, DlgmmModel& model) {
  const Matrix<double> none(options.num_clusters, model.num_bands * model.num_words());
  std::vector<int> labels(options.num_clusters);
  for (int j = 0; j < options.num_clusters; ++j) labels[j] = j;
  start_clusters(none.view(), labels, options, model);
}

std::vector<int64_t> images_with_patches(const ImageTable& table) {
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < table.num_images; ++d)
    if (table.num_patches(d) > 0) kept.push_back(d);
  return kept;
}

// zeta of the kept images by label; no label means equal shares.
void set_zeta(const std::vector<int64_t>& kept, const std::vector<int>& labels,
              Matrix<double>& zeta) {
  std::fill_n(zeta.data(), zeta.size(), 0.0);
  for (size_t i = 0; i < kept.size(); ++i) zeta(kept[i], labels[i]) = 1;
}

// Rounds of the cluster layer on fixed counts; the bound of the layer, nothing when stopped.
std::optional<double> run_rounds(const DlgmmRun& run, DoubleView counts, int num_rounds,
                                 DlgmmState& state, Monitor& monitor) {
  double bound = 0;
  for (int round = 0; round < num_rounds; ++round) {
    const std::optional<ClusterStats> stats =
        update_images(run.table, state.model, counts, state.probabilities, state.alpha,
                      run.options.num_threads, monitor);
    if (!stats) return std::nullopt;
    const double before = bound;
    bound = stats->bound.total();
    if (run.options.fix == DlgmmFix::Clusters) break;
    if (round > 0 && bound - before <= run.options.rel_tolerance * std::abs(bound)) break;
    update_clusters(*stats, run.options.min_cluster_variance, state.model);
  }
  return bound;
}

}  // namespace

void start_state(const DlgmmRun& run, const DlgmmInput& input, Monitor& monitor,
                 DlgmmState& state) {
  const DlgmmOptions& options = run.options;
  Monitor stop_only(monitor);  // hears a stop, keeps the reports of k-means to itself
  if (input.initial_model)
    state.model = *input.initial_model;
  else
    start_words(input, options, stop_only, state.model);
  const int64_t width = state.model.num_bands * state.model.num_words();
  state.alpha = Matrix<double>(run.table.num_images, width);
  state.probabilities = Matrix<double>(run.table.num_images, options.num_clusters);
  if (!input.initial_model) blank_clusters(options, state.model);
  const std::optional<PassResult> pass =
      run_data_pass(run.table, state.model, state.alpha, run.pass_options(), monitor);
  if (!pass) return;
  if (input.initial_model) {
    std::fill_n(state.probabilities.data(), state.probabilities.size(), 1.0 / options.num_clusters);
    update_images(run.table, state.model, pass->counts, state.probabilities, state.alpha,
                  options.num_threads, monitor);
    return;
  }
  const std::vector<int64_t> kept = images_with_patches(run.table);
  Matrix<double> counts(static_cast<int64_t>(kept.size()), width);
  for (size_t i = 0; i < kept.size(); ++i)
    std::copy_n(pass->counts.row(kept[i]), width, counts.row(static_cast<int64_t>(i)));
  const int num_restarts = input.initial_labels.empty() ? options.num_restarts : 1;
  double best = -INFINITY;
  const DlgmmState blank = state;
  for (int restart = 0; restart < num_restarts && !monitor.should_stop(); ++restart) {
    monitor.on_progress("starts", restart, num_restarts);
    DlgmmState tried = blank;
    std::vector<int> labels;
    for (const int64_t d : kept)
      if (!input.initial_labels.empty()) labels.push_back(input.initial_labels[d]);
    if (labels.empty())
      labels = start_labels(counts, state.model.num_bands, options, restart, stop_only);
    if (monitor.should_stop()) break;
    start_clusters(counts, labels, options, tried.model);
    set_zeta(kept, labels, tried.probabilities);
    tried.restart = restart;
    const std::optional<double> bound =
        run_rounds(run, pass->counts, options.start_rounds, tried, monitor);
    if (!bound) break;
    if (*bound <= best) continue;
    best = *bound;
    state = std::move(tried);
  }
}

}  // namespace milieu
