// SPDX-License-Identifier: Apache-2.0
// Phrases by shares: k-means on the evidence of groups (cac_evidence.cc), or on features alone.
//
// Guard    neighbours in many noisy columns are often of another class, and then blur what k-means
//          on the features finds. With neighbours in the views these two are compared by the share
//          of neighbours that are in another phrase; rounds must lower it by a tenth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/memory.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac_evidence_internal.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::internal {
namespace {

constexpr int kViewRounds = 3;      // neighbours in the views
constexpr int kSpatialRounds = 10;  // neighbours in space: regions are larger than groups
constexpr double kMinGain = 0.1;    // of rounds over features alone, in neighbours of other phrases

bool is_alone(const ContextGroups& groups) {
  return static_cast<int64_t>(groups.members.size()) == groups.num_groups();
}

// The share of the `limit` nearest neighbours that have another phrase than the sample whose group
// they are in.
double share_apart(const ContextGroups& groups, std::span<const int> labels, int64_t limit) {
  int64_t apart = 0, pairs = 0;
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    const auto members = groups.members_of(g);  // the sample, then from near to far
    for (size_t m = 1; m < members.size() && static_cast<int64_t>(m) <= limit; ++m, ++pairs)
      apart += labels[members[m]] != labels[g];
  }
  return pairs > 0 ? static_cast<double>(apart) / static_cast<double>(pairs) : 0;
}

// Total variance of columns [first, last).
double variance_of(const Matrix<float>& rows, int64_t first, int64_t last) {
  double variance = 0;
  const auto n = static_cast<double>(rows.rows());
  std::vector<double> sums(static_cast<size_t>(last - first)), squares(sums.size());
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t t = first; t < last; ++t) sums[t - first] += rows(i, t);
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t t = first; t < last; ++t) {
      const double difference = rows(i, t) - sums[t - first] / n;
      squares[t - first] += difference * difference;
    }
  for (const double square : squares) variance += square / n;
  return variance;
}

double factor_of(const Matrix<float>& rows, int64_t first, int64_t last) {
  const double variance = variance_of(rows, first, last);
  return variance > 0 ? 1 / std::sqrt(variance) : 1;
}

KMeansResult cluster(FloatView points, int num_clusters, int num_restarts, uint64_t seed,
                     int num_threads, Monitor& monitor) {
  KMeansOptions options;
  options.num_clusters = num_clusters;
  options.num_restarts = num_restarts;
  options.seed = seed;
  options.num_threads = num_threads;
  KMeansInput input;
  input.points = points;
  return fit_kmeans(input, options, monitor);
}

bool is_complete(std::span<const int> labels) {
  return std::find(labels.begin(), labels.end(), -1) == labels.end();
}

std::vector<FloatView> points_of(const CacProblem& problem) {
  std::vector<FloatView> views;
  for (const CacView& view : problem.views) views.push_back(view.points());
  return views;
}

std::vector<double> scales_of(const CacProblem& problem) {
  std::vector<double> scales;
  for (const CacView& view : problem.views) scales.push_back(view.scale);
  return scales;
}

// Fine words of every view by k-means; false when stopped.
bool find_lexicon(const CacProblem& problem, const CacOptions& options, Monitor& monitor,
                  CacEvidence& evidence) {
  int64_t widest = 0, total = 0;
  std::vector<Matrix<float>> words;
  const Random random = Random(options.seed).child(kLexiconStream);
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const FloatView points = problem.views[v].points();
    const auto count = static_cast<int>(std::min<int64_t>(options.lexicon, points.rows()));
    KMeansResult found =
        cluster(points, count, 1, random.child(v).next_bits() >> 1, options.num_threads, monitor);
    if (!is_complete(found.labels) || monitor.should_stop()) return false;
    widest = std::max(widest, points.cols());
    total += count;
    evidence.lexicon_words.push_back(count);
    words.push_back(std::move(found.model.centers));
  }
  evidence.lexicon = Matrix<float>(total, widest);
  int64_t first = 0;
  for (const Matrix<float>& view : words) {
    for (int64_t m = 0; m < view.rows(); ++m)
      std::copy_n(view.row(m), view.cols(), evidence.lexicon.row(first + m));
    first += view.rows();
  }
  return true;
}

int64_t problem_width(const CacProblem& problem) {
  int64_t d = 0;
  for (const CacView& view : problem.views) d += view.points().cols();
  return d;
}

