// SPDX-License-Identifier: Apache-2.0
// Problem: images as [Xie15] says they come about: eta from pi, theta from N(mu_eta, Sigma_eta), z
//   from softmax(theta) or the random field on it, o from N(omega_z, Lambda_z).
// Given: a model. Find: patches, and the hidden variables behind them.
// Conventions: every image has its own stream of random numbers; the field is sampled by Gibbs
//   sweeps in the order of the patches, from the words that theta alone gives.
// See: [Xie15, Eq. 2], [Xie15, Eq. 13], docs/algorithms/dlgmm.md.
#include "milieu/dlgmm/dlgmm_sample.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/dlgmm/word_full_internal.h"

namespace milieu {

namespace {

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr int64_t kImagesPerBlock = 16;

// Draws the images of one model into a sample whose sizes are set.
class Sampler {
 public:
  Sampler(const DlgmmModel& model, const DlgmmSampleOptions& options, DlgmmSample& out)
      : model_(model), options_(options), out_(out) {
    if (model.covariance == DlgmmCovariance::Full || model.covariance == DlgmmCovariance::Tied)
      find_roots();
    for (int64_t v = 0; model.has_full_words() && v < model.word_variances.rows(); ++v)
      word_roots_.push_back(internal::word_root(model, v));
  }

  void draw(int64_t d) {
    Random random = Random(options_.seed).child(static_cast<uint64_t>(d));
    out_.labels[d] = static_cast<int>(random.weighted_index(model_.weights));
    draw_theta(d, random);
    const std::vector<double> shares = shares_of(d);
    for (int64_t i = 0; i < patches(); ++i)
      word(d, i) = static_cast<int>(random.weighted_index(shares_of_patch(shares, i)));
    for (int s = 0; model_.gamma > 0 && s < options_.num_sweeps; ++s) sweep(d, shares, random);
    for (int64_t i = 0; i < patches(); ++i) draw_patch(d, i, random);
  }

 private:
  int64_t patches() const { return int64_t{options_.grid_rows} * options_.grid_columns; }
  int& word(int64_t d, int64_t i) { return out_.words[d * patches() + i]; }

  // Lower Cholesky factors of the covariances, one per row of the model's.
  void find_roots() {
    const int64_t V = model_.num_words();
    for (int64_t row = 0; row < model_.covariances.rows(); ++row)
      roots_.push_back(Eigen::Map<const Square>(model_.covariances.row(row), V, V)
                           .llt()
                           .matrixL()
                           .toDenseMatrix());
  }

  void draw_theta(int64_t d, Random& random) {
    const int64_t V = model_.num_words(), j = out_.labels[d];
    const bool is_tied = model_.covariance == DlgmmCovariance::Tied ||
                         model_.covariance == DlgmmCovariance::TiedDiagonal || model_.is_low_rank();
    std::vector<double> noise(static_cast<size_t>(V)), factors;
    for (const double variance : model_.factor_variances)
      factors.push_back(std::sqrt(variance) * random.normal());
    for (int64_t g = 0; g < model_.num_bands; ++g) {
      for (double& x : noise) x = random.normal();
      for (int64_t v = 0; v < V; ++v) {
        const int64_t at = g * V + v;
        double deviation = 0;
        if (roots_.empty()) {
          deviation = std::sqrt(model_.covariances(is_tied ? 0 : j, at)) * noise[v];
        } else {
          const Square& root = roots_[is_tied ? g : j * model_.num_bands + g];
          for (int64_t w = 0; w <= v; ++w) deviation += root(v, w) * noise[w];
        }
        for (size_t f = 0; f < factors.size(); ++f)
          deviation += model_.factors(at, static_cast<int64_t>(f)) * factors[f];
        out_.theta(d, at) = model_.means(j, at) + deviation;
      }
    }
  }

  // exp(theta) of every band, the largest of each band 1.
  std::vector<double> shares_of(int64_t d) const {
    const int64_t V = model_.num_words();
    std::vector<double> shares(static_cast<size_t>(model_.num_bands * V));
    for (int64_t g = 0; g < model_.num_bands; ++g) {
      const double* theta = out_.theta.row(d) + g * V;
      const double highest = *std::max_element(theta, theta + V);
      for (int64_t v = 0; v < V; ++v) shares[g * V + v] = std::exp(theta[v] - highest);
    }
    return shares;
  }

  std::span<const double> shares_of_patch(std::span<const double> shares, int64_t i) const {
    const int64_t band = i / options_.grid_columns * model_.num_bands / options_.grid_rows;
    return shares.subspan(band * model_.num_words(), model_.num_words());
  }

  std::vector<int64_t> neighbors_of(int64_t i) const {
    const int64_t columns = options_.grid_columns, row = i / columns, column = i % columns;
    std::vector<int64_t> near;
    for (int64_t r = std::max<int64_t>(0, row - 1); r <= row + 1 && r < options_.grid_rows; ++r)
      for (int64_t c = std::max<int64_t>(0, column - 1); c <= column + 1 && c < columns; ++c)
        if ((r == row) != (c == column) || (model_.has_diagonals() && r != row && c != column))
          near.push_back(r * columns + c);
    return near;
  }

