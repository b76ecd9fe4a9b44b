// SPDX-License-Identifier: Apache-2.0
// DLGMM and SC-DLGMM [Xie15]: clusters of images and the codebook of their patches, learned
// together. The public interface; the loop is in dlgmm.cc, the equations in dlgmm_steps.h.
// docs/algorithms/dlgmm.md says when joint learning pays and how to choose the options.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// q(theta | eta) has its own mean for every cluster (structured), or one mean for all of them
// (mean-field, as the paper does).
enum class DlgmmPosterior { Structured, MeanField };
// Sigma_j: diagonal, one diagonal for all clusters, any matrix, one matrix for all clusters, or one
// low-rank matrix plus a diagonal, whose factors also span the clusters' means. Auto is LowRank
// where images have vectors and there are 100 words or more (in all bands), else Diagonal; models
// never have it.
enum class DlgmmCovariance { Diagonal, TiedDiagonal, Full, Tied, LowRank, Auto };
// Lambda_v: delta^2 I (the paper's experiments), a diagonal, or any matrix (the paper's model).
enum class WordCovariance { Spherical, Diagonal, Full };
// How the clusters are initialised. Auto is NormalizedCut where images have vectors, else
// LogCounts.
enum class DlgmmInit { LogCounts, Lda, Random, NormalizedCut, Auto };
// Which layer keeps its initial state (the paper's separate learning). Auto is Codebook where
// images have vectors, else None.
enum class DlgmmFix { None, Codebook, Clusters, Auto };

// The names in options and model files.
const char* to_string(DlgmmPosterior posterior);
const char* to_string(DlgmmCovariance covariance);
DlgmmPosterior dlgmm_posterior_from(std::string_view name);    // throws DataError for another name
DlgmmCovariance dlgmm_covariance_from(std::string_view name);  // likewise

struct DlgmmOptions {
  int num_words = 100;   // V; at most the number of distinct patches, else it is lowered
  int num_clusters = 8;  // J; at most the number of images; -1: chosen by the penalised bound
  int num_bands = 0;     // horizontal regions with their own theta; 0: 3 on image folders, else 1
  double gamma = 0;      // SC-DLGMM's reward for equal words of neighbouring patches; -1: learned
  bool diagonal_neighbors = false;  // for gamma: a patch has 8 neighbours on the grid, not 4
  DlgmmPosterior posterior = DlgmmPosterior::Structured;
  DlgmmCovariance covariance = DlgmmCovariance::Auto;
  // F: rank of low-rank covariances, and components that are kept of image vectors; lower where
  // there are fewer than five images for each.
  int num_factors = 50;
  double image_weight = 1;  // exponent of the image vectors' likelihood
  WordCovariance word_covariance = WordCovariance::Spherical;
  bool tie_words = true;  // one delta^2 for all words; false lets wide words collect clutter
  DlgmmInit init = DlgmmInit::Auto;
  DlgmmFix fix = DlgmmFix::Auto;
  double beta = 1;              // tempers the descriptor likelihood; smaller gives softer words
  double kappa = 1;             // discounts patches that overlap; smaller trusts counts less
  int num_restarts = 5;         // initialisations of the clusters; the highest bound is kept
  int max_iterations = 200;     // passes over the patches
  double rel_tolerance = 1e-5;  // least rise of the bound, nats per patch value
  int batch_images = 0;         // images of a mini-batch; 0: none, only full passes
  int num_epochs = 3;           // passes of mini-batches over all images, before the full passes
  int layer_rounds = 2;         // E and M steps of the cluster layer for each pass
  int init_rounds = 12;         // the same for each restart, before the bounds are compared
  int word_moves = -1;        // maximum moves of words before the passes; -1: where they are cheap
  int coherence_sweeps = 50;  // maximum checkerboard sweeps per image and pass, for gamma > 0
  double word_loss = 1e-9;    // words whose share of a patch is certainly below this are skipped
  double min_cluster_variance = 1e-2;  // floor of Sigma
  double min_word_variance = 0.01;     // floor of delta^2, as a fraction of the patches' variance
  int64_t max_codebook_patches = 200000;  // drawn for the first codebook
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

// How far a fit goes: the second half of the fields.
template <class Visitor>
void visit_limits(DlgmmOptions& o, Visitor&& v) {
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "initialisations of the clusters; the one with the highest bound is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum passes over the patches");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the bound rises by less than this, in nats per value of a patch; 0 runs "
    "max_iterations");
  v("batch_images", o.batch_images, at_least(0),
    "before the full passes, take natural-gradient steps on mini-batches of this many images; 0 "
    "takes none");
  v("num_epochs", o.num_epochs, at_least(1).alias("epochs"),
    "how often the mini-batches pass over all images");
  v("layer_rounds", o.layer_rounds, between(1, 1000).advanced(),
    "rounds of the cluster layer per pass");
  v("init_rounds", o.init_rounds, between(1, 1000).alias("start-rounds").advanced(),
    "rounds of the cluster layer per restart, before the bounds are compared");
  v("word_moves", o.word_moves, at_least(0).or_word("auto", -1).advanced(),
    "maximum number of redundant words to move, before the passes, to where one word covers two; "
    "each move is tried for eight passes; needs diagonal covariances and no gamma; auto moves them "
    "when a pass takes milliseconds");
  v("coherence_sweeps", o.coherence_sweeps, between(1, 10000).advanced(),
    "maximum checkerboard sweeps over an image per pass, for gamma > 0");
  v("word_loss", o.word_loss, between(0, 0.1).advanced(),
    "skip words whose shares of a patch certainly sum to less than this; 0 skips none");
  v("min_cluster_variance", o.min_cluster_variance, between(1e-9, 1e6).advanced(),
    "minimum variance of a cluster's log frequencies");
  v("min_word_variance", o.min_word_variance, between(1e-9, 1).advanced(),
    "minimum variance of a word, as a fraction of the patches' mean variance");
  v("max_codebook_patches", o.max_codebook_patches, at_least(1).advanced(),
    "patches sampled for the initial codebook");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

