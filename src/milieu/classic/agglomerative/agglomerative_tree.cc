// SPDX-License-Identifier: Apache-2.0
// The tree of merges: building it from the merges and cutting it.
#include <algorithm>
#include <numeric>

#include "milieu/base/assert.h"
#include "milieu/classic/agglomerative/agglomerative_steps.h"

namespace milieu::internal {
namespace {

// Which set a sample is in; sets are joined, the root of the first argument stays.
class DisjointSets {
 public:
  explicit DisjointSets(int64_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), 0); }

  int find(int i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(int stays, int goes) { parents_[find(goes)] = find(stays); }

 private:
  std::vector<int> parents_;
};

}  // namespace

Matrix<double> build_tree(std::vector<Merge> merges, int64_t n) {
  // A child is never above its parent and comes before it, so a stable order keeps it before.
  std::stable_sort(merges.begin(), merges.end(),
                   [](const Merge& a, const Merge& b) { return a.height < b.height; });
  Matrix<double> tree(static_cast<int64_t>(merges.size()), 4);
  DisjointSets sets(n);
  std::vector<int64_t> number(n);  // of the cluster whose root is this sample
  std::iota(number.begin(), number.end(), 0);
  std::vector<int64_t> size(n, 1);
  for (int64_t i = 0; i < tree.rows(); ++i) {
    const int kept = sets.find(merges[i].kept);
    const int dropped = sets.find(merges[i].dropped);
    const auto [low, high] = std::minmax(number[kept], number[dropped]);
    tree(i, 0) = static_cast<double>(low);
    tree(i, 1) = static_cast<double>(high);
    tree(i, 2) = merges[i].height;
    size[kept] += size[dropped];
    tree(i, 3) = static_cast<double>(size[kept]);
    sets.join(kept, dropped);
    number[kept] = n + i;
  }
  return tree;
}

std::vector<int> labels_after(DoubleView tree, int64_t n, int64_t num_merges) {
  MILIEU_ASSERT(num_merges <= tree.rows());
  DisjointSets sets(n);
  std::vector<int> member(n + num_merges);  // a sample of each cluster
  std::iota(member.begin(), member.begin() + n, 0);
  for (int64_t i = 0; i < num_merges; ++i) {
    const int a = member[static_cast<int64_t>(tree(i, 0))];
    sets.join(a, member[static_cast<int64_t>(tree(i, 1))]);
    member[n + i] = a;
  }
  std::vector<int> label_from_root(n, -1);
  std::vector<int> labels(n);
  int num_labels = 0;
  for (int64_t i = 0; i < n; ++i) {
    int& label = label_from_root[sets.find(static_cast<int>(i))];
    if (label < 0) label = num_labels++;
    labels[i] = label;
  }
  return labels;
}

int64_t merges_up_to(DoubleView tree, double height) {
  int64_t count = 0;
  while (count < tree.rows() && tree(count, 2) <= height) ++count;
  return count;
}

}  // namespace milieu::internal
