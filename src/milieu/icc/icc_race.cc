// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/icc/icc_choose_internal.h"
#include "milieu/icc/icc_classifier_internal.h"

namespace milieu::internal {

namespace {

constexpr int64_t kTestedRows = 4000;  // to test before the choice, all rounds together
constexpr int64_t kMaxRounds = 4;
constexpr double kBehind = 2;      // standard errors
constexpr size_t kFirstFolds = 2;  // before anything is dropped

// How often each candidate classified each row right: candidates x rows.
using Tallies = Matrix<double>;

Fold fold_of(const std::vector<int>& folds, int number, std::span<const int> classes) {
  Fold fold;
  std::vector<char> is_seen(*std::ranges::max_element(classes) + size_t{1});
  for (size_t i = 0; i < folds.size(); ++i) {
    (folds[i] == number ? fold.test : fold.train).push_back(static_cast<int64_t>(i));
    if (folds[i] != number) is_seen[classes[i]] = 1;
  }
  if (std::ranges::find(is_seen, 0) != is_seen.end()) fold.test.clear();
  return fold;
}

// Mean lead of one row of tallies over another in standard errors, with samples as the cases.
double lead_in_errors(std::span<const double> first, std::span<const double> second) {
  const auto n = static_cast<double>(first.size());
  double sum = 0, squares = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    const double lead = first[i] - second[i];
    sum += lead;
    squares += lead * lead;
  }
  const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
  if (variance == 0) return sum == 0 ? 0 : std::copysign(1e9, sum);
  return sum / n / std::sqrt(variance / n);
}

// The leader of the candidates that still race; those clearly behind it are dropped.
size_t drop_losers(const Tallies& tallies, std::vector<char>& is_racing, bool may_drop) {
  size_t leader = 0;
  double most = -1;
  for (size_t c = 0; c < is_racing.size(); ++c) {
    const auto row = tallies.row_span(static_cast<int64_t>(c));
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    if (!is_racing[c] || total <= most) continue;
    most = total;
    leader = c;
  }
  const auto best = tallies.row_span(static_cast<int64_t>(leader));
  for (size_t c = 0; c < is_racing.size() && may_drop; ++c)
    if (is_racing[c] && lead_in_errors(best, tallies.row_span(static_cast<int64_t>(c))) > kBehind)
      is_racing[c] = 0;
  return leader;
}

}  // namespace

std::vector<Fold> folds_of(const IccClassifierInput& input, int num_folds, Random& random) {
  const std::vector<int> numbers = make_folds(input.classes, input.groups, num_folds, random);
  std::vector<Fold> folds;
  for (int f = 0; f < num_folds; ++f)
    if (Fold fold = fold_of(numbers, f, input.classes); !fold.test.empty())
      folds.push_back(std::move(fold));
  return folds;
}

Race race(const IccClassifierInput& input, const IccClassifierOptions& options,
          size_t num_candidates, const TestFold& test, Monitor& monitor) {
  const int64_t n = input.points.rows();
  const int64_t rounds = std::clamp<int64_t>((kTestedRows + n - 1) / n, 1, kMaxRounds);
  Tallies tallies(static_cast<int64_t>(num_candidates), n);
  std::vector<char> is_racing(num_candidates, 1);
  Random random = Random(options.icc.seed).child(1);
  Race result;
  int64_t num_tested = 0;
  for (int64_t round = 0; round < rounds && !monitor.should_stop(); ++round) {
    const std::vector<Fold> folds = folds_of(input, options.folds, random);
    for (size_t f = 0; f < folds.size() && !monitor.should_stop(); ++f) {
      const Fold& fold = folds[f];
      monitor.on_progress("cross-validation", round * options.folds + static_cast<int64_t>(f),
                          rounds * options.folds);
      test(fold, is_racing, [&](size_t candidate, std::span<const int> predicted) {
        for (size_t r = 0; r < fold.test.size(); ++r)
          tallies(static_cast<int64_t>(candidate), fold.test[r]) +=
              predicted[r] == input.classes[fold.test[r]];
      });
      if (monitor.should_stop()) break;
      num_tested += static_cast<int64_t>(fold.test.size());
      result.winner = drop_losers(tallies, is_racing, round > 0 || f + 1 >= kFirstFolds);
    }
  }
  const auto right = tallies.row_span(static_cast<int64_t>(result.winner));
  result.right.assign(right.begin(), right.end());
  result.accuracy = std::accumulate(right.begin(), right.end(), 0.0) /
                    std::max(1.0, static_cast<double>(num_tested));
  result.is_complete = !monitor.should_stop();
  return result;
}

double lead_of(const Race& first, const Race& second) {
  return lead_in_errors(second.right, first.right);
}

}  // namespace milieu::internal
