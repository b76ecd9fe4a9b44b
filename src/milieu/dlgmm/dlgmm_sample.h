// SPDX-License-Identifier: Apache-2.0
// The generative process of DLGMM and SC-DLGMM [Xie15]: images drawn from a model, for recovery
// checks, for planning how many images and patches a question needs, and as data made for everyone.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// A model with random clusters and words.
struct DlgmmMakeOptions {
  int num_clusters = 4;    // J, equally frequent
  int num_words = 12;      // V
  int num_dims = 8;        // R
  int num_bands = 1;       // G
  double spread = 1;       // standard deviation of the clusters' means of theta
  double deviation = 0.6;  // of theta within a cluster
  double separation = 4;   // of the words; a patch deviates by 0.7 to 1.2 from its word
  double gamma = 0;        // of the random field
  bool diagonal_neighbors = false;
  uint64_t seed = 1;
};

template <class Visitor>
void visit_fields(DlgmmMakeOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("clusters").alias("k"),
    "clusters of images, equally frequent");
  v("num_words", o.num_words, at_least(1).alias("words"), "visual words");
  v("num_dims", o.num_dims, at_least(1).alias("dims"), "numbers per patch");
  v("num_bands", o.num_bands, between(1, 64).alias("bands"),
    "horizontal bands of an image, each with separate word frequencies");
  v("spread", o.spread, at_least(0),
    "standard deviation of the log frequencies of words between clusters");
  v("deviation", o.deviation, above(0), "the same within a cluster");
  v("separation", o.separation, at_least(0),
    "standard deviation of the words; patches deviate by about 1 from their word");
  v("gamma", o.gamma, between(0, 1000), "reward for equal words of neighbouring patches");
  v("diagonal_neighbors", o.diagonal_neighbors, anything(),
    "for gamma: count diagonal neighbours too, 8 on the grid instead of 4");
}

// A model to draw from: all means and words are normal, variances of words uniform in [0.5, 1.5].
DlgmmModel make_dlgmm_model(const DlgmmMakeOptions& options);

struct DlgmmSampleOptions {
  int num_images = 200;
  int grid_rows = 8, grid_columns = 8;  // patches of every image
  int num_sweeps = 100;                 // of Gibbs sampling, where gamma is above 0
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(DlgmmSampleOptions& o, Visitor&& v) {
  v("num_images", o.num_images, at_least(1).alias("images"), "images to draw");
  v("grid_rows", o.grid_rows, between(1, 10000), "rows of patches in an image");
  v("grid_columns", o.grid_columns, between(1, 10000), "columns of patches in an image");
  v("num_sweeps", o.num_sweeps, at_least(1).alias("sweeps").advanced(),
    "Gibbs sweeps over every image, for gamma > 0");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct DlgmmSample {
  Matrix<float> patches;         // images * grid_rows * grid_columns x R
  std::vector<int64_t> offsets;  // images + 1
  Matrix<int32_t> grid;          // images x 2
  std::vector<int> labels;       // images: the cluster, eta
  Matrix<double> theta;          // images x (G V)
  std::vector<int> words;        // patches: z

  DlgmmImages images() const { return {patches.view(), offsets, grid.view(), {}}; }
};

// Images by the generative process: a cluster from pi, theta from its normal distribution, words
// from softmax(theta) [Xie15, Eq. 1] (with gamma above 0 from the random field [Xie15, Eq. 11], by
// Gibbs sampling that begins without it), descriptors from the words' normal distributions. Model
// beta widens those; kappa, which only discounts evidence, has no part in it. Throws
// InvalidArgument for options out of range, DataError for a model with inconsistent arrays. A
// stopped call returns the images drawn so far.
DlgmmSample sample_dlgmm(const DlgmmModel& model, const DlgmmSampleOptions& options,
                         Monitor& monitor = silent_monitor());

}  // namespace milieu
