// SPDX-License-Identifier: Apache-2.0
// The steps of DLGMM, one function per equation of [Xie15].
//
// Symbols   D images, J clusters, V words, G bands, R numbers per descriptor; pi, mu_j, Sigma_j the
//           cluster layer, omega_v, delta2_v the words; zeta_dj, alpha_d, tau2_d, e_d, phi_iv the
//           variational parameters; n_dv = sum_i phi_iv the counts. Band g of an image has its own
//           V coordinates of theta, at [g V, (g + 1) V).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "milieu/base/ranks/team.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/dlgmm/factors/factor_steps.h"
#include "milieu/dlgmm/theta_step.h"

namespace milieu::internal {

// T1 .. T8 of the bound (docs/algorithms/dlgmm.md).
inline constexpr int kNumBoundTerms = 8;
struct BoundTerms {
  std::array<double, kNumBoundTerms> terms{};
  double total() const;
  void merge(const BoundTerms& other);
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    for (double& term : terms) v(term);
  }
};

// ---- Images ------------------------------------------------------------------------------------

constexpr int64_t kLayerBlock = 16;  // images of a block of the cluster layer

// The images that have patches, how the data pass cuts them into blocks, and how ranks share them:
// in the data pass by blocks, in the cluster layer by images. What is kept per image is kept by the
// rank that has it in the cluster layer; its matrices have rows for own images only.
struct ImageTable {
  DlgmmImages images;
  int64_t num_images = 0;
  int num_bands = 1;
  std::vector<int64_t> block_begin;  // first image of each block, and num_images at the end
  int64_t num_without_patches = 0;
  // Of images with edges: the neighbours of patch i are near_list[near_first[i] .. near_first[i +
  // 1]), counted from the first patch of its image, ascending; else empty.
  std::vector<int64_t> near_first, near_list;
  int64_t most_neighbors = 0;
  Matrix<double> vectors;  // of all images: their vectors on the model's components; or empty
  const Team* team = &Team::alone();
  std::vector<int64_t> pass_borders, layer_borders;  // ranks + 1: the first image of each

  // Of image d; empty where images have none.
  std::span<const double> vector(int64_t d) const {
    return vectors.empty() ? std::span<const double>() : vectors.row_span(d);
  }
  int64_t num_blocks() const { return static_cast<int64_t>(block_begin.size()) - 1; }
  int64_t pass_begin() const { return pass_borders[team->rank()]; }
  int64_t pass_end() const { return pass_borders[team->rank() + 1]; }
  int64_t own_begin() const { return layer_borders[team->rank()]; }
  int64_t own_end() const { return layer_borders[team->rank() + 1]; }
  int64_t num_own() const { return own_end() - own_begin(); }
  // Rows of own images, for the images of the own blocks; and the way back.
  Matrix<double> to_pass(DoubleView kept) const;
  Matrix<double> to_layer(DoubleView found) const;

  int64_t begin(int64_t d) const { return images.offsets.empty() ? d : images.offsets[d]; }
  int64_t end(int64_t d) const { return begin(d + 1); }
  int64_t num_patches(int64_t d) const { return end(d) - begin(d); }
  // Band of patch i of image d, where i counts from 0.
  int band(int64_t d, int64_t i) const;
};

// The neighbours of one image's patches, for gamma: those on a grid, or of any graph.
struct Neighborhood {
  int64_t begin = 0;           // where the shares of the image's patches are
  int64_t rows = 0, cols = 0;  // of the grid
  // Any graph: patch i, counted from 0, has list[first[i] .. first[i + 1]). Empty: the grid.
  std::span<const int64_t> first = {}, list = {};

  int64_t size() const {
    return first.empty() ? rows * cols : static_cast<int64_t>(first.size()) - 1;
  }
  int64_t num_pairs(bool has_diagonals) const;  // |P|
};
// Of image d, whose shares begin at patch `begin`.
Neighborhood neighborhood_of(const ImageTable& table, int64_t d, int64_t begin);

// Checks everything but NaN (check_points does that) and cuts the blocks.
ImageTable make_image_table(const DlgmmImages& images, int num_bands, double gamma,
                            const Team& team = Team::alone());
// Rows of `rows` values from one cut of images to another (Team::move_rows).
Matrix<double> move_matrix(const Team& team, DoubleView rows, std::span<const int64_t> from,
                           std::span<const int64_t> to);

// ---- The words (second layer) ------------------------------------------------------------------

