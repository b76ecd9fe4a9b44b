// SPDX-License-Identifier: Apache-2.0
// One whole DLGMM iteration on a mapped file; bench/speed/dlgmm.py --mapped makes the file and
// watches the memory.
//
//   milieu_dlgmm_mapped_bench FILE WORDS CLUSTERS PER_IMAGE THREADS
//
// FILE is a float32 .npy whose first WORDS rows are patches of different words, PER_IMAGE rows per
// image. The iteration is that of a fit: the data pass, the update of the words, theta and zeta of
// all images (structured), the update of the clusters. Prints one JSON object with seconds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm_steps.h"  // private: times a pass by itself

namespace {

using namespace milieu;
using namespace milieu::internal;

DlgmmModel make_model(FloatView patches, int num_words, int num_clusters) {
  DlgmmModel model;
  model.words = Matrix<double>(num_words, patches.cols());
  std::copy_n(patches.data(), model.words.size(), model.words.data());
  model.word_variances = Matrix<double>(1, 1);
  model.word_variances(0, 0) = 2;  // about a word that is itself a patch of variance 1
  model.weights.assign(num_clusters, 1.0 / num_clusters);
  model.means = Matrix<double>(num_clusters, num_words);
  model.covariances = Matrix<double>(num_clusters, num_words);
  Random random(1);
  for (int64_t i = 0; i < model.means.size(); ++i) {
    model.means.data()[i] = random.normal();
    model.covariances.data()[i] = random.uniform(0.5, 1.5);
  }
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Points file = to_points(open_npy(argv[1]));
  const int words = std::atoi(argv[2]), clusters = std::atoi(argv[3]), threads = std::atoi(argv[5]);
  const int64_t per_image = std::atoll(argv[4]);
  DlgmmModel model = make_model(file.view(), words, clusters);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < file.rows(); i += per_image) offsets.push_back(i);
  offsets.push_back(file.rows());
  DlgmmImages images;
  images.patches = file.view(), images.offsets = offsets;
  const ImageTable table = make_image_table(images, 1, 0);
  Matrix<double> alpha(table.num_images, words), zeta(table.num_images, clusters);
  std::fill_n(zeta.data(), zeta.size(), 1.0 / clusters);
  const Stopwatch pass_watch;
  const PassResult result =
      *run_data_pass(table, model, alpha, {.num_threads = threads}, silent_monitor());
  update_words(result.stats, 1e-6, model);
  const double pass = pass_watch.seconds();
  const Stopwatch layer_watch;
  update_clusters(
      *update_images(table, model, result.counts, zeta, alpha, threads, silent_monitor()), 1e-2,
      model);
  const double layer = layer_watch.seconds();
  const double words_per_patch =
      static_cast<double>(result.stats.num_scored) / static_cast<double>(result.stats.num_patches);
  fmt::print(
      "{{\"patches\": {}, \"images\": {}, \"pass\": {}, \"clusters\": {}, \"words_per_patch\": "
      "{}}}\n",
      file.rows(), table.num_images, pass, layer, words_per_patch);
  return 0;
}