template <class Visitor>
void visit_fields(DlgmmOptions& o, Visitor&& v) {
  v("num_words", o.num_words, at_least(1).alias("words"), "size of the codebook, V");
  v("num_clusters", o.num_clusters, at_least(1).or_word("auto", -1).alias("clusters").alias("k"),
    "number of image clusters, J; auto chooses the highest penalised bound");
  v("num_bands", o.num_bands, between(0, 64).alias("bands"),
    "horizontal bands of an image, each with separate word frequencies; 0 means 3 on image "
    "folders, "
    "else 1");
  v("gamma", o.gamma, between(0, 1000).or_word("learn", -1),
    "reward for equal words of neighbouring patches (SC-DLGMM); needs a grid or other neighbours; "
    "learn maximises the pseudo-likelihood");
  v("diagonal_neighbors", o.diagonal_neighbors, anything(),
    "for gamma: count diagonal neighbours too, 8 on the grid instead of 4");
  v("posterior", o.posterior,
    one_of<DlgmmPosterior>(
        {{"structured", DlgmmPosterior::Structured}, {"mean-field", DlgmmPosterior::MeanField}}),
    "structured infers each image once per cluster; mean-field is the paper's");
  v("covariance", o.covariance,
    one_of<DlgmmCovariance>({{"diagonal", DlgmmCovariance::Diagonal},
                             {"tied-diagonal", DlgmmCovariance::TiedDiagonal},
                             {"full", DlgmmCovariance::Full},
                             {"tied", DlgmmCovariance::Tied},
                             {"low-rank", DlgmmCovariance::LowRank},
                             {"auto", DlgmmCovariance::Auto}}),
    "shape of the clusters' covariances; full needs many images per cluster, tied shares one full "
    "matrix, low-rank shares num_factors factors, which the means are made of too; auto is "
    "low-rank where images have vectors, are at least 15 per cluster and have 100 words (all bands "
    "together), else diagonal");
  v("num_factors", o.num_factors, between(1, 10000).alias("factors"),
    "factors of low-rank covariances, and principal components of image vectors; at most one for "
    "five images");
  v("image_weight", o.image_weight, between(0, 1e6),
    "exponent of the likelihood of image vectors; 0 leaves them to the start");
  v("word_covariance", o.word_covariance,
    one_of<WordCovariance>({{"spherical", WordCovariance::Spherical},
                            {"diagonal", WordCovariance::Diagonal},
                            {"full", WordCovariance::Full}}),
    "shape of the words' covariances; full has a matrix, shared by all words with --tie-words");
  v("tie_words", o.tie_words, anything(), "share one covariance between all words");
  v("init", o.init,
    one_of<DlgmmInit>({{"log-counts", DlgmmInit::LogCounts},
                       {"lda", DlgmmInit::Lda},
                       {"random", DlgmmInit::Random},
                       {"ncut", DlgmmInit::NormalizedCut},
                       {"auto", DlgmmInit::Auto}})
        .alias("start"),
    "initial clusters: k-means of log counts, the strongest LDA topic (the paper), random, or a "
    "normalized cut of log counts and image vectors; auto is ncut where images have vectors, else "
    "log-counts");
  v("fix", o.fix,
    one_of<DlgmmFix>({{"none", DlgmmFix::None},
                      {"codebook", DlgmmFix::Codebook},
                      {"clusters", DlgmmFix::Clusters},
                      {"auto", DlgmmFix::Auto}}),
    "keep the initial state of one layer: separate instead of joint learning; auto keeps the "
    "codebook where images have vectors");
  v("beta", o.beta, between(1e-6, 1e6),
    "exponent of the descriptor likelihood; below 1 gives softer words");
  v("kappa", o.kappa, between(1e-6, 1e6),
    "weight of one patch; below 1 discounts overlapping patches");
  visit_limits(o, v);
}