// A model's words, prepared for scoring.
struct WordScorer {
  DoubleView words;               // V x R; the model's own, which must outlive this
  Matrix<double> inverse;         // V x 1 or V x R: 1 / delta2
  std::vector<double> constants;  // beta (-R/2 log 2 pi - 1/2 sum log delta2)
  double beta = 1;
  bool is_diagonal = false;  // one variance per dimension
  bool is_full = false;      // `inverse` has the rows of L^-1 (R R), Lambda = L L^T
  // For the block scores in float: x.factors_v + float_constants_v, where x = o - center, with
  // |x|^2 (spherical), x^2 (diagonal) or the products of pairs (full) behind it unless the variance
  // is tied. A tied variance leaves out what is equal for all words of a patch.
  std::vector<float> center;  // R
  Matrix<float> factors;      // V x K
  std::vector<double> float_constants;
  double largest_factor = 0;  // largest norm of a row of factors
};
WordScorer make_word_scorer(const DlgmmModel& model);

// beta log N(o | omega_v, delta2_v), in double.
double word_score(const WordScorer& scorer, const float* patch, int64_t word);

struct PatchShares;
// Pairs of patch and word with the same word together, so that a word is fetched once for all of
// its patches.
struct PairsByWord {
  std::vector<int64_t> first;   // V + 1: where the pairs of each word begin
  std::vector<int64_t> places;  // of the pairs in PatchShares, ascending for each word
  std::vector<int> rows;        // their patches
  std::vector<double> values;   // scratch
  void sort(const PatchShares& shares, int64_t num_words);
};

// Scores of all pairs without alpha, by the exact distances; patch i is row i of `patches`.
void score_pairs(const WordScorer& scorer, FloatView patches, PairsByWord& pairs,
                 PatchShares& shares);

// Statistics of the words from one pass. Moments are about the words of the pass.
struct WordStats {
  std::vector<double> mass;  // V: sum phi
  Matrix<double> first;      // V x R: sum phi (o - omega)
  // V x 1: sum phi |o - omega|^2; V x R: by dimension; full: V x (R R), of all products.
  Matrix<double> second;
  bool is_full = false;
  double entropy = 0;      // -sum phi log phi
  double agreement = 0;    // sum over neighbours of phi_m . phi_n, minus |P|
  double gamma_slope = 0;  // of the pseudo-likelihood in gamma, and minus its curvature
  double gamma_curvature = 0;
  double loss = 0;  // how much skipped words can lower the bound
  int64_t num_patches = 0;
  int64_t num_scored = 0;  // pairs of patch and word that were not skipped
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(mass, first, second, entropy, agreement, gamma_slope, gamma_curvature, loss, num_patches,
      num_scored);
  }

  WordStats(int64_t num_words, int64_t dim, bool is_diagonal, bool is_full = false);
  // The shares `phi` of `words` in one patch.
  void add(const float* patch, DoubleView omega, std::span<const int> words,
           std::span<const double> phi);
  // The same for all pairs of patches (row i is patch i), whose distances are known.
  void add(FloatView patches, DoubleView omega, const PatchShares& shares, PairsByWord& pairs);
  void merge(const WordStats& other);
};

// T4 of patches with statistics about `old_words`, under the words and variances of `model`.
double word_term(const WordStats& stats, DoubleView old_words, const DlgmmModel& model);

// [Xie15, Eqs. 9 and 10] with a floor of the variances; words of weight below 1e-3 keep theirs.
void update_words(const WordStats& stats, double floor, DlgmmModel& model);

// Patches of some images: for patch i the candidate words and their scores without neighbours are
// at [first[i], first[i + 1]).
struct PatchShares {
  std::vector<int64_t> first;     // patches + 1
  std::vector<int> words;         // may be longer than first.back()
  std::vector<double> scores;     // alpha_v + beta log N
  std::vector<double> distances;  // |o - omega_v|^2 of spherical words; else empty
  std::vector<double> phi;        // shares; each patch sums to 1
  std::vector<double> log_phi;
  std::vector<double> old_phi;  // scratch
  void clear();
  int64_t num_patches() const { return static_cast<int64_t>(first.size()) - 1; }
};

// [Xie15, Eq. 5] for patches [begin, end): phi = softmax of the scores.
void update_shares(PatchShares& shares, int64_t begin, int64_t end);

// [Xie15, Eq. 14] as mean field has it: phi_iv prop exp(score + gamma sum over neighbours of
// phi_nv), on a grid in checkerboard order (even cells first), on any other graph in the order of
// the patches, until no phi moves by 1e-8 or max_sweeps; a cell whose neighbours have not moved is
// skipped. Returns the sweeps made. Departs from [Xie15, Eq. 14]: the neighbours are inside
// the exponential; outside they would depend on the unit of the descriptors and lower the bound.
// With diagonals a cell has 8 neighbours, and cells are updated in four colours of a 2 x 2 pattern.
struct CoherenceScratch {
  std::vector<double> dense;          // V zeros
  std::vector<uint8_t> is_open = {};  // cells one of whose neighbours has moved since their update
  std::vector<int64_t> near = {};     // the neighbours of one cell
  bool has_diagonals = false;
};
int sweep_coherence(PatchShares& shares, const Neighborhood& hood, double gamma, int max_sweeps,
                    CoherenceScratch& scratch);