  // One pass of Gibbs sampling: each word given those of its neighbours [Xie15, Eq. 11].
  void sweep(int64_t d, std::span<const double> shares, Random& random) {
    const double reward = std::exp(model_.gamma);
    std::vector<double> weights(static_cast<size_t>(model_.num_words()));
    for (int64_t i = 0; i < patches(); ++i) {
      std::ranges::copy(shares_of_patch(shares, i), weights.begin());
      for (const int64_t near : neighbors_of(i)) weights[word(d, near)] *= reward;
      word(d, i) = static_cast<int>(random.weighted_index(weights));
    }
  }

  void draw_patch(int64_t d, int64_t i, Random& random) {
    const int64_t v = word(d, i), row = std::min(v, model_.word_variances.rows() - 1);
    float* patch = out_.patches.row(d * patches() + i);
    if (!word_roots_.empty()) return draw_full_patch(v, row, random, patch);
    for (int64_t r = 0; r < model_.words.cols(); ++r) {
      const int64_t column = std::min(r, model_.word_variances.cols() - 1);
      const double variance = model_.word_variances(row, column) / model_.beta;
      patch[r] = static_cast<float>(model_.words(v, r) + std::sqrt(variance) * random.normal());
    }
  }

  void draw_full_patch(int64_t v, int64_t row, Random& random, float* patch) {
    const int64_t dim = model_.words.cols();
    std::vector<double> normal(static_cast<size_t>(dim));
    for (double& x : normal) x = random.normal() / std::sqrt(model_.beta);
    for (int64_t r = 0; r < dim; ++r) {
      double value = model_.words(v, r);
      for (int64_t c = 0; c <= r; ++c) value += word_roots_[row](r, c) * normal[c];
      patch[r] = static_cast<float>(value);
    }
  }

  const DlgmmModel& model_;
  const DlgmmSampleOptions& options_;
  DlgmmSample& out_;
  std::vector<Square> roots_;
  std::vector<Matrix<double>> word_roots_;  // of full word covariances
};

void fill_normal(Matrix<double>& out, double deviation, Random& random) {
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = deviation * random.normal();
}

// Leaves the first `count` images.
void cut(DlgmmSample& sample, int64_t count) {
  const auto first = [](const auto& matrix, int64_t rows) {
    return std::remove_cvref_t<decltype(matrix)>(matrix.view().rows_between(0, rows));
  };
  sample.offsets.resize(static_cast<size_t>(count) + 1);
  sample.patches = first(sample.patches, sample.offsets.back());
  sample.grid = first(sample.grid, count);
  sample.theta = first(sample.theta, count);
  sample.labels.resize(static_cast<size_t>(count));
  sample.words.resize(static_cast<size_t>(sample.offsets.back()));
}

}  // namespace

DlgmmModel make_dlgmm_model(const DlgmmMakeOptions& options) {
  validate_options(options);
  Random random(options.seed);
  DlgmmModel model;
  model.num_bands = options.num_bands;
  model.gamma = options.gamma;
  if (options.diagonal_neighbors) model.diagonal_neighbors = {1};
  model.weights.assign(options.num_clusters, 1.0 / options.num_clusters);
  model.means =
      Matrix<double>(options.num_clusters, int64_t{options.num_bands} * options.num_words);
  fill_normal(model.means, options.spread, random);
  model.covariance = DlgmmCovariance::TiedDiagonal;
  model.covariances = Matrix<double>(1, model.means.cols());
  std::fill_n(model.covariances.data(), model.covariances.size(),
              options.deviation * options.deviation);
  model.words = Matrix<double>(options.num_words, options.num_dims);
  fill_normal(model.words, options.separation, random);
  model.word_variances = Matrix<double>(options.num_words, 1);
  for (int64_t v = 0; v < options.num_words; ++v)
    model.word_variances(v, 0) = random.uniform(0.5, 1.5);
  return model;
}

DlgmmSample sample_dlgmm(const DlgmmModel& model, const DlgmmSampleOptions& options,
                         Monitor& monitor) {
  validate_options(options);
  internal::check_model(model);
  const int64_t D = options.num_images, N = int64_t{options.grid_rows} * options.grid_columns;
  require_memory(
      {static_cast<double>(D) *
           (static_cast<double>(N) * (4.0 * static_cast<double>(model.words.cols()) + 4) +
            8.0 * static_cast<double>(model.means.cols())),
       "the images", "draw fewer images or patches"});
  DlgmmSample out;
  out.patches = Matrix<float>(D * N, model.words.cols());
  out.grid = Matrix<int32_t>(D, 2);
  out.theta = Matrix<double>(D, model.means.cols());
  out.labels.assign(D, 0);
  out.words.assign(D * N, 0);
  for (int64_t d = 0; d <= D; ++d) out.offsets.push_back(d * N);
  for (int64_t d = 0; d < D; ++d)
    out.grid(d, 0) = options.grid_rows, out.grid(d, 1) = options.grid_columns;
  Sampler sampler(model, options, out);
  std::vector<char> is_drawn(static_cast<size_t>(D), 0);
  parallel_for(D, kImagesPerBlock, options.num_threads, [&](const Block& block) {
    for (int64_t d = block.begin; d < block.end && !monitor.should_stop(); ++d) {
      sampler.draw(d);
      is_drawn[d] = 1;
    }
  });
  const int64_t count = std::ranges::find(is_drawn, 0) - is_drawn.begin();
  if (count < D) cut(out, count);
  return out;
}

}  // namespace milieu