void require_memory_for(const CacProblem& problem, const CacOptions& options) {
  const double columns = static_cast<double>(problem_width(problem)) +
                         static_cast<double>(problem.views.size()) * options.lexicon;
  // Samples before and after a round, and groups.
  const auto rows =
      static_cast<double>(2 * problem.views[0].size() + problem.evidence.num_groups());
  require_memory({4.0 * rows * columns,
                  fmt::format("the evidence of {} groups", problem.evidence.num_groups()),
                  "use a smaller lexicon, fewer samples, or --phrase-model counts"});
}

// Phrases after this many rounds; nothing when stopped.
std::optional<SharedPhrases> find_phrases_in(const CacProblem& problem, const CacOptions& options,
                                             int rounds, Monitor& monitor) {
  SharedPhrases found;
  CacEvidence& evidence = found.evidence;
  evidence.weights = {1, 1, static_cast<double>(rounds)};
  for (const CacView& view : problem.views)
    evidence.means.insert(evidence.means.end(), view.problem.mean.begin(), view.problem.mean.end());
  if (rounds > 0 && !find_lexicon(problem, options, monitor, evidence)) return std::nullopt;
  Matrix<float> rows = gather_evidence(evidence, points_of(problem), scales_of(problem),
                                       problem.evidence, options.num_threads, monitor);
  if (rows.empty()) return std::nullopt;
  const int64_t words = evidence.lexicon.rows();
  if (rounds > 0) {
    evidence.weights[0] = factor_of(rows, 0, words);
    evidence.weights[1] = factor_of(rows, words, rows.cols());
    scale_columns(rows, 0, words, evidence.word_factor());
    scale_columns(rows, words, rows.cols(), evidence.feature_factor());
  }
  KMeansResult phrases = cluster(rows, problem.num_phrases, options.num_restarts, options.seed,
                                 options.num_threads, monitor);
  if (!is_complete(phrases.labels) || monitor.should_stop()) return std::nullopt;
  found.labels = std::move(phrases.labels);
  evidence.phrases = std::move(phrases.model.centers);
  return found;
}

}  // namespace

bool finds_phrases_by_shares(const CacProblem& problem, const CacInput& input,
                             const CacOptions& options) {
  if (options.phrase_model == CacPhraseModel::Counts || !input.initial_words.empty()) return false;
  if (input.views.size() == 1 && input.positions.rows() == 0) return false;
  return options.phrase_model == CacPhraseModel::Shares || !can_refine(problem);
}

std::optional<SharedPhrases> find_phrases_by_shares(const CacProblem& problem,
                                                    const CacOptions& options, Monitor& monitor) {
  require_memory_for(problem, options);
  Monitor quiet = monitor;  // stops with it but reports nothing
  if (is_alone(problem.evidence) || options.rounds == 0)
    return find_phrases_in(problem, options, 0, quiet);
  const int own_rounds = problem.is_spatial ? kSpatialRounds : kViewRounds;
  auto found =
      find_phrases_in(problem, options, options.rounds > 0 ? options.rounds : own_rounds, quiet);
  if (!found || options.rounds > 0 || problem.view_neighbors == 0) return found;
  auto alone = find_phrases_in(problem, options, 0, quiet);
  if (!alone) return std::nullopt;
  // Small phrases cannot hold all neighbours of a sample.
  const int64_t limit =
      std::max<int64_t>(1, problem.views[0].size() / (2 * int64_t{problem.num_phrases}));
  const double apart = share_apart(problem.evidence, found->labels, limit);
  const double apart_alone = share_apart(problem.evidence, alone->labels, limit);
  if (apart <= (1 - kMinGain) * apart_alone) return found;
  alone->is_without_neighbours = apart != apart_alone;  // equal: they agree
  return alone;
}

std::optional<SharedPhrases> fix_phrases(CacProblem& problem, const CacOptions& options,
                                         Monitor& monitor) {
  if (!problem.is_by_shares()) return std::nullopt;
  auto found = find_phrases_by_shares(problem, options, monitor);
  if (found) problem.fixed_phrases = phrases_of_problem(problem, found->labels);
  return found;
}

std::vector<int> phrases_of_problem(const CacProblem& problem, std::vector<int> labels) {
  const int64_t n = problem.views[0].size();
  std::vector<double> votes(static_cast<size_t>(problem.num_phrases));
  for (auto g = std::ssize(labels); g < problem.groups.num_groups(); ++g) {
    std::fill(votes.begin(), votes.end(), 0.0);
    for (const int p : problem.groups.members_of(g)) ++votes[labels[p % n]];
    labels.push_back(
        static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin()));
  }
  return labels;
}

}  // namespace milieu::internal