// Sum over neighbours of phi_m . phi_n, and the number of neighbours |P|.
double neighbor_agreement(const PatchShares& shares, const Neighborhood& hood,
                          CoherenceScratch& scratch);
inline int64_t num_neighbors(int64_t rows, int64_t cols, bool has_diagonals = false) {
  return rows * (cols - 1) + cols * (rows - 1) + (has_diagonals ? 2 * (rows - 1) * (cols - 1) : 0);
}
// Slope and minus the curvature in gamma of sum_i E log p(z_i | neighbours, theta), the
// pseudo-likelihood with the neighbours at their shares: with c_v the shares of word v among the
// neighbours of patch i, sum_v phi_iv (log s_v + gamma c_v) - log sum_v s_v exp(gamma c_v), which
// is concave in gamma. `frequencies` holds s for each patch, a row of V per band, and `bands`
// the band of each patch.
struct GammaSlope {
  double slope = 0, curvature = 0;
};
GammaSlope coherence_slope(const PatchShares& shares, const Neighborhood& hood, double gamma,
                           DoubleView frequencies, std::span<const int> bands,
                           CoherenceScratch& scratch);
// log Z(theta, gamma) <= |P| / 4 log(1 + (exp(4 gamma) - 1) sum_v s_v^2), s = softmax(theta); the
// bound gamma |P| that T8 uses is never below it. [Xie15, Eq. 12] has Z without any bound.
double tight_log_z(std::span<const double> theta, double gamma, int64_t num_pairs);

// ---- The data pass -----------------------------------------------------------------------------

struct PassOptions {
  double word_loss = 1e-9;
  double gamma = 0;
  int coherence_sweeps = 1;
  int num_threads = 0;
  bool learns_gamma = false;  // gathers the slope of gamma
  bool has_diagonals = false;
};
struct PassResult {
  Matrix<double> counts;  // own images x (G V)
  WordStats stats;
};
// One pass over all patches with theta at `alpha` (own images x (G V)): Eq. 5 (or 14) and the
// statistics of Eqs. 9 and 10. phi is never stored. Nothing when the monitor stops it.
std::optional<PassResult> run_data_pass(const ImageTable& table, const DlgmmModel& model,
                                        DoubleView alpha, const PassOptions& options,
                                        Monitor& monitor);

// Scratch of a block: products of a window of patches with all words, and the candidate words.
struct PassScratch {
  Matrix<float> chunk, products, bias;
  int64_t window_size = 512;                 // patches of one product
  int64_t window_begin = 0, window_end = 0;  // patches whose products are there
  double window_norm = 0;                    // largest norm of their rows
  int64_t reach = 0;                         // products may be made up to this patch
  PatchShares shares;
  PairsByWord pairs;
  CoherenceScratch coherence;
};
// Candidate words and scores of image d, in place of scratch.shares; returns the bound of the share
// of the skipped words in each patch. Products depend on the scorer only: a scratch serves one
// scorer, and scoring an image again with another alpha does not repeat them.
double score_image(const ImageTable& table, int64_t d, const WordScorer& scorer,
                   std::span<const double> alpha, const PassOptions& options, PassScratch& scratch);

// ---- The clusters (first layer) ----------------------------------------------------------------

// A model's clusters, prepared for the E-step.
struct ClusterPrior {
  bool is_full = false;
  int64_t num_words = 0;
  int num_bands = 1;
  DoubleView means;                 // J x (G V); the model's own
  Matrix<double> precisions;        // diagonal: J x (G V); full: (J G) x (V V)
  Matrix<double> diagonals;         // full: J x (G V) diagonals of the precisions
  Matrix<double> log_dets;          // J x G: log |Sigma_jg|
  std::vector<double> log_weights;  // J
  FactorPrior factors;              // of low-rank covariances; else empty
  VectorPrior vectors;              // of image vectors; else empty

  int num_clusters() const { return static_cast<int>(log_weights.size()); }
  std::span<const double> mean(int j, int g) const;
  std::span<const double> precision(int j, int g) const;  // diagonal; of a full one its diagonal
  DoubleView full_precision(int j, int g) const;
};
ClusterPrior make_cluster_prior(const DlgmmModel& model);

// E log N(theta | mu_jg, Sigma_jg), the braces of T2.
double expected_log_density(const ClusterPrior& prior, int j, int g, const Theta& theta);

// [Xie15, Eq. 4]: zeta prop pi_j exp(energies_j).
void update_zeta(const ClusterPrior& prior, std::span<const double> energies,
                 std::span<double> zeta);

