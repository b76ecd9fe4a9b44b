// SPDX-License-Identifier: Apache-2.0
// Hand cases, conventions and invariances of compute_metrics. The comparison with scikit-learn is
// in sklearn_test.cc.
#include "milieu/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ints = std::vector<int>;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "not refused";
}

Ints random_labels(Random& random, int n, int k) {
  Ints labels(n);
  for (int& label : labels) label = static_cast<int>(random.uniform_index(k));
  return labels;
}

void expect_all_equal(const Metrics& a, const Metrics& b, double tolerance) {
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.num_clusters, b.num_clusters);
  EXPECT_EQ(a.num_classes, b.num_classes);
  EXPECT_DOUBLE_EQ(a.accuracy, b.accuracy);
  EXPECT_DOUBLE_EQ(a.error, b.error);
  EXPECT_NEAR(a.balanced_error, b.balanced_error, tolerance);
  EXPECT_NEAR(a.nmi, b.nmi, tolerance);
  EXPECT_NEAR(a.nmi_sqrt, b.nmi_sqrt, tolerance);
  EXPECT_NEAR(a.nmi_max, b.nmi_max, tolerance);
  EXPECT_NEAR(a.ari, b.ari, tolerance);
  EXPECT_NEAR(a.f, b.f, tolerance);
  EXPECT_DOUBLE_EQ(a.f_pairwise, b.f_pairwise);
  EXPECT_DOUBLE_EQ(a.precision_pairwise, b.precision_pairwise);
  EXPECT_DOUBLE_EQ(a.recall_pairwise, b.recall_pairwise);
  EXPECT_DOUBLE_EQ(a.purity, b.purity);
}

void expect_perfect(const Metrics& m) {
  EXPECT_EQ(m.accuracy, 1);
  EXPECT_EQ(m.error, 0);
  EXPECT_EQ(m.balanced_error, 0);
  EXPECT_EQ(m.nmi, 1);
  EXPECT_EQ(m.nmi_sqrt, 1);
  EXPECT_EQ(m.nmi_max, 1);
  EXPECT_EQ(m.ari, 1);
  EXPECT_EQ(m.f, 1);
  EXPECT_EQ(m.f_pairwise, 1);
  EXPECT_EQ(m.precision_pairwise, 1);
  EXPECT_EQ(m.recall_pairwise, 1);
  EXPECT_EQ(m.purity, 1);
}