// What predicts for new images. V words, J clusters, G bands, R numbers per descriptor.
struct DlgmmModel {
  static constexpr std::string_view kKind = "dlgmm";
  static constexpr int kFormatVersion = 3;
  DlgmmPosterior posterior = DlgmmPosterior::Structured;
  DlgmmCovariance covariance = DlgmmCovariance::Diagonal;
  int num_bands = 1;  // G
  double gamma = 0, beta = 1, kappa = 1;
  std::vector<double> weights;  // J: pi, sum 1
  Matrix<double> means;         // J x (G V): mu, band after band
  // Sigma: diagonal J x (G V), tied-diagonal 1 x (G V), full (J G) x (V V) with row j G + g, tied
  // G x (V V); matrices row-major. low-rank: the diagonal 1 x (G V) beside the factors.
  Matrix<double> covariances;
  // Low-rank: theta = origin + factors h + noise, h of a cluster Gaussian about its row of
  // factor_means; `means` then follow from these.
  Matrix<double> factors;                // (G V) x F; else empty
  Matrix<double> origin;                 // 1 x (G V)
  Matrix<double> factor_means;           // J x F
  std::vector<double> factor_variances;  // F
  // Of image vectors, W numbers each, P of them kept; else empty.
  Matrix<float> image_projection;       // (1 + P) x W: their mean, then scaled principal components
  Matrix<double> image_means;           // J x P
  std::vector<double> image_variances;  // P
  std::vector<double> image_weight;     // {exponent of their likelihood}
  Matrix<double> words;                 // V x R: omega
  // Lambda: V x 1 (spherical), V x R (diagonal) or, for R > 1, V x (R R) (full, row-major); one row
  // when it is tied.
  Matrix<double> word_variances;
  std::vector<int> diagonal_neighbors;  // {1}: the random field has 8 neighbours; empty: 4
  // {K}: it has the K nearest patches by position; set by the code that made the patches.
  std::vector<int> position_neighbors;
  // Mean (first row) and components of the descriptors that became patches; set by the code that
  // made the patches, so that the model describes new images by itself. Empty: patches are
  // descriptors.
  Matrix<float> projection;

  int num_clusters() const { return static_cast<int>(weights.size()); }
  int64_t num_words() const { return words.rows(); }
  bool is_low_rank() const { return covariance == DlgmmCovariance::LowRank; }
  bool has_image_vectors() const { return !image_projection.empty(); }
  bool has_full_words() const {
    return words.cols() > 1 && word_variances.cols() == words.cols() * words.cols();
  }
  bool has_diagonals() const { return !diagonal_neighbors.empty() && diagonal_neighbors[0] != 0; }
};