// Statistics of the clusters from the E-step. Moments are about the means of the step.
struct ClusterStats {
  bool is_full = false;
  std::vector<double> mass;  // J: sum zeta
  Matrix<double> first;      // J x (G V): sum zeta (alpha - mu)
  // diagonal J x (G V): sum zeta ((alpha - mu)^2 + tau2); full (J G) x (V V).
  Matrix<double> second;
  BoundTerms bound;  // T1, T2, T3, T5, T6 of the images
  int64_t newton_steps = 0;
  FactorStats factors;  // of low-rank covariances, in place of first and second
  VectorStats vectors;  // of image vectors
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(mass, first, second, bound, newton_steps, factors, vectors);
  }

  ClusterStats(int num_clusters, int num_bands, int64_t num_words, bool is_full);
  explicit ClusterStats(const ClusterPrior& prior);
  void add(const ClusterPrior& prior, int j, int g, double share, const Theta& theta);
  void merge(const ClusterStats& other);
};

// T1 and T2 of images with statistics about `old_means`, under the clusters of `model`.
double weight_term(const ClusterStats& stats, const DlgmmModel& model);
double cluster_term(const ClusterStats& stats, DoubleView old_means, const DlgmmModel& model);

// [Xie15, Eqs. 7 and 8] with a floor of the (eigen)values of Sigma. Departs from [Xie15, Eq. 8]:
// diag(tau_d^2) replaces the printed tau_d^2 I. A cluster without images takes the pooled prior.
void update_clusters(const ClusterStats& stats, double floor, DlgmmModel& model);

// Thetas of one image: one per band (mean field, low rank), or one per cluster and band
// (structured).
struct ImageScratch {
  std::vector<Theta> thetas;
  std::vector<double> energies;
  std::vector<double> counts;
  std::vector<double> precision, mean;
  Matrix<double> full_precision;
  std::vector<ThetaSolver> solvers;  // one per band
  std::vector<double> log_priors;    // log pi plus the energies of the image's vector
  std::vector<double> pull, factors, tau2;
};

// The E-step of one image: theta and zeta [Xie15, Eqs. 4 and 6], adding to `stats`. Structured:
// each cluster has its own theta and zeta follows; mean field: theta from the given zeta, then
// zeta. Low rank: theta from the factors at the given alpha and zeta, then factors and zeta;
// update_images adds its T2. `alpha` becomes sum_j zeta_j alpha_j, what Eq. 5 sees; `vector` is a
// row of ImageTable::vectors.
void update_image(const ClusterPrior& prior, DlgmmPosterior posterior, double kappa,
                  std::span<const double> counts, std::span<double> zeta, std::span<double> alpha,
                  ImageScratch& scratch, ClusterStats& stats, std::span<const double> vector = {});

// The same for all images with patches; rows of own images. Nothing when the monitor stops it.
std::optional<ClusterStats> update_images(const ImageTable& table, const DlgmmModel& model,
                                          DoubleView counts, MatrixView<double> zeta,
                                          MatrixView<double> alpha, int num_threads,
                                          Monitor& monitor);

// ---- Starts ------------------------------------------------------------------------------------

// The first codebook: k-means of at most max_codebook_patches patches, one variance for all. Fewer
// words than requested when there are fewer distinct patches.
void start_words(const DlgmmInput& input, const DlgmmOptions& options, Monitor& monitor,
                 DlgmmModel& model);
// Mean over dimensions of the patches' variance (of a sample).
double patch_variance(FloatView patches);
// log(n + 1/2), centred in each band: D x (G V).
Matrix<float> log_counts(DoubleView counts, int num_bands);
// Initial labels of the own images with patches (by position) for restart number `restart`.
std::vector<int> start_labels(DoubleView counts, int num_bands, const DlgmmOptions& options,
                              int restart, Monitor& monitor, const Team& team = Team::alone());
// The seed of the start of the clusters in a restart.
uint64_t cluster_seed(const DlgmmOptions& options, int restart);
// mu and Sigma from labels of own images: alpha = log counts, tau2 = 1 / (1 + n). A low-rank model
// keeps its factors. `vectors` are the rows of ImageTable::vectors of these images.
void start_clusters(DoubleView counts, std::span<const int> labels, const DlgmmOptions& options,
                    DlgmmModel& model, const Team& team = Team::alone(), DoubleView vectors = {});

// The images' vectors on the model's components. Throws InvalidArgument where the model and the
// images do not agree on whether there are vectors and how long they are.
Matrix<double> project_vectors(const DlgmmModel& model, const DlgmmImages& images);

// infer_images without its checks: rows of the images of the own blocks.
DlgmmPrediction infer_own(const DlgmmModel& model, const ImageTable& table, int num_threads,
                          Monitor& monitor);

// Throws DataError unless the arrays of a model are consistent.
void check_model(const DlgmmModel& model);

}  // namespace milieu::internal
