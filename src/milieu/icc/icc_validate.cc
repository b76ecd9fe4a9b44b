// SPDX-License-Identifier: Apache-2.0
// Cross-validation on the training set: folds, candidates, the choice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/icc/icc_classifier_internal.h"

namespace milieu {

namespace {

constexpr int kSmallSize = 5;
constexpr int kRefineRounds = 5;
constexpr int64_t kTestedRows = 4000;  // to test before the choice, all rounds together
constexpr int64_t kMaxRounds = 4;
constexpr double kBehind = 2;

struct Candidate {
  IccClassifierOptions options;
  std::string text;
};

using Stage = std::vector<Candidate>(const Candidate& winner);

struct Axes {
  IccProjection projection;
  std::string components;
  std::string text;  // ", pca axes 1,3"
};

// The axes of the options, or with search_axes all pairs among the first three of both kinds, as
// far as they exist.
std::vector<Axes> axes_of(const IccClassifierInput& input, const IccClassifierOptions& base) {
  if (!base.search_axes) return {{base.icc.projection, base.icc.components, ""}};
  const int64_t columns = std::min(input.points.rows(), input.points.cols());
  const int num_classes = 1 + *std::ranges::max_element(input.classes);
  std::vector<Axes> all;
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

// "No split" first: ties go to the simplest.
std::vector<Candidate> candidates_of(const IccClassifierInput& input,
                                     const IccClassifierOptions& base) {
  std::vector<Candidate> candidates;
  const auto add = [&](const std::string& text, const Axes& axes) -> IccClassifierOptions& {
    candidates.push_back({base, text + axes.text});
    IccClassifierOptions& options = candidates.back().options;
    options.automatic = false;
    options.icc.projection = axes.projection;
    options.icc.components = axes.components;
    return options;
  };
  add("no split", {base.icc.projection, base.icc.components, ""}).split = IccSplit::None;
  for (const Axes& axes : axes_of(input, base)) {
    if (base.split == IccSplit::Em) {
      for (const char* count : {"2", "3", "5", "8", "13"})
        add(fmt::format("em_count {}", count), axes).em_count = count;
    } else if (base.split == IccSplit::Icc) {
      for (const char* bandwidth : {"0.03", "0.04", "0.05", "0.06", "0.08", "0.1", "0.125"})
        for (const IccWeight weight : {IccWeight::Count, IccWeight::Density}) {
          IccClassifierOptions& options =
              add(fmt::format("bandwidth {}, weight {}", bandwidth,
                              weight == IccWeight::Count ? "count" : "density"),
                  axes);
          options.icc.bandwidth = bandwidth;
          options.icc.weight = weight;
        }
    }
  }
  return candidates;
}

}  // namespace

namespace internal {

std::vector<int> make_folds(std::span<const int> classes, std::span<const int> groups,
                            int num_folds, Random& random) {
  std::vector<int> folds(classes.size());
  if (!groups.empty()) {
    std::map<int, std::vector<size_t>> members;  // by group number
    for (size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(i);
    std::vector<int> names;
    for (const auto& [name, rows] : members) names.push_back(name);
    random.shuffle(std::span<int>(names));
    for (size_t g = 0; g < names.size(); ++g)
      for (const size_t row : members[names[g]]) folds[row] = static_cast<int>(g % num_folds);
    return folds;
  }
  std::vector<size_t> order(classes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span<size_t>(order));
  std::ranges::stable_sort(order, {}, [&](size_t i) { return classes[i]; });
  for (size_t place = 0; place < order.size(); ++place)
    folds[order[place]] = static_cast<int>(place % num_folds);
  return folds;
}

bool split_rows(FloatView points, std::span<const int> classes, std::span<const int> groups,
                const std::vector<char>& is_test, TrainTest& parts) {
  const auto num_test = std::ranges::count(is_test, 1);
  parts.test = Matrix<float>(num_test, points.cols());
  parts.train = Matrix<float>(points.rows() - num_test, points.cols());
  parts.train_classes.clear();
  parts.test_classes.clear();
  parts.train_groups.clear();
  int64_t test = 0, train = 0;
  for (int64_t i = 0; i < points.rows(); ++i) {
    std::copy_n(points.row(i), points.cols(),
                is_test[i] ? parts.test.row(test++) : parts.train.row(train++));
    (is_test[i] ? parts.test_classes : parts.train_classes).push_back(classes[i]);
    if (!is_test[i] && !groups.empty()) parts.train_groups.push_back(groups[i]);
  }
  const int num_classes = *std::ranges::max_element(classes) + 1;
  std::vector<char> is_seen(num_classes, 0);
  for (const int c : parts.train_classes) is_seen[c] = 1;
  return num_test > 0 && std::ranges::find(is_seen, 0) == is_seen.end();
}

}  // namespace internal

namespace {

// How often each candidate classified each row right: candidates x rows.
using Tallies = Matrix<double>;

// One cross-validation of the remaining candidates, all on the same folds. Returns
// how many rows were tested. A stopped monitor leaves the rest unchanged.
int64_t validate_once(const IccClassifierInput& input, const IccClassifierOptions& options,
                      const std::vector<Candidate>& candidates, const std::vector<char>& is_racing,
                      Random& random, Tallies& tallies, Monitor& monitor) {
  using namespace internal;
  const std::vector<int> folds = make_folds(input.classes, input.groups, options.folds, random);
  TrainTest parts;
  int64_t num_tested = 0;
  for (int fold = 0; fold < options.folds; ++fold) {
    std::vector<char> is_test(folds.size());
    std::vector<int64_t> rows;
    for (size_t i = 0; i < folds.size(); ++i) {
      is_test[i] = folds[i] == fold;
      if (is_test[i]) rows.push_back(static_cast<int64_t>(i));
    }
    if (!split_rows(input.points, input.classes, {}, is_test, parts)) continue;
    num_tested += static_cast<int64_t>(rows.size());
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (!is_racing[c]) continue;
      monitor.on_progress("cross-validation", static_cast<int64_t>(fold * candidates.size() + c),
                          static_cast<int64_t>(options.folds * candidates.size()));
      if (monitor.should_stop()) return num_tested;
      const IccClassifierInput train{parts.train, parts.train_classes};
      const IccClassifierModel model = fit_on_subclasses(
          train, find_subclasses(train, candidates[c].options, monitor), candidates[c].options);
      const std::vector<int> predicted = predict(model, parts.test, options.icc.num_threads);
      for (size_t r = 0; r < rows.size(); ++r)
        tallies(static_cast<int64_t>(c), rows[r]) += predicted[r] == parts.test_classes[r];
    }
  }
  return num_tested;
}

double total_of(const Tallies& tallies, int64_t candidate) {
  const auto row = tallies.row_span(candidate);
  return std::accumulate(row.begin(), row.end(), 0.0);
}

// Candidates that are behind the leader by more than kBehind standard errors of the difference,
// with rows as the samples, are dropped.
void drop_losers(const Tallies& tallies, size_t leader, std::vector<char>& is_racing) {
  const auto n = static_cast<double>(tallies.cols());
  const auto best = tallies.row_span(static_cast<int64_t>(leader));
  for (size_t c = 0; c < is_racing.size(); ++c) {
    if (!is_racing[c]) continue;
    const auto own = tallies.row_span(static_cast<int64_t>(c));
    double sum = 0, squares = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      const double lead = best[i] - own[i];
      sum += lead;
      squares += lead * lead;
    }
    const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
    is_racing[c] = sum / n <= kBehind * std::sqrt(variance / n);
  }
}

struct Winner {
  size_t place = 0;
  double accuracy = 0;
};

// The best candidate. Few rows are cross-validated again on other folds, so that the choice depends
// less on chance; clearly worse candidates are dropped. Ties go to the first.
Winner race(const IccClassifierInput& input, const IccClassifierOptions& options,
            const std::vector<Candidate>& candidates, Monitor& monitor) {
  const int64_t n = input.points.rows();
  const int64_t rounds = std::clamp<int64_t>((kTestedRows + n - 1) / n, 1, kMaxRounds);
  Tallies tallies(static_cast<int64_t>(candidates.size()), n);
  std::vector<char> is_racing(candidates.size(), 1);
  Random random = Random(options.icc.seed).child(1);
  Winner winner;
  int64_t num_tested = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    num_tested += validate_once(input, options, candidates, is_racing, random, tallies, monitor);
    double most = -1;
    for (size_t c = 0; c < candidates.size(); ++c) {
      const double total = total_of(tallies, static_cast<int64_t>(c));
      if (!is_racing[c] || total <= most) continue;
      most = total;
      winner = {c, total / std::max(1.0, static_cast<double>(num_tested))};
    }
    if (monitor.should_stop()) break;
    drop_losers(tallies, winner.place, is_racing);
    if (std::ranges::count(is_racing, 1) == 1) break;
  }
  return winner;
}

// The best candidate unchanged, and with smaller sub-classes, moved samples, or both.
std::vector<Candidate> refinements_of(const Candidate& winner) {
  std::vector<Candidate> all = {winner};
  if (winner.options.split == IccSplit::None) return all;
  const bool has_smaller =
      winner.options.split == IccSplit::Icc && winner.options.icc.min_size > kSmallSize;
  for (const bool is_smaller : {false, true})
    for (const bool is_refined : {false, true}) {
      if ((is_smaller && !has_smaller) || (!is_smaller && !is_refined)) continue;
      Candidate candidate = winner;
      if (is_smaller) {
        candidate.options.icc.min_size = kSmallSize;
        candidate.text += fmt::format(", min_size {}", kSmallSize);
      }
      if (is_refined) {
        candidate.options.refine = kRefineRounds;
        candidate.text += fmt::format(", refine {}", kRefineRounds);
      }
      all.push_back(std::move(candidate));
    }
  return all;
}

// The best candidate unchanged, and with covariances shrunk less and more to the pooled one.
std::vector<Candidate> shrinkages_of(const Candidate& winner) {
  std::vector<Candidate> all = {winner};
  for (const double factor : {0.3, 3.0, 10.0}) {
    Candidate candidate = winner;
    candidate.options.shrinkage *= factor;
    candidate.text += fmt::format(", shrinkage {:.3g}", candidate.options.shrinkage);
    if (winner.options.shrinkage > 0) all.push_back(std::move(candidate));
  }
  return all;
}

}  // namespace

IccClassifierChoice choose_icc_options(const IccClassifierInput& input,
                                       const IccClassifierOptions& options, Monitor& monitor) {
  IccClassifierChoice choice;
  std::vector<Candidate> candidates = candidates_of(input, options);
  for (const auto next_stage : {&refinements_of, &shrinkages_of, static_cast<Stage*>(nullptr)}) {
    if (candidates.size() > 1 || choice.text.empty()) {
      const Winner winner = race(input, options, candidates, monitor);
      choice = {candidates[winner.place].options, candidates[winner.place].text, winner.accuracy};
      candidates = {candidates[winner.place]};
    }
    if (next_stage) candidates = next_stage(candidates.front());
  }
  choice.is_complete = !monitor.should_stop();
  return choice;
}

}  // namespace milieu