template <MaybeConst<DlgmmModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("beta", m.beta);
  visit_enum(v, "covariance", m.covariance, dlgmm_covariance_from);
  v("gamma", m.gamma);
  v("kappa", m.kappa);
  v("num_bands", m.num_bands);
  visit_enum(v, "posterior", m.posterior, dlgmm_posterior_from);
  v("weights", m.weights);
  v("means", m.means);
  v("covariances", m.covariances);
  v("words", m.words);
  v("word_variances", m.word_variances);
  visit_optional(v, "projection", m.projection);  // since version 2
  visit_optional(v, "diagonal_neighbors", m.diagonal_neighbors);
  visit_optional(v, "position_neighbors", m.position_neighbors);
  visit_optional(v, "factors", m.factors);  // this and the following since version 3
  visit_optional(v, "origin", m.origin);
  visit_optional(v, "factor_means", m.factor_means);
  visit_optional(v, "factor_variances", m.factor_variances);
  visit_optional(v, "image_projection", m.image_projection);
  visit_optional(v, "image_means", m.image_means);
  visit_optional(v, "image_variances", m.image_variances);
  visit_optional(v, "image_weight", m.image_weight);
}

// The patches of images. Image d has the rows [offsets[d], offsets[d + 1]) of `patches`; it may
// have none (then it gets no label). Without offsets every row is an image of one patch.
struct DlgmmImages {
  FloatView patches = {};                 // n x R; finite; may be a mapped file
  std::span<const int64_t> offsets = {};  // D + 1: 0, ..., n, never decreasing; or empty
  MatrixView<const int32_t> grid = {};    // D x 2: rows and columns of each image's patches, which
                                          // are then stored row by row; or empty
  std::span<const uint8_t> bands = {};    // n: band of each patch, in place of the grid's; or empty
  // Pairs of patches of one image that are neighbours for gamma, in any order, in place of the
  // grid's: keypoints that are near each other, superpixels that touch; or empty.
  std::span<const std::pair<int64_t, int64_t>> edges = {};
  // D x W: what else is known of each whole image, such as gist or an embedding, a further
  // observation of its cluster; on every rank. Or empty.
  FloatView vectors = {};

  int64_t num_images() const {
    return offsets.empty() ? patches.rows() : static_cast<int64_t>(offsets.size()) - 1;
  }
};

// Everything a killed run needs to resume with the same bits.
struct DlgmmState {
  static constexpr std::string_view kKind = "dlgmm-state";
  static constexpr int kFormatVersion = 2;  // 1 had no terms and is refused
  DlgmmModel model;
  std::string fingerprint;       // of options and input; a state of another run is refused
  int iteration = 0;             // passes made
  int restart = 0;               // the restart that was chosen
  Matrix<double> probabilities;  // D x J: zeta
  Matrix<double> alpha;          // D x (G V): what the next pass sees
  std::vector<double> trace;     // bound after each pass
  Matrix<double> terms;          // passes x 8: T1 to T8 after each pass, which sum to the bound
  std::vector<double> gammas;    // of each pass; the model has that of the next
  // Of the last pass, for the summary.
  int64_t words_in_use = 0;  // words with half a patch or more
  double words_per_patch = 0;
  double skipped_words_loss = 0;
};

template <MaybeConst<DlgmmState> Model, class Visitor>
void visit_arrays(Model& s, Visitor&& v) {
  visit_arrays(s.model, v);
  v("fingerprint", s.fingerprint);
  v("iteration", s.iteration);
  v("restart", s.restart);
  v("probabilities", s.probabilities);
  v("alpha", s.alpha);
  v("trace", s.trace);
  try {
    v("terms", s.terms);
  } catch (const DataError& error) {
    throw DataError(
        std::string(error.what()) +
        ": the state was written by an older version of Milieu; delete it to start over");
  }
  v("gammas", s.gammas);
  v("skipped_words_loss", s.skipped_words_loss);
  v("words_in_use", s.words_in_use);
  v("words_per_patch", s.words_per_patch);
}

