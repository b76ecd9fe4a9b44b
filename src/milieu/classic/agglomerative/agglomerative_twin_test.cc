// SPDX-License-Identifier: Apache-2.0
// Agglomerative clustering against a naive O(n^3) twin that measures every pair of clusters by the
// definition of the linkage, and against SciPy where it is installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/synthetic.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::Message;

constexpr Linkage kLinkages[] = {Linkage::Ward, Linkage::Average, Linkage::Complete,
                                 Linkage::Single};

AgglomerativeResult fit(FloatView points, Linkage linkage) {
  AgglomerativeOptions options;
  options.linkage = linkage;
  options.num_clusters = 1;
  return fit_agglomerative({points}, options);
}

double distance(FloatView points, int a, int b) {
  double sum = 0;
  for (int64_t j = 0; j < points.cols(); ++j)
    sum += std::pow(static_cast<double>(points(a, j)) - points(b, j), 2);
  return std::sqrt(sum);
}

using Cluster = std::vector<int>;

double ward_distance(FloatView points, const Cluster& a, const Cluster& b) {
  double sum = 0;
  for (int64_t j = 0; j < points.cols(); ++j) {
    double mean_a = 0;
    double mean_b = 0;
    for (const int i : a) mean_a += points(i, j) / static_cast<double>(a.size());
    for (const int i : b) mean_b += points(i, j) / static_cast<double>(b.size());
    sum += (mean_a - mean_b) * (mean_a - mean_b);
  }
  const auto size_a = static_cast<double>(a.size());
  const auto size_b = static_cast<double>(b.size());
  return std::sqrt(2 * size_a * size_b / (size_a + size_b) * sum);
}

// By the definition: all pairs of samples.
double cluster_distance(FloatView points, const Cluster& a, const Cluster& b, Linkage linkage) {
  if (linkage == Linkage::Ward) return ward_distance(points, a, b);
  double sum = 0;
  double least = INFINITY;
  double most = 0;
  for (const int i : a)
    for (const int j : b) {
      const double d = distance(points, i, j);
      sum += d;
      least = std::min(least, d);
      most = std::max(most, d);
    }
  if (linkage == Linkage::Average) return sum / static_cast<double>(a.size() * b.size());
  return linkage == Linkage::Single ? least : most;
}

struct TwinStep {
  double height;
  std::vector<int> labels;  // after the merge, by first occurrence
};

std::vector<int> labels_of(const std::vector<Cluster>& clusters, int64_t n) {
  std::vector<int> cluster_from_sample(n);
  for (size_t c = 0; c < clusters.size(); ++c)
    for (const int i : clusters[c]) cluster_from_sample[i] = static_cast<int>(c);
  std::vector<int> label_from_cluster(clusters.size(), -1);
  int next = 0;
  std::vector<int> labels;
  for (const int c : cluster_from_sample) {
    if (label_from_cluster[c] < 0) label_from_cluster[c] = next++;
    labels.push_back(label_from_cluster[c]);
  }
  return labels;
}

std::vector<TwinStep> naive_twin(FloatView points, Linkage linkage) {
  std::vector<Cluster> clusters;
  for (int i = 0; i < points.rows(); ++i) clusters.push_back({i});
  std::vector<TwinStep> steps;
  while (clusters.size() > 1) {
    size_t best_a = 0;
    size_t best_b = 1;
    double best = INFINITY;
    for (size_t a = 0; a < clusters.size(); ++a)
      for (size_t b = a + 1; b < clusters.size(); ++b) {
        const double d = cluster_distance(points, clusters[a], clusters[b], linkage);
        if (d < best) best = d, best_a = a, best_b = b;
      }
    clusters[best_a].insert(clusters[best_a].end(), clusters[best_b].begin(),
                            clusters[best_b].end());
    clusters.erase(clusters.begin() + static_cast<int64_t>(best_b));
    steps.push_back({best, labels_of(clusters, points.rows())});
  }
  return steps;
}

