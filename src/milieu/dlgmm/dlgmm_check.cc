// SPDX-License-Identifier: Apache-2.0
// Before and after the loop: checks and the summary.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

namespace {

constexpr int kFewImages = 15;  // per cluster: docs/experiments/dlgmm.md

void check_starts(const DlgmmInput& input, const DlgmmOptions& options, int64_t num_images) {
  if (!input.initial_labels.empty()) {
    require(static_cast<int64_t>(input.initial_labels.size()) == num_images, [&] {
      return fmt::format("initial_labels has {}, there are {}: they must match",
                         counted(input.initial_labels.size(), "entry", "entries"),
                         counted(num_images, "image"));
    });
    for (const int label : input.initial_labels)
      require(label >= 0 && label < options.num_clusters, [&] {
        return fmt::format("initial_labels holds {}, must be between 0 and {}", label,
                           options.num_clusters - 1);
      });
  }
  if (!input.initial_words.empty()) {
    check_points(input.initial_words, "initial_words");
    require(input.initial_words.cols() == input.images.patches.cols(), [&] {
      return fmt::format("initial_words has {}, the patches have {}: they must match",
                         counted(input.initial_words.cols(), "column"),
                         input.images.patches.cols());
    });
  }
  if (!input.initial_model) return;
  const DlgmmModel& start = *input.initial_model;
  check_model(start);
  require(start.num_clusters() == options.num_clusters &&
              start.words.cols() == input.images.patches.cols() &&
              start.num_bands == std::max(options.num_bands, 1) &&
              start.covariance == options.covariance,
          [&] {
            return fmt::format(
                "initial_model has {}, {} bands, {} covariances and words of {}: "
                "they must be those of the options and the patches",
                counted(start.num_clusters(), "cluster"), start.num_bands,
                to_string(start.covariance), counted(start.words.cols(), "number"));
          });
}

std::string stop_message(Termination termination, const DlgmmOptions& options) {
  switch (termination) {
    case Termination::Converged:
      return "the bound rises by less than rel_tolerance";
    case Termination::IterationLimit:
      return fmt::format(
          "max_iterations = {} made before rel_tolerance was reached: "
          "raise either to converge",
          counted(options.max_iterations, "pass was", "passes were"));
    case Termination::NumericalIssue:
      return "the bound is not finite: the result is that of the previous pass";
    default:
      return "stopped early: the model is the last complete one";
  }
}

std::string pair_text(const WordPair& pair, int num_bands) {
  const std::string cluster =
      pair.cluster < 0 ? std::string() : fmt::format("cluster {}: ", pair.cluster);
  const std::string band = num_bands > 1 ? fmt::format(" in band {}", pair.band) : std::string();
  return fmt::format("{}words {} and {}{}: {:.3f}", cluster, pair.first, pair.second, band,
                     pair.correlation);
}

void add_warnings(const DlgmmRun& run, const DlgmmState& state, RunSummary& summary) {
  const int num_words = static_cast<int>(state.model.num_words());
  if (num_words < run.options.num_words && summary.iterations > 0)
    summary.warnings.push_back(
        fmt::format("num_words is {}, but only {} of the patches sampled for the codebook differ: "
                    "it has {}",
                    run.options.num_words, num_words, counted(num_words, "word")));
  if (run.table.num_without_patches > 0)
    summary.warnings.push_back(fmt::format(
        "{} of {} images {} no patches and no label (-1)", run.table.num_without_patches,
        run.table.num_images, by_number(run.table.num_without_patches, "has", "have")));
  const double images_per_cluster =
      static_cast<double>(run.table.num_images) / run.options.num_clusters;
  if (run.table.images.vectors.rows() > 0 && images_per_cluster < kFewImages)
    summary.warnings.push_back(fmt::format(
        "there are {:.1f} images per cluster: with fewer than {} a normalized cut of the "
        "same description, such as `milieu ncut --feature gist,dense-sift`, was level "
        "or better",
        images_per_cluster, kFewImages));
  const auto num_empty = std::ranges::count(summary.sizes, 0);
  if (num_empty > 0 && summary.clusters > 0)
    summary.warnings.push_back(fmt::format("{} of {} clusters {} empty: lower num_clusters",
                                           num_empty, run.options.num_clusters,
                                           by_number(num_empty, "is", "are")));
}

// Words, clusters, what each image has of each word, and the statistics that blocks of patches add
// up side by side.
void check_memory(const DlgmmRun& run, const DlgmmOptions& options) {
  const double words = options.num_words, clusters = std::max(options.num_clusters, 1);
  const double columns = static_cast<double>(run.table.images.patches.cols());
  const double dims = options.word_covariance == WordCovariance::Full ? columns * columns : columns;
  const double cells = words * std::max(options.num_bands, 1);
  const auto blocks = static_cast<int64_t>(run.table.block_begin.size());
  const auto copies = static_cast<double>(2 + reduction_copies(blocks, 1, options.num_threads));
  const bool is_diagonal = options.covariance == DlgmmCovariance::Diagonal ||
                           options.covariance == DlgmmCovariance::LowRank;
  const double matrices = is_diagonal ? clusters + options.num_factors : clusters * words;
  const double numbers = copies * 2 * words * dims + 3 * matrices * cells +
                         3 * static_cast<double>(run.table.num_own()) * cells;
  require_memory(
      {8 * numbers,
       fmt::format("{} words in {} bands for {} images and {} clusters", options.num_words,
                   std::max(options.num_bands, 1), run.table.num_images, options.num_clusters),
       "use fewer words, or diagonal covariances"});
}

// The images' vectors on the components of the initial model, or on their own.
void take_vectors(const DlgmmInput& input, const DlgmmOptions& options, DlgmmRun& run) {
  const FloatView vectors = input.images.vectors;
  if (input.initial_model) {
    run.table.vectors = project_vectors(*input.initial_model, input.images);
    return;
  }
  if (vectors.rows() == 0) return;
  require(vectors.rows() == run.table.num_images, [&] {
    return fmt::format("vectors has {}, there are {}: they must match",
                       counted(vectors.rows(), "row"), counted(run.table.num_images, "image"));
  });
  check_points(vectors, "vectors");
  run.image_projection = fit_image_projection(vectors, options.num_factors);
  run.table.vectors = project_images(run.image_projection, vectors);
}

// Every rank looks at a part.
void check_patches(const DlgmmInput& input, int num_threads) {
  constexpr int64_t kBlock = 4096;
  const FloatView patches = input.images.patches;
  const Rows rows = team_of(input).rows(patches.rows(), kBlock);
  check_points(patches.rows_between(rows.begin(), rows.end()), rows, "patches", num_threads);
}

}  // namespace

