// SPDX-License-Identifier: Apache-2.0
// Shared by the files of fit_dlgmm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

// The problem, checked.
struct DlgmmRun {
  const DlgmmOptions& options;
  ImageTable table;
  double word_floor = 0;                // of delta2
  Matrix<float> image_projection = {};  // of the images' vectors; empty: they have none

  bool learns_gamma() const { return options.gamma < 0; }
  PassOptions pass_options(double gamma) const;
};

// How the number of clusters was chosen.
struct ClusterChoice {
  int num_clusters = 0;
  std::vector<int64_t> tried;
  std::vector<double> scores;  // bound of the cluster layer, less (free numbers / 2) log images
};
// The number with the highest score among 1, 2, 3, 4, 6, 8, 11, ... and then the numbers around the
// best, from the k-means codebook and its counts. Options may say -1.
ClusterChoice choose_num_clusters(const DlgmmInput& input, const DlgmmOptions& options,
                                  Monitor& monitor);

// The options with every auto but word_moves, bands and the number of clusters replaced by what it
// means for this input.
DlgmmOptions resolve_options(const DlgmmInput& input, const DlgmmOptions& options);

// Checks the input and prepares the run; throws as fit_dlgmm says.
DlgmmRun check_dlgmm(const DlgmmInput& input, const DlgmmOptions& options);

// Hash of the options that the result depends on and of the input: 16 hexadecimal digits.
std::string fingerprint_of(const DlgmmInput& input, const DlgmmOptions& options);

// Counts under the k-means codebook, of the images that have patches.
struct FirstCounts {
  PassResult pass;              // own images
  std::vector<int64_t> kept;    // those with patches, counted from the first own one
  Matrix<double> counts;        // of these images
  Matrix<double> vectors = {};  // and their rows of ImageTable::vectors
  // Where the covariance or the start needs them, the same on all ranks:
  std::vector<int64_t> images = {};          // all images with patches
  Matrix<float> points = {};                 // their log counts
  Matrix<double> factors = {}, origin = {};  // of the log counts, for a low-rank model
};
// Fills what follows from the counts of all ranks.
void gather_points(const DlgmmRun& run, FirstCounts& first);

// Starts by a normalized cut: of log counts beside image vectors, then (so that useless vectors, or
// words, can lose) of each alone, then k-means in the embedding of the first. Of very many images:
// k-means.
class CutStart {
 public:
  CutStart(const DlgmmRun& run, const FirstCounts& first) : run_(run), first_(first) {}
  // Of own images with patches.
  std::vector<int> labels(int restart, uint64_t seed, Monitor& monitor);

 private:
  const DlgmmRun& run_;
  const FirstCounts& first_;
  Matrix<float> points_, embedding_;
};

// The start of the highest bound on these counts, into `state`; that bound, or nothing when
// stopped.
std::optional<double> best_start(const DlgmmRun& run, const DlgmmInput& input,
                                 const FirstCounts& first, Monitor& monitor, DlgmmState& state);

// Natural-gradient steps on mini-batches: the statistics of all images are an average that forgets,
// and both M-steps follow from it. The model and the alpha and zeta of visited images change in
// `state`; nothing else. A stop keeps what is complete.
void run_batches(const DlgmmRun& run, DlgmmState& state, Monitor& monitor);

// Moments about `from` (the words or means of a step) become those about `to`.
void move_moments(DoubleView from, DoubleView to, WordStats& stats);
void move_moments(DoubleView from, DoubleView to, ClusterStats& stats);
// stats = keep stats + add other: both about the same words or means.
void blend(double keep, double add, const WordStats& other, WordStats& stats);
void blend(double keep, double add, const ClusterStats& other, ClusterStats& stats);

// Figures of a pass for the summary.
struct PassReport {
  BoundTerms bound;
  double loss = 0;
  double words_per_patch = 0;
  int64_t words_in_use = 0;
};

// One pass of the data and the rounds of the cluster layer: new model, probabilities and alpha.
// Nothing when it was stopped: the state is then as it was before, and also when the bound is not
// finite.
std::optional<PassReport> make_pass(const DlgmmRun& run, DlgmmState& state, Monitor& monitor);

// Diagonal covariances, no gamma, no clamped layer.
bool words_can_move(const DlgmmOptions& options);
// Moves words to where the bound is higher, with some passes, where the options allow it. A stop
// leaves a valid state.
void move_words(const DlgmmRun& run, DlgmmState& state, Monitor& monitor);

// Both layers at their start. When the monitor stops it the model is valid, but meaningless.
void start_state(const DlgmmRun& run, const DlgmmInput& input, Monitor& monitor, DlgmmState& state);

void describe_dlgmm(const DlgmmRun& run, const DlgmmState& state, Termination termination,
                    DlgmmResult& result);

}  // namespace milieu::internal