struct DlgmmInput {
  DlgmmImages images;  // all of them, on every rank: each reads the patches of its own
  std::span<const int> initial_labels = {};   // D clusters to start from, or empty
  FloatView initial_words = {};               // V x R codebook to start from, or empty
  const DlgmmModel* initial_model = nullptr;  // both layers to start from, or null
  const DlgmmState* resume = nullptr;         // the point that a killed run had reached, or null
  // Called after every pass, from the calling thread; what it throws ends the fit.
  // On several ranks all call it, each with probabilities and alpha of its own images.
  std::function<void(const DlgmmState&)> on_pass = nullptr;
  const Team* team = nullptr;  // ranks that share the images; null: there is one
};

// The state of all images on rank 0, from the states of all ranks; the others' is as it was.
DlgmmState gather_state(const DlgmmState& own, const Team& team);

// The result of inference on images.
struct DlgmmPrediction {
  std::vector<int> labels;       // D, in [0, J); -1 for an image without patches
  Matrix<double> probabilities;  // D x J
  Matrix<double> alpha;          // D x (G V): posterior mean of theta
};

// On several ranks labels and prediction are on rank 0 alone.
struct DlgmmResult {
  // Equal to infer_images(model, images).labels; after a stop, images that were not reached keep
  // the labels of the fit. -1 only for images without patches.
  std::vector<int> labels;
  DlgmmModel model;
  DlgmmPrediction prediction;  // of the images fitted, or of the fit itself, as the labels
  Matrix<double> bound_terms;  // passes x 8: T1 to T8 after each pass; rows sum to summary.trace
  // objective: the lower bound of the log evidence; it is maximised. extra: bound_terms (T1 to T8
  // of docs/algorithms/dlgmm.md after the last pass), words_in_use, skipped_words_loss,
  // words_per_patch; gamma, where it was learned; clusters_tried and penalised_bounds, where the
  // number of clusters was chosen.
  RunSummary summary;
};

// Throws InvalidArgument for options out of range, sizes that do not match and gamma or bands
// without a grid; DataError for patches that are not finite, offsets that decrease and patches that
// change between passes so that the bound falls. A stopped fit returns the best complete state; its
// labels may be those of the fit (see DlgmmResult).
DlgmmResult fit_dlgmm(const DlgmmInput& input, const DlgmmOptions& options,
                      Monitor& monitor = silent_monitor());

// Both throw like fit_dlgmm, and DataError for a model with inconsistent arrays. When the monitor
// stops it, images that were not reached have label -1 and zeros.
DlgmmPrediction infer_images(const DlgmmModel& model, const DlgmmImages& images,
                             int num_threads = 0, Monitor& monitor = silent_monitor());
// Every row is an image of one patch.
std::vector<int> predict(const DlgmmModel& model, FloatView points, int num_threads = 0);

// The most probable word of every patch of the images; `alpha` is from infer_images. -1 only for
// patches that were not reached when the monitor stopped it.
std::vector<int> word_map(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                          int num_threads = 0, Monitor& monitor = silent_monitor());

// phi [Xie15, Eq. 5]: the share of every word in every patch, patches x V; rows sum to 1 but for
// words that were skipped. Zeros for patches that were not reached when the monitor stopped it.
Matrix<float> word_shares(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                          int num_threads = 0, Monitor& monitor = silent_monitor());
// The sum of phi over the patches of each image and band: D x (G V), the counts that theta is
// inferred from.
Matrix<double> word_counts(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                           int num_threads = 0, Monitor& monitor = silent_monitor());

// A pair of words whose frequencies rise together (or exclude each other) within clusters.
struct WordPair {
  int first = 0, second = 0;
  int band = 0;
  int cluster = -1;  // -1: one covariance for all (tied)
  double correlation = 0;
};
// The pairs of largest |correlation| over all covariance matrices, strongest first; empty for
// diagonal covariances.
std::vector<WordPair> correlated_words(const DlgmmModel& model, int max_num_pairs);

}  // namespace milieu