// With few words a low-rank model loses clusters: its q(theta) and q(h) do not know of each other,
// and what few words say about h is then lost (docs/experiments/dlgmm.md).
constexpr int64_t kWidthOfLowRank = 100;

DlgmmOptions resolve_options(const DlgmmInput& input, const DlgmmOptions& options) {
  DlgmmOptions out = options;
  const bool has_vectors = input.images.vectors.rows() > 0;
  const bool moves_words = options.word_moves > 0;
  const int64_t width = int64_t{options.num_words} * std::max(options.num_bands, 1);
  const bool has_many = input.images.vectors.rows() >= int64_t{kFewImages} * options.num_clusters;
  const bool is_low_rank = has_vectors && !moves_words && width >= kWidthOfLowRank && has_many &&
                           options.posterior == DlgmmPosterior::Structured;
  if (out.covariance == DlgmmCovariance::Auto)
    out.covariance = input.initial_model ? input.initial_model->covariance
                     : is_low_rank       ? DlgmmCovariance::LowRank
                                         : DlgmmCovariance::Diagonal;
  if (out.init == DlgmmInit::Auto)
    out.init = has_vectors ? DlgmmInit::NormalizedCut : DlgmmInit::LogCounts;
  if (out.fix == DlgmmFix::Auto)
    out.fix = has_vectors && !moves_words && options.batch_images == 0 ? DlgmmFix::Codebook
                                                                       : DlgmmFix::None;
  return out;
}

DlgmmRun check_dlgmm(const DlgmmInput& input, const DlgmmOptions& options) {
  validate_options(options);
  require(input.images.patches.rows() > 0 || input.images.offsets.empty(),
          "no image has a patch: images may be smaller than a patch");
  check_patches(input, options.num_threads);
  DlgmmRun run{options,
               make_image_table(input.images, options.num_bands, options.gamma, team_of(input)), 0};
  const int64_t num_images = run.table.num_images - run.table.num_without_patches;
  require(options.num_clusters <= num_images, [&] {
    return fmt::format("num_clusters is {}, there are only {}{}: use at most {}",
                       options.num_clusters, counted(num_images, "image"),
                       run.table.num_without_patches > 0 ? " with patches" : "", num_images);
  });
  check_memory(run, options);
  check_starts(input, options, run.table.num_images);
  require(options.word_moves <= 0 || words_can_move(options),
          "word_moves needs diagonal covariances of clusters, words without full ones, gamma 0 and "
          "no fixed layer: use 0 or auto");
  run.word_floor =
      std::max(options.min_word_variance * patch_variance(input.images.patches), 1e-30);
  take_vectors(input, options, run);
  return run;
}

void describe_dlgmm(const DlgmmRun& run, const DlgmmState& state, Termination termination,
                    DlgmmResult& result) {
  RunSummary& summary = result.summary;
  summary.method = DlgmmModel::kKind;
  summary.version = version();
  summary.seed = run.options.seed;
  summary.termination = termination;
  summary.message = stop_message(termination, run.options);
  summary.objective = state.trace.empty() ? 0 : state.trace.back();
  summary.trace = state.trace;
  summary.iterations = state.iteration;
  summary.restart = state.restart;
  summary.num_restarts = run.options.num_restarts;
  summary.n = run.table.num_images;
  summary.d = run.table.images.patches.cols();
  set_sizes(summary, result.labels, run.options.num_clusters);
  result.bound_terms = state.terms;
  std::vector<double> last(kNumBoundTerms, 0.0);
  if (state.terms.rows() > 0)
    std::ranges::copy(state.terms.row_span(state.terms.rows() - 1), last.begin());
  summary.extra.emplace_back("bound_terms", last);
  summary.extra.emplace_back("covariance", std::string(to_string(run.options.covariance)));
  summary.extra.emplace_back(
      "learns_words", std::string(run.options.fix == DlgmmFix::Codebook ? "before the clusters"
                                                                        : "with the clusters"));
  summary.extra.emplace_back("patches", run.table.images.patches.rows());
  summary.extra.emplace_back("words", state.model.num_words());
  summary.extra.emplace_back("words_in_use", state.words_in_use);
  summary.extra.emplace_back("words_per_patch", state.words_per_patch);
  summary.extra.emplace_back("skipped_words_loss", state.skipped_words_loss);
  if (run.learns_gamma()) summary.extra.emplace_back("gamma", state.model.gamma);
  std::vector<std::string> pairs;
  for (const WordPair& pair : correlated_words(state.model, 10))
    pairs.push_back(pair_text(pair, state.model.num_bands));
  if (!pairs.empty()) summary.extra.emplace_back("correlated_words", pairs);
  add_warnings(run, state, summary);
}

}  // namespace milieu::internal
