// SPDX-License-Identifier: Apache-2.0
// What --auto compares.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/icc/icc_choose_internal.h"

namespace milieu::internal {

namespace {

constexpr int kSmallSize = 5;
constexpr int kRefineRounds = 5;
constexpr int kMixtureDims = 12;
constexpr int kMostSplitDims = 50;  // of the classifier on sub-classes

struct SplitAxes {
  IccProjection projection;
  std::string components;
  std::string text;  // ", pca axes 1,3"
};

// The axes of the options, or with search_axes all pairs among the first three of both kinds, as
// far as they exist.
std::vector<SplitAxes> split_axes(const IccClassifierInput& input,
                                  const IccClassifierOptions& base) {
  if (!base.search_axes) return {{base.icc.projection, base.icc.components, ""}};
  const int64_t columns = std::min(input.points.rows(), input.points.cols());
  const int num_classes = 1 + *std::ranges::max_element(input.classes);
  std::vector<SplitAxes> all;
  for (const IccProjection projection : {IccProjection::Pca, IccProjection::Lda}) {
    const bool is_pca = projection == IccProjection::Pca;
    const int64_t found = is_pca ? columns : std::min<int64_t>(columns, num_classes - 1);
    for (const char* pair : {"1,2", "1,3", "2,3"})
      if (pair[2] - '0' <= found)
        all.push_back(
            {projection, pair, fmt::format(", {} axes {}", is_pca ? "pca" : "lda", pair)});
  }
  if (all.empty()) all.push_back({base.icc.projection, base.icc.components, ""});
  return all;
}

// How sub-classes are found.
std::vector<Candidate> splits_of(const IccClassifierInput& input,
                                 const IccClassifierOptions& base) {
  std::vector<Candidate> all = {{base, "no split"}};
  all[0].options.split = IccSplit::None;
  if (base.split == IccSplit::None) return all;
  if (base.split == IccSplit::Icc)
    for (const SplitAxes& axes : split_axes(input, base))
      for (const char* bandwidth : {"0.03", "0.05", "0.08", "0.125"})
        for (const IccWeight weight : {IccWeight::Count, IccWeight::Density}) {
          Candidate split{base,
                          fmt::format("icc, bandwidth {}, weight {}{}", bandwidth,
                                      weight == IccWeight::Count ? "count" : "density", axes.text)};
          split.options.icc.bandwidth = bandwidth;
          split.options.icc.weight = weight;
          split.options.icc.projection = axes.projection;
          split.options.icc.components = axes.components;
          all.push_back(std::move(split));
        }
  for (const char* count : {"2", "3", "5", "8", "13"}) {
    Candidate split{base, fmt::format("mixtures, em_count {}", count)};
    split.options.split = IccSplit::Em;
    split.options.em_count = count;
    split.options.icc.climb = IccClimb::Basin;
    split.options.icc.num_dims = static_cast<int>(
        std::min<int64_t>(kMixtureDims, std::min(input.points.cols(), input.points.rows())));
    all.push_back(std::move(split));
  }
  return all;
}

}  // namespace

Candidate whole_classes(const IccClassifierOptions& base, const SpaceChoice& space) {
  Candidate whole{base, {}};
  whole.options.automatic = false;
  whole.options.split = IccSplit::None;
  whole.options.pca_dims = space.num_dims;
  whole.options.reduce_dims = 0;
  whole.options.shrinkage = space.shrinkage;
  const bool is_pooled = space.shrinkage >= kPooled;
  whole.options.reduce = is_pooled ? IccReduce::Lda : IccReduce::None;
  whole.text = is_pooled ? fmt::format("no split, pca {}, pooled covariance", space.num_dims)
                         : fmt::format("no split, pca {}, shrinkage {:.3g}", space.num_dims,
                                       space.shrinkage);
  return whole;
}

std::vector<Candidate> candidates_of(const IccClassifierInput& input,
                                     const IccClassifierOptions& base, int own_dims) {
  const int64_t most =
      std::min({input.points.cols(), input.points.rows(), int64_t{kMostSplitDims}});
  const int few = static_cast<int>(std::min<int64_t>(kMixtureDims, most));
  const int many = static_cast<int>(std::clamp<int64_t>(own_dims, few, most));
  std::vector<Candidate> all;
  for (const Candidate& split : splits_of(input, base)) {
    const auto add = [&](int dims, IccReduce reduce, double shrinkage) {
      all.push_back(split);
      IccClassifierOptions& options = all.back().options;
      options.automatic = false;
      options.pca_dims = dims;
      options.reduce = reduce;
      options.reduce_dims = 0;
      options.shrinkage = shrinkage;
      all.back().text +=
          fmt::format(", {} {}, shrinkage {:.3g}",
                      reduce == IccReduce::Lda ? "lda after pca" : "pca", dims, shrinkage);
    };
    add(static_cast<int>(most), IccReduce::Lda, base.shrinkage);
    add(many, IccReduce::None, base.shrinkage);
    add(many, IccReduce::None, 4 * base.shrinkage);
    if (few < many) add(few, IccReduce::None, base.shrinkage);
  }
  return all;
}

// The winner unchanged, and with smaller sub-classes, moved samples or other shrinkage.
std::vector<Candidate> refinements_of(const Candidate& winner) {
  std::vector<Candidate> all = {winner};
  const auto add = [&](const std::string& text) -> IccClassifierOptions& {
    all.push_back({winner.options, winner.text + text});
    return all.back().options;
  };
  if (winner.options.split == IccSplit::Icc && winner.options.icc.min_size > kSmallSize)
    add(fmt::format(", min_size {}", kSmallSize)).icc.min_size = kSmallSize;
  if (winner.options.split != IccSplit::None)
    add(fmt::format(", refine {}", kRefineRounds)).refine = kRefineRounds;
  for (const double factor : {0.3, 3.0, 10.0})
    if (winner.options.shrinkage > 0)
      add(fmt::format(", shrinkage {:.3g}", factor * winner.options.shrinkage)).shrinkage *= factor;
  return all;
}

}  // namespace milieu::internal
