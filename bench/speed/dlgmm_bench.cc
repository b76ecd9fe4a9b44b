// SPDX-License-Identifier: Apache-2.0
// Times the parts of one DLGMM iteration; bench/speed/dlgmm.py runs it.
//
//   milieu_dlgmm_bench IMAGES PATCHES WORDS DIMENSIONS CLUSTERS THREADS REPETITIONS [FILE]
//
// IMAGES images of PATCHES patches each, drawn about WORDS words; with FILE, a .npy of patches, its
// first rows about a k-means codebook of them (DIMENSIONS then is that of the file). Prints one
// JSON object with seconds by the clock: the data pass with the update of the words, the
// theta-steps (mean field and structured), and a 4096^3 product of linalg/gemm on as many threads,
// all in turns, the median of each; `flops` is what the pass does if both of its products are made
// in full. `cpu_seconds` is the least time that all threads of a pass have worked: other programs
// on the machine change it little.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm_steps.h"  // private: times single steps
#include "milieu/linalg/gemm.h"

namespace {

using namespace milieu;
using namespace milieu::internal;

double timed(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Words so near to each other that about five of 150 must be scored for a patch, as with SIFT:
// their distance is that of a spread of 0.6 in 128 dimensions, in any number of them.
double spread_for(int dim) { return 0.6 * std::sqrt(128.0 / dim); }

struct Problem {
  Matrix<float> patches;
  std::vector<int64_t> offsets;
  DlgmmModel model;
};

Problem make_problem(int64_t num_images, int64_t per_image, int num_words, int dim, int clusters) {
  Random random(1);
  Problem p;
  p.model.words = Matrix<double>(num_words, dim);
  for (double& x : std::span(p.model.words.data(), p.model.words.size()))
    x = spread_for(dim) * random.normal();
  p.model.word_variances = Matrix<double>(1, 1);
  p.model.word_variances(0, 0) = 1;
  p.patches = Matrix<float>(num_images * per_image, dim);
  p.offsets.push_back(0);
  for (int64_t i = 0; i < p.patches.rows(); ++i) {
    const int64_t v = random.uniform_index(num_words);
    for (int r = 0; r < dim; ++r)
      p.patches(i, r) = static_cast<float>(p.model.words(v, r) + random.normal());
    if ((i + 1) % per_image == 0) p.offsets.push_back(i + 1);
  }
  p.model.weights.assign(clusters, 1.0 / clusters);
  p.model.means = Matrix<double>(clusters, num_words);
  p.model.covariances = Matrix<double>(clusters, num_words);
  for (int64_t i = 0; i < p.model.means.size(); ++i) {
    p.model.means.data()[i] = random.normal();
    p.model.covariances.data()[i] = random.uniform(0.5, 1.5);
  }
  return p;
}

// Real patches in place of drawn ones: a k-means codebook and the variance about it.
void take_patches(const std::string& path, Problem& p) {
  const Points file = to_points(open_npy(path));
  const int64_t count = std::min(p.patches.rows(), file.rows());
  p.patches = Matrix<float>(file.view().rows_between(0, count));
  KMeansOptions options;
  options.num_clusters = static_cast<int>(p.model.words.rows());
  options.num_restarts = 1, options.max_iterations = 10;
  const KMeansResult found = fit_kmeans({p.patches.view(), {}, {}}, options);
  p.model.words = Matrix<double>(found.model.centers.rows(), found.model.centers.cols());
  std::copy_n(found.model.centers.data(), p.model.words.size(), p.model.words.data());
  p.model.word_variances(0, 0) = found.summary.objective / static_cast<double>(p.patches.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8 && argc != 9) return 2;
  const int64_t num_images = std::atoll(argv[1]), per_image = std::atoll(argv[2]);
  const int words = std::atoi(argv[3]), dim = std::atoi(argv[4]), clusters = std::atoi(argv[5]);
  const int threads = std::atoi(argv[6]), repetitions = std::atoi(argv[7]);
  Problem p = make_problem(num_images, per_image, words, dim, clusters);
  if (argc == 9) take_patches(argv[8], p);
  DlgmmImages images;
  images.patches = p.patches, images.offsets = p.offsets;
  const ImageTable table = make_image_table(images, 1, 0);
  Matrix<double> alpha(num_images, words), zeta(num_images, clusters);
  constexpr int64_t kSide = 4096;
  const Matrix<float> a(kSide, kSide), b(kSide, kSide);
  Matrix<float> out(kSide, kSide);
  std::vector<double> pass, structured, mean_field, product;
  double words_per_patch = 0, least_cpu = INFINITY;
  Matrix<double> counts;
  for (int i = 0; i < repetitions; ++i) {
    product.push_back(timed([&] {
      parallel_for(kSide, kSide / threads, threads, [&](const Block& rows) {
        gemm(1, a.view().rows_between(rows.begin, rows.end), b, 0,
             out.view().rows_between(rows.begin, rows.end));
      });
    }));
    std::fill_n(alpha.data(), alpha.size(), 0.0);
    DlgmmModel updated = p.model;
    const double cpu_begin = cpu_seconds();
    pass.push_back(timed([&] {
      PassResult result =
          *run_data_pass(table, p.model, alpha, {.num_threads = threads}, silent_monitor());
      words_per_patch = static_cast<double>(result.stats.num_scored) /
                        static_cast<double>(result.stats.num_patches);
      counts = std::move(result.counts);
      update_words(result.stats, 1e-6, updated);
    }));
    least_cpu = std::min(least_cpu, cpu_seconds() - cpu_begin);
    for (const DlgmmPosterior posterior : {DlgmmPosterior::MeanField, DlgmmPosterior::Structured}) {
      p.model.posterior = posterior;
      std::fill_n(zeta.data(), zeta.size(), 1.0 / clusters);
      (posterior == DlgmmPosterior::Structured ? structured : mean_field).push_back(timed([&] {
        update_images(table, p.model, counts, zeta, alpha, threads, silent_monitor());
      }));
    }
  }
  const double flops =
      4.0 * static_cast<double>(p.patches.rows()) * words * static_cast<double>(p.patches.cols());
  const double peak = 2.0 * std::pow(static_cast<double>(kSide), 3) / median(product);
  fmt::print(
      "{{\"seconds\": {}, \"mean_field\": {}, \"structured\": {}, \"peak_gflops\": {}, "
      "\"pass_gflops\": {}, \"share_of_peak\": {}, "
      "\"one_product_share\": {}, \"words_per_patch\": {}, \"cpu_seconds\": {}}}\n",
      median(pass), median(mean_field), median(structured), peak / 1e9, flops / median(pass) / 1e9,
      flops / median(pass) / peak, 0.5 * flops / median(pass) / peak, words_per_patch, least_cpu);
  return 0;
}
