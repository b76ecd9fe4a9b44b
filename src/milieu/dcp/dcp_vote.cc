// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_vote.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

constexpr int kMaxRounds = 20;

void check(std::span<const std::vector<int>> splits, int num_parts) {
  require(!splits.empty(), "there are no splits to vote: give at least one");
  for (const std::vector<int>& split : splits) {
    require(split.size() == splits[0].size(), [&] {
      return fmt::format("one split has {} labels, another has {}: they must match",
                         splits[0].size(), split.size());
    });
    for (const int label : split)
      require(label >= 0 && label < num_parts, [&] {
        return fmt::format("a split has the label {}, must be from 0 to {}", label, num_parts - 1);
      });
  }
}

// `split` with its parts numbered as in `reference` where they share the most samples.
std::vector<int> renumbered(const std::vector<int>& split, const std::vector<int>& reference,
                            int num_parts) {
  const std::vector<int> part = maximum_assignment(
      contingency_table(split, num_parts, reference, num_parts), num_parts, num_parts);
  std::vector<int> labels(split.size());
  for (size_t i = 0; i < split.size(); ++i) labels[i] = part[split[i]];
  return labels;
}

// Elects a part for every sample.
DcpVote count_votes(const std::vector<std::vector<int>>& splits, int num_parts) {
  const size_t n = splits[0].size();
  const double share = 1.0 / static_cast<double>(splits.size());
  DcpVote vote;
  std::vector<int> votes(num_parts);
  for (size_t i = 0; i < n; ++i) {
    std::ranges::fill(votes, 0);
    for (const std::vector<int>& split : splits) ++votes[split[i]];
    const int most = *std::ranges::max_element(votes);
    const int first = splits[0][i];
    const int elected = votes[first] == most
                            ? first
                            : static_cast<int>(std::ranges::find(votes, most) - votes.begin());
    votes[elected] = 0;
    vote.labels.push_back(elected);
    vote.agreement.push_back(most * share);
    vote.margins.push_back(static_cast<float>((most - *std::ranges::max_element(votes)) * share));
  }
  return vote;
}

}  // namespace

DcpVote vote_on_parts(std::span<const std::vector<int>> splits, int num_parts) {
  check(splits, num_parts);
  std::vector<std::vector<int>> aligned(splits.begin(), splits.end());
  DcpVote vote;
  std::vector<int> reference = splits[0];
  for (int round = 0; round < kMaxRounds; ++round) {
    for (std::vector<int>& split : aligned) split = renumbered(split, reference, num_parts);
    vote = count_votes(aligned, num_parts);
    if (vote.labels == reference) break;
    reference = vote.labels;
  }
  for (const std::vector<int>& split : aligned) {
    int64_t same = 0;
    for (size_t i = 0; i < split.size(); ++i) same += split[i] == vote.labels[i] ? 1 : 0;
    vote.split_share.push_back(static_cast<double>(same) /
                               static_cast<double>(std::max<size_t>(split.size(), 1)));
  }
  return vote;
}

}  // namespace milieu
