// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {
namespace {

// Which of `cells` equal parts of [0, size) holds a position; pixel centres are whole numbers.
int64_t cell_of(float position, int size, int64_t cells) {
  const double share = (position + 0.5) / size;
  return std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(cells)), 0,
                             cells - 1);
}

double norm_of(std::span<const float> values, WordNorm norm) {
  double sum = 0;
  for (const double value : values) sum += norm == WordNorm::L1 ? std::abs(value) : value * value;
  return norm == WordNorm::L1 ? sum : std::sqrt(sum);
}

}  // namespace

Vocabulary learn_vocabulary(FloatView sample, const WordOptions& options, int num_threads,
                            Monitor& monitor) {
  validate_options(options);
  require(!sample.empty(),
          "no local descriptors to learn a codebook from: are the images too "
          "small or without structure?");
  require(options.pca <= sample.cols(), [&] {
    return fmt::format("pca is {}, the descriptors have {}: use at most that many", options.pca,
                       counted(sample.cols(), "dimension"));
  });
  Vocabulary vocabulary;
  Matrix<float> reduced;
  if (options.pca > 0) {
    vocabulary.pca = fit_pca(sample, options.pca);
    reduced = project(vocabulary.pca, sample);
    sample = reduced;
  }
  KMeansOptions kmeans;
  kmeans.num_clusters = static_cast<int>(std::min<int64_t>(options.num_words, sample.rows()));
  kmeans.num_restarts = 1;
  kmeans.max_iterations = 50;
  kmeans.seed = options.seed;
  kmeans.num_threads = num_threads;
  KMeansInput input;
  input.points = sample;
  vocabulary.words = fit_kmeans(input, kmeans, monitor).model;
  return vocabulary;
}

Matrix<float> reduce(const Vocabulary& vocabulary, Matrix<float> descriptors) {
  if (vocabulary.pca.components.empty()) return descriptors;
  if (descriptors.rows() == 0) return Matrix<float>(0, vocabulary.pca.components.rows());
  return project(vocabulary.pca, descriptors);
}

int64_t num_pyramid_cells(int levels) { return ((int64_t{1} << (2 * levels)) - 1) / 3; }

std::vector<float> count_words(const Vocabulary& vocabulary, FloatView descriptors,
                               FloatView frames, int width, int height, int pyramid_levels) {
  const int64_t num_words = vocabulary.size();
  std::vector<float> counts(num_words * num_pyramid_cells(pyramid_levels));
  if (descriptors.rows() == 0) return counts;
  require(descriptors.cols() == vocabulary.words.centers.cols(), [&] {
    return fmt::format("the codebook has {}, the descriptors have {}: they must match",
                       counted(vocabulary.words.centers.cols(), "column"), descriptors.cols());
  });
  const std::vector<int> words = predict(vocabulary.words, descriptors, 1);
  for (int64_t i = 0; i < descriptors.rows(); ++i) {
    int64_t first_cell = 0;
    for (int level = 0; level < pyramid_levels; ++level) {
      const int64_t side = int64_t{1} << level;
      const int64_t cell = first_cell + cell_of(frames(i, 1), height, side) * side +
                           cell_of(frames(i, 0), width, side);
      counts[cell * num_words + words[i]] += 1;
      first_cell += side * side;
    }
  }
  return counts;
}

std::vector<double> inverse_document_frequencies(FloatView counts, int64_t num_words) {
  std::vector<double> idf(num_words);
  const auto n = static_cast<double>(counts.rows());
  for (int64_t w = 0; w < num_words; ++w) {
    int64_t images = 0;
    for (int64_t i = 0; i < counts.rows(); ++i) images += counts(i, w) > 0;
    idf[w] = std::log((1 + n) / (1 + static_cast<double>(images)));
  }
  return idf;
}

void finish_words(std::span<float> counts, std::span<const double> idf,
                  const WordOptions& options) {
  const int levels = options.pyramid_levels;
  const auto num_words = static_cast<int64_t>(counts.size()) / num_pyramid_cells(levels);
  MILIEU_ASSERT(idf.empty() || static_cast<int64_t>(idf.size()) == num_words);
  for (int level = 0; level < levels; ++level) {
    const double weight = std::exp2(level == 0 ? 1 - levels : level - levels);
    for (int64_t i = num_pyramid_cells(level) * num_words;
         i < num_pyramid_cells(level + 1) * num_words; ++i)
      counts[i] = static_cast<float>(counts[i] * weight * (idf.empty() ? 1 : idf[i % num_words]));
  }
  if (options.norm == WordNorm::None) return;
  const double norm = norm_of(counts, options.norm);
  if (norm > 0)
    for (float& value : counts) value = static_cast<float>(value / norm);
}

}  // namespace milieu
