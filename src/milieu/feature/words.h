// SPDX-License-Identifier: Apache-2.0
// Bags of words: how often each entry of a codebook is the nearest one to the local descriptors of
// an image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/linalg/pca.h"

namespace MILIEU_API milieu {

enum class WordWeight { Count, TfIdf };
enum class WordNorm { None, L1, L2 };

// How local descriptors become one vector per image.
struct WordOptions {
  int num_words = 200;   // size of the codebook; larger: finer words, sparser histograms
  std::string codebook;  // a codebook computed elsewhere: .npy, or a run folder; "": learned here
  int64_t num_samples = 100'000;  // descriptors, from at most 400 images, the codebook comes from
  int pca = 0;  // descriptors are reduced to this many dimensions first; 0: not at all
  WordWeight weight = WordWeight::Count;
  WordNorm norm = WordNorm::L1;
  int pyramid_levels = 1;  // spatial pyramid: level l cuts the image into 2^l x 2^l cells
  uint64_t seed = 1;       // of the codebook
};

template <class Visitor>
void visit_fields(WordOptions& o, Visitor&& v) {
  v("num_words", o.num_words, between(1, 1'000'000).alias("words"), "size of the codebook");
  v("codebook", o.codebook, anything(),
    "codebook to use instead of learning one: a .npy with one word per row, or a run folder");
  v("num_samples", o.num_samples, between(1, 1e9),
    "number of descriptors the codebook is learned from");
  v("pca", o.pca, between(0, 65536),
    "reduce descriptors to this many dimensions first; 0: do not reduce");
  v("weight", o.weight,
    one_of<WordWeight>({{"count", WordWeight::Count}, {"tf-idf", WordWeight::TfIdf}}),
    "weight of a word: tf-idf lowers words that occur in every image");
  v("norm", o.norm,
    one_of<WordNorm>({{"none", WordNorm::None}, {"l1", WordNorm::L1}, {"l2", WordNorm::L2}}),
    "scaling of the histogram");
  v("pyramid_levels", o.pyramid_levels, between(1, 6).alias("pyramid"),
    "levels of the spatial pyramid; 1 is the whole image only");
  v("seed", o.seed, at_least(0), "random seed of the codebook");
}

// What turns descriptors into words; learned once, then the same for every image.
struct Vocabulary {
  Pca pca;            // components empty: none
  KMeansModel words;  // one per row

  int64_t size() const { return words.centers.rows(); }
};

// Learns a vocabulary from descriptors, rows of `sample`. At most as many words as there are rows.
// Throws InvalidArgument when there are none or pca is larger than their length.
Vocabulary learn_vocabulary(FloatView sample, const WordOptions& options, int num_threads = 0,
                            Monitor& monitor = silent_monitor());

// The descriptors in the space of the words: reduced by the vocabulary's pca, if it has one.
Matrix<float> reduce(const Vocabulary& vocabulary, Matrix<float> descriptors);

// Cells of all levels of a pyramid together: 1, 5, 21, ...
int64_t num_pyramid_cells(int levels);

// Raw counts, cell after cell: the whole image first, then the quarters row by row, and so on.
// `descriptors` are already reduced; frames lie in a width x height image.
std::vector<float> count_words(const Vocabulary& vocabulary, FloatView descriptors,
                               FloatView frames, int width, int height, int pyramid_levels);

// log((1 + n) / (1 + images with the word)) of every word, from the counts of n images (the
// first cell counts).
std::vector<double> inverse_document_frequencies(FloatView counts, int64_t num_words);

// Counts to the final vector, in place: times idf (may be empty), times the weight of the pyramid's
// level (1/2^(L-1) for level 0, 1/2^(L-l) above) [Lazebnik06], then scaled to norm 1.
void finish_words(std::span<float> counts, std::span<const double> idf, const WordOptions& options);

}  // namespace milieu