// Cluster 0 holds classes 0 0 0 1, cluster 1 holds 1 1: the table is (3 1; 0 2).
TEST(Metrics, HandCaseOfSixSamples) {
  const Metrics m = compute_metrics(Ints{0, 0, 0, 0, 1, 1}, Ints{0, 0, 0, 1, 1, 1});
  EXPECT_EQ(m.n, 6);
  EXPECT_EQ(m.num_clusters, 2);
  EXPECT_EQ(m.num_classes, 2);
  EXPECT_DOUBLE_EQ(m.accuracy, 5.0 / 6);
  EXPECT_DOUBLE_EQ(m.error, 1.0 / 6);
  EXPECT_DOUBLE_EQ(m.balanced_error, (0 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(m.purity, 5.0 / 6);
  // Pairs: 6 + 1 together, 3 + 3 of one class, 3 + 1 both.
  EXPECT_DOUBLE_EQ(m.precision_pairwise, 4.0 / 7);
  EXPECT_DOUBLE_EQ(m.recall_pairwise, 4.0 / 6);
  EXPECT_DOUBLE_EQ(m.f_pairwise, 8.0 / 13);
  // (4 - 7 * 6 / 15) / ((7 + 6) / 2 - 7 * 6 / 15) = 1.2 / 3.7.
  EXPECT_NEAR(m.ari, 12.0 / 37, 1e-15);
  // Best F of class 0: 2*3/(4+3) with cluster 0; of class 1: 2*2/(2+3) with cluster 1.
  EXPECT_DOUBLE_EQ(m.f, (6.0 / 7 + 4.0 / 5) / 2);
  const double information = 3.0 / 6 * std::log(3.0 * 6 / (4 * 3)) +
                             1.0 / 6 * std::log(1.0 * 6 / (4 * 3)) +
                             2.0 / 6 * std::log(2.0 * 6 / (2 * 3));
  const double clusters = std::log(3.0) - 2.0 / 3 * std::log(2.0);  // shares 2/3 and 1/3
  const double classes = std::log(2.0);
  EXPECT_NEAR(m.nmi, 2 * information / (clusters + classes), 1e-15);
  EXPECT_NEAR(m.nmi_sqrt, information / std::sqrt(clusters * classes), 1e-15);
  EXPECT_NEAR(m.nmi_max, information / classes, 1e-15);
  EXPECT_THAT(m.sizes, ElementsAre(4, 2));
  EXPECT_THAT(m.class_from_cluster, ElementsAre(0, 1));
}

TEST(Metrics, RenamedClustersArePerfect) {
  expect_perfect(compute_metrics(Ints{2, 2, 0, 0, 1, 1, 1}, Ints{0, 0, 1, 1, 2, 2, 2}));
}

TEST(Metrics, OneClusterAndOneClassIsPerfect) {
  expect_perfect(compute_metrics(Ints{0, 0, 0}, Ints{4, 4, 4}));
  expect_perfect(compute_metrics(Ints{0}, Ints{0}));
}

TEST(Metrics, SingletonsOnBothSidesArePerfect) {
  expect_perfect(compute_metrics(Ints{0, 1, 2}, Ints{5, 3, 4}));
}

TEST(Metrics, OneClusterOfTwoClassesHasNoInformation) {
  const Metrics m = compute_metrics(Ints{0, 0, 0, 0}, Ints{0, 0, 0, 1});
  EXPECT_EQ(m.accuracy, 0.75);
  EXPECT_EQ(m.balanced_error, 0.5);
  EXPECT_EQ(m.nmi, 0);
  EXPECT_EQ(m.nmi_sqrt, 0);
  EXPECT_EQ(m.nmi_max, 0);
  EXPECT_EQ(m.ari, 0);
  EXPECT_EQ(m.purity, 0.75);
  EXPECT_EQ(m.precision_pairwise, 0.5);
  EXPECT_EQ(m.recall_pairwise, 1);
}

TEST(Metrics, SingletonClustersPutNoPairTogether) {
  const Metrics m = compute_metrics(Ints{0, 1, 2, 3}, Ints{0, 0, 1, 1});
  EXPECT_EQ(m.precision_pairwise, 0);
  EXPECT_EQ(m.recall_pairwise, 0);
  EXPECT_EQ(m.f_pairwise, 0);
  EXPECT_EQ(m.ari, 0);
  EXPECT_EQ(m.purity, 1);
  EXPECT_EQ(m.accuracy, 0.5);
}

TEST(Metrics, SingletonClassesHaveNoPairToFind) {
  const Metrics m = compute_metrics(Ints{0, 0, 1, 1}, Ints{0, 1, 2, 3});
  EXPECT_EQ(m.precision_pairwise, 0);
  EXPECT_EQ(m.recall_pairwise, 0);
  EXPECT_EQ(m.f_pairwise, 0);
}

TEST(Metrics, IndependentPartitionsShareNoInformation) {
  // Every cluster holds every class equally often: n_ij n = a_i b_j for all cells.
  Ints labels, truth;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int copy = 0; copy < 7; ++copy) {
        labels.push_back(i);
        truth.push_back(j);
      }
  const Metrics m = compute_metrics(labels, truth);
  EXPECT_EQ(m.nmi, 0);
  EXPECT_LT(m.ari, 0);  // a little worse than chance
}

TEST(Metrics, MoreClustersThanClassesLeavesClustersUnmatched) {
  const Metrics m = compute_metrics(Ints{0, 0, 1, 2, 2, 2}, Ints{0, 0, 0, 1, 1, 1});
  EXPECT_DOUBLE_EQ(m.accuracy, 5.0 / 6);
  EXPECT_THAT(m.class_from_cluster, ElementsAre(0, -1, 1));
}

TEST(Metrics, FewerClustersThanClassesLeavesClassesWrong) {
  const Metrics m = compute_metrics(Ints{0, 0, 0, 1, 1, 1}, Ints{0, 0, 1, 2, 2, 2});
  EXPECT_DOUBLE_EQ(m.accuracy, 5.0 / 6);
  EXPECT_DOUBLE_EQ(m.balanced_error, 1.0 / 3);
  EXPECT_THAT(m.class_from_cluster, ElementsAre(0, 2));
}

TEST(Metrics, AClusterWithoutSamplesOfItsClassIsUnmatched) {
  // Table (3 1; 1 0): class 1, the only one left to cluster 1, shares no sample with it.
  const Metrics m = compute_metrics(Ints{0, 0, 0, 0, 1}, Ints{0, 0, 0, 1, 0});
  EXPECT_DOUBLE_EQ(m.accuracy, 3.0 / 5);
  EXPECT_THAT(m.class_from_cluster, ElementsAre(0, -1));
}

// Table (2 2): both matchings of the one cluster get 2 of 8 samples right, but class 0 has 2
// samples and class 1 has 6: taking class 0 leaves one class wholly right.
TEST(Metrics, EqualMatchingsAreSettledByBalancedError) {
  const Metrics m = compute_metrics(Ints{0, 0, 0, 0, -1, -1, -1, -1}, Ints{0, 0, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(m.accuracy, 0.25);
  EXPECT_EQ(m.balanced_error, 0.5);
  EXPECT_THAT(m.class_from_cluster, ElementsAre(0));
  const Metrics swapped =
      compute_metrics(Ints{0, 0, 0, 0, -1, -1, -1, -1}, Ints{1, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(swapped.balanced_error, 0.5);
  EXPECT_THAT(swapped.class_from_cluster, ElementsAre(1));
}

// Table (6 2; 3 0): the plain error matches cluster 0 to class 0 (6 of 11 right), which leaves
// every sample of class 1 wrong; the other matching has the mean error (6/9 + 0) / 2.
TEST(Metrics, BalancedErrorOfTwoPartsIsAtMostAHalf_issue26) {
  const Metrics m =
      compute_metrics(Ints{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}, Ints{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(m.accuracy, 6.0 / 11);
  EXPECT_DOUBLE_EQ(m.balanced_error, (6.0 / 9) / 2);
}

TEST(Metrics, SamplesWithoutTruthAreLeftOut) {
  const Metrics with = compute_metrics(Ints{0, 7, 0, 1, 1, -1}, Ints{0, -1, 0, 0, 1, -1});
  const Metrics without = compute_metrics(Ints{0, 0, 1, 1}, Ints{0, 0, 0, 1});
  expect_all_equal(with, without, 0);
  EXPECT_EQ(with.sizes, without.sizes);
  EXPECT_EQ(with.n, 4);
}

TEST(Metrics, SamplesWithoutAClusterAreWrong) {
  // Two right, one wrong by its cluster, two without a cluster.
  const Metrics m = compute_metrics(Ints{0, 0, 1, -1, -1}, Ints{0, 0, 0, 1, 1});
  EXPECT_EQ(m.num_clusters, 2);
  EXPECT_DOUBLE_EQ(m.accuracy, 2.0 / 5);
  EXPECT_DOUBLE_EQ(m.error, 3.0 / 5);
  EXPECT_DOUBLE_EQ(m.balanced_error, (1.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(m.purity, 3.0 / 5);
  EXPECT_DOUBLE_EQ(m.f, 3.0 / 5 * (2 * 2.0 / 5));  // nothing can be matched to class 1
  EXPECT_DOUBLE_EQ(m.precision_pairwise, 1);       // the pair of cluster 0
  EXPECT_DOUBLE_EQ(m.recall_pairwise, 1.0 / 4);
  EXPECT_THAT(m.sizes, ElementsAre(2, 1));
}

TEST(Metrics, SamplesWithoutAClusterAreOneMorePartOfNmiAndAri) {
  const Metrics none = compute_metrics(Ints{0, 0, 1, -1, -1, -1}, Ints{0, 0, 0, 1, 1, 2});
  const Metrics named = compute_metrics(Ints{0, 0, 1, 2, 2, 2}, Ints{0, 0, 0, 1, 1, 2});
  EXPECT_EQ(none.nmi, named.nmi);
  EXPECT_EQ(none.nmi_sqrt, named.nmi_sqrt);
  EXPECT_EQ(none.nmi_max, named.nmi_max);
  EXPECT_EQ(none.ari, named.ari);
  EXPECT_LT(none.accuracy, named.accuracy);
}

TEST(Metrics, NoClusterAtAllIsWrongEverywhere) {
  const Metrics m = compute_metrics(Ints{-1, -1, -1}, Ints{0, 0, 1});
  EXPECT_EQ(m.num_clusters, 0);
  EXPECT_EQ(m.accuracy, 0);
  EXPECT_EQ(m.error, 1);
  EXPECT_EQ(m.balanced_error, 1);
  EXPECT_EQ(m.nmi, 0);
  EXPECT_EQ(m.ari, 0);
  EXPECT_EQ(m.f, 0);
  EXPECT_EQ(m.f_pairwise, 0);
  EXPECT_EQ(m.purity, 0);
  EXPECT_THAT(m.sizes, IsEmpty());
}

TEST(Metrics, LargeSparseLabelsAreCompacted) {
  constexpr int kLargest = std::numeric_limits<int>::max();
  const Metrics m = compute_metrics(Ints{kLargest, kLargest, 1'000'000'000, 5, -1},
                                    Ints{kLargest, kLargest, 77, 77, kLargest});
  EXPECT_EQ(m.num_clusters, 3);
  EXPECT_DOUBLE_EQ(m.accuracy, 3.0 / 5);
  EXPECT_THAT(m.sizes, IsEmpty());
  EXPECT_THAT(m.class_from_cluster, IsEmpty());
  const Metrics small = compute_metrics(Ints{2, 2, 1, 0, -1}, Ints{1, 1, 0, 0, 1});
  expect_all_equal(m, small, 0);
}

TEST(Metrics, LabelsWithGapsEqualLabelsWithout) {
  const Metrics gaps = compute_metrics(Ints{4, 4, 1, 1, 1}, Ints{0, 9, 9, 9, 0});
  expect_all_equal(gaps, compute_metrics(Ints{1, 1, 0, 0, 0}, Ints{0, 1, 1, 1, 0}), 0);
  EXPECT_THAT(gaps.sizes, ElementsAre(0, 3, 0, 0, 2));
  EXPECT_THAT(gaps.class_from_cluster, ElementsAre(-1, 9, -1, -1, 0));
}

TEST(Metrics, NoFigureDependsOnNamesOrOrder) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const int n = 4 + round % 20;
    const Ints labels = random_labels(random, n, 4);
    const Ints truth = random_labels(random, n, 3);
    const std::vector<int64_t> label_names = random.sample_without_replacement(4, 4);
    const std::vector<int64_t> class_names = random.sample_without_replacement(3, 3);
    const std::vector<int64_t> order = random.sample_without_replacement(n, n);
    Ints new_labels(n), new_truth(n);
    for (int i = 0; i < n; ++i) {
      new_labels[i] = static_cast<int>(label_names[labels[order[i]]]);
      new_truth[i] = static_cast<int>(class_names[truth[order[i]]]);
    }
    expect_all_equal(compute_metrics(labels, truth), compute_metrics(new_labels, new_truth), 1e-14);
  }
}

TEST(Metrics, SymmetricFiguresAreSymmetric) {
  Random random(4);
  for (int round = 0; round < 50; ++round) {
    const Ints labels = random_labels(random, 60, 5);
    const Ints truth = random_labels(random, 60, 3);
    const Metrics m = compute_metrics(labels, truth);
    const Metrics t = compute_metrics(truth, labels);
    EXPECT_EQ(m.accuracy, t.accuracy);
    EXPECT_NEAR(m.nmi, t.nmi, 1e-14);
    EXPECT_NEAR(m.ari, t.ari, 1e-14);
    EXPECT_EQ(m.precision_pairwise, t.recall_pairwise);
    EXPECT_EQ(m.f_pairwise, t.f_pairwise);
  }
}

// B-cubed from its definition, sample by sample.
TEST(Metrics, BCubedIsTheMeanOverSamples) {
  const Ints labels = {0, 0, 0, 1, 1, 2, -1, -1, 5};
  const Ints truth = {0, 0, 1, 1, 1, 2, 2, 0, -1};
  double precision = 0, recall = 0;
  for (int p = 0; p < 8; ++p) {
    double cluster = 0, of_class = 0, both = 0;
    for (int q = 0; q < 8; ++q) {
      const bool together = p == q || (labels[p] >= 0 && labels[p] == labels[q]);
      cluster += together;
      of_class += truth[p] == truth[q];
      both += together && truth[p] == truth[q];
    }
    precision += both / cluster / 8;
    recall += both / of_class / 8;
  }
  const Metrics m = compute_metrics(labels, truth);
  EXPECT_NEAR(m.precision_bcubed, precision, 1e-12);
  EXPECT_NEAR(m.recall_bcubed, recall, 1e-12);
  EXPECT_NEAR(m.f_bcubed, 2 * precision * recall / (precision + recall), 1e-12);
}

// Ten million samples: products of pair counts are about 10^27, beyond 64 bits.
TEST(Metrics, TenMillionSamplesKeepPairCountsExact) {
  constexpr int kHalf = 5'000'000;
  Ints labels(2 * kHalf), truth(2 * kHalf);
  for (int i = 0; i < 2 * kHalf; ++i) labels[i] = truth[i] = i < kHalf ? 0 : 1;
  EXPECT_EQ(compute_metrics(labels, truth).ari, 1);
  // Move one sample: together = C(h-1,2) + C(h+1,2), both = together - h, of one class 2 C(h,2).
  labels[0] = 1;
  const Metrics m = compute_metrics(labels, truth);
  const double h = kHalf;
  const double together = h * h - h + 1;
  const double same_class = h * (h - 1);
  const double both = together - h;
  EXPECT_DOUBLE_EQ(m.precision_pairwise, both / together);
  EXPECT_DOUBLE_EQ(m.recall_pairwise, both / same_class);
  const double expected = together * same_class / (h * (2 * h - 1));
  EXPECT_NEAR(m.ari, (both - expected) / ((together + same_class) / 2 - expected), 1e-13);
  EXPECT_LT(m.ari, 1);
}

TEST(Metrics, DifferentLengthsAreRefusedWithBothNumbers) {
  EXPECT_EQ(refusal([] { compute_metrics(Ints(7), Ints(9)); }),
            "labels has 7 entries, truth has 9: they must match");
}

TEST(Metrics, EmptyInputIsRefused) {
  EXPECT_EQ(refusal([] { compute_metrics({}, {}); }),
            "truth has 0 entries, none of them a class: there is nothing to compare");
  EXPECT_EQ(refusal([] {
              compute_metrics(Ints{0, 1}, Ints{-1, -1});
            }),
            "truth has 2 entries, none of them a class: there is nothing to compare");
}

TEST(Metrics, ValuesBelowMinusOneAreRefused) {
  EXPECT_EQ(refusal([] {
              compute_metrics(Ints{0, -2}, Ints{0, 0});
            }),
            "labels[1] is -2, must be -1 (none) or at least 0");
  EXPECT_EQ(refusal([] {
              compute_metrics(Ints{0, 0}, Ints{-5, 0});
            }),
            "truth[0] is -5, must be -1 (none) or at least 0");
}

// Case G5 of the DLGMM note.
TEST(Metrics, GoldenCaseOfDlgmm) {
  const std::vector<int> truth = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2};
  const std::vector<int> labels = {1, 1, 0, 1, 0, 0, 0, 2, 2, 0};
  const Metrics metrics = compute_metrics(labels, truth);
  EXPECT_NEAR(metrics.accuracy, .8, 1e-6);
  EXPECT_NEAR(metrics.nmi_max, .563656, 1e-6);
  EXPECT_NEAR(metrics.nmi_sqrt, .579646, 1e-6);
  const Metrics one = compute_metrics(std::vector<int>(10, 0), truth);
  EXPECT_NEAR(one.accuracy, .4, 1e-6);
  EXPECT_EQ(one.nmi_max, 0);
}

TEST(Metrics, TooManyCellsAreRefused) {
  Ints labels(20'000), truth(20'000);
  for (int i = 0; i < 20'000; ++i) labels[i] = truth[i] = i;
  EXPECT_EQ(refusal([&] { compute_metrics(labels, truth); }),
            "20000 clusters x 20000 classes is more than 100000000 cells: too many to match");
}

TEST(ContingencyTable, CountsClustersByClasses) {
  EXPECT_THAT(contingency_table(Ints{0, 0, 1, 1, 1}, 2, Ints{0, 2, 1, 1, 0}, 3),
              ElementsAre(1, 0, 1, 1, 2, 0));
}

TEST(ContingencyTable, ValuesOutsideAreRefused) {
  EXPECT_EQ(refusal([] {
              contingency_table(Ints{0, 2}, 2, Ints{0, 0}, 1);
            }),
            "labels[1] is 2, must lie in [0, 2)");
  EXPECT_EQ(refusal([] { contingency_table(Ints{0}, 1, Ints{-1}, 1); }),
            "truth[0] is -1, must lie in [0, 1)");
  EXPECT_EQ(refusal([] {
              contingency_table(Ints{0}, 1, Ints{0, 0}, 1);
            }),
            "labels has 1 entry, truth has 2: they must match");
}

}  // namespace
}  // namespace milieu