TEST(AgglomerativeTwin, TreeEqualsTheNaiveTwin) {
  for (const Linkage linkage : kLinkages)
    for (const int64_t d : {2, 20}) {
      SCOPED_TRACE(Message() << "linkage " << static_cast<int>(linkage) << ", d " << d);
      const Matrix<float> points = normal_points(60, d, 17 + d);
      const AgglomerativeResult result = fit(points, linkage);
      const std::vector<TwinStep> twin = naive_twin(points, linkage);
      ASSERT_EQ(result.model.tree.rows(), 59);
      for (int i = 0; i < 59; ++i) {
        ASSERT_NEAR(result.model.tree(i, 2), twin[i].height, 2e-6 * twin[i].height);
        ASSERT_EQ(cut_into(result.model, 59 - i), twin[i].labels);
      }
    }
}

// Every sample is nearest to the first and stays nearest to the cluster that grows from it: rounds
// would join one pair each, so chains take over.
TEST(AgglomerativeTwin, ChainsOfAStarEqualTheNaiveTwin) {
  constexpr int kSamples = 61;
  Matrix<float> points(kSamples, kSamples - 1);
  for (int i = 1; i < kSamples; ++i) points(i, i - 1) = 1.0f + 0.001f * static_cast<float>(i);
  const AgglomerativeResult result = fit(points, Linkage::Ward);
  const std::vector<TwinStep> twin = naive_twin(points, Linkage::Ward);
  for (int i = 0; i + 1 < kSamples; ++i) {
    ASSERT_NEAR(result.model.tree(i, 2), twin[i].height, 1e-7 * twin[i].height);
    ASSERT_EQ(cut_into(result.model, kSamples - 1 - i), twin[i].labels);
  }
}

// Runs SciPy on the points and returns the heights of its linkage matrix, nothing without SciPy.
std::vector<double> scipy_heights(FloatView points, const char* method) {
  std::ostringstream csv;
  csv.precision(9);
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      csv << points(i, j) << (j + 1 < points.cols() ? ',' : '\n');
  const TempDir folder;
  const std::string input = folder.write("points.csv", csv.str());
  const std::string script =
      folder.write("heights.py",
                   "import sys, numpy, scipy.cluster.hierarchy as h\n"
                   "x = numpy.loadtxt(sys.argv[1], delimiter=',', ndmin=2)\n"
                   "for height in h.linkage(x, sys.argv[2])[:, 2]: print(repr(float(height)))\n");
  const std::string command =
      "/usr/bin/python3 " + script + " " + input + " " + method + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::vector<double> heights;
  double height = 0;
  while (pipe != nullptr && std::fscanf(pipe, "%lf", &height) == 1) heights.push_back(height);
  if (pipe != nullptr) pclose(pipe);
  return heights;
}

TEST(AgglomerativeTwin, HeightsEqualSciPy) {
  const Matrix<float> points = normal_points(300, 5, 5);
  const char* names[] = {"ward", "average", "complete", "single"};
  for (int l = 0; l < 4; ++l) {
    const std::vector<double> expected = scipy_heights(points, names[l]);
    if (expected.empty()) GTEST_SKIP() << "SciPy is not installed for /usr/bin/python3";
    const AgglomerativeResult result = fit(points, kLinkages[l]);
    ASSERT_EQ(expected.size(), 299u);
    for (int i = 0; i < 299; ++i)
      ASSERT_NEAR(result.model.tree(i, 2), expected[i], 5e-6 * expected[i]) << names[l];
  }
}

TEST(AgglomerativeTwin, WardOfManySamplesEqualsSciPy) {
  const LabelledPoints blobs =
      make_blobs({.n = 3000, .d = 12, .num_clusters = 40, .separation = 4});
  const std::vector<double> expected = scipy_heights(blobs.points, "ward");
  if (expected.empty()) GTEST_SKIP() << "SciPy is not installed for /usr/bin/python3";
  const AgglomerativeResult result = fit(blobs.points, Linkage::Ward);
  ASSERT_EQ(expected.size(), 2999u);
  for (int i = 0; i < 2999; ++i)
    ASSERT_NEAR(result.model.tree(i, 2), expected[i], 1e-6 * expected[i]);
}

}  // namespace
}  // namespace milieu
