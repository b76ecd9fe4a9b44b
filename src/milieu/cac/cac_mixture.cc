// SPDX-License-Identifier: Apache-2.0
// A start refined by a mixture model of groups, before labels become hard.
//
// Model    a group has phrase k with probability pi_k; each member then has word m with probability
//          theta_km, and its features are normal around mu_m, with variance s_m in every direction.
//          Groups count as independent, members weigh as in Q.
// Find     parameters of high likelihood by EM, then the likeliest phrase of every group and word
// of
//          every primitive.
// Why      with few members in a group its words say little before phrases are known, and the other
//          way round: hard labels decide too early. Nested EM from here needs no continuation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac_run_internal.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/cac/cac_work_internal.h"
#include "milieu/linalg/distance.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {
namespace {

constexpr int64_t kMaxTerms = int64_t{1} << 22;  // primitives x words x phrases: else too slow
constexpr int64_t kMinGroups = 50;               // fewer determine the parameters poorly
constexpr int kMaxRounds = 100;
constexpr double kRelTolerance = 1e-6;  // of the log-likelihood
constexpr double kSharedVariance =
    0.1;  // fraction of an average word by which variances are shrunk
constexpr double kSmallestShare = 1e-6;     // added to the count of a word in a phrase
constexpr double kSmallestVariance = 1e-6;  // as a fraction of that of all primitives

int index_of_highest(std::span<const float> values) {
  return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
}

class PhraseMixture {
 public:
  PhraseMixture(const CacProblem& problem, const CacState& start);

  double e_step();  // returns the log-likelihood
  void m_step();
  CacState labels() const;

 private:
  struct Sums {
    Matrix<double> shares;  // phrases x words
    Matrix<double> points;  // words x d
    std::vector<double> weights, squares;
  };

  void set_shares(const Matrix<double>& counts);
  void weigh_words_in(const Block& block);
  void weigh_phrases_in(const Block& block);
  void add_primitive(int64_t i, std::vector<double>& votes, Sums& sums);

  const CacProblem& problem_;
  FloatView points_;
  int num_words_, num_phrases_;
  Matrix<float> prototypes_;         // mu
  std::vector<double> variances_;    // s
  Matrix<double> log_shares_;        // log theta
  std::vector<double> log_priors_;   // log pi
  Matrix<double> distances_;         // primitives x words, squared
  Matrix<float> word_shares_;        // (primitive, phrase) x words: of a word, given the phrase
  std::vector<double> member_logs_;  // (primitive, phrase): log-likelihood of the features
  Matrix<float> phrase_shares_;      // groups x phrases
  std::vector<double> group_logs_;   // log-likelihood
  std::vector<int> words_;           // the likeliest
};

PhraseMixture::PhraseMixture(const CacProblem& problem, const CacState& start)
    : problem_(problem),
      points_(problem.views[0].points()),
      num_words_(problem.num_words),
      num_phrases_(problem.num_phrases),
      prototypes_(start.prototypes[0]),
      log_shares_(num_phrases_, num_words_),
      log_priors_(static_cast<size_t>(num_phrases_), -portable_log(num_phrases_)),
      distances_(points_.rows(), num_words_),
      word_shares_(points_.rows() * num_phrases_, num_words_),
      member_logs_(static_cast<size_t>(points_.rows()) * num_phrases_),
      phrase_shares_(problem.groups.num_groups(), num_phrases_),
      group_logs_(static_cast<size_t>(problem.groups.num_groups())),
      words_(start.words) {
  double sum = 0;
  for (int64_t i = 0; i < points_.rows(); ++i)
    sum += squared_distance(points_.row_span(i), prototypes_.view().row_span(words_[i]));
  const double floor = kSmallestVariance * problem.views[0].problem.scatter;
  variances_.assign(static_cast<size_t>(num_words_),
                    std::max(sum, floor) / static_cast<double>(points_.rows() * points_.cols()));
  Matrix<double> counts(num_phrases_, num_words_);
  std::fill_n(counts.data(), counts.size(), 1.0);
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g)
    for (const int p : problem.groups.members_of(g)) ++counts(start.phrases[g], words_[p]);
  set_shares(counts);
}

void PhraseMixture::set_shares(const Matrix<double>& counts) {
  for (int k = 0; k < num_phrases_; ++k) {
    double total = 0;
    for (int m = 0; m < num_words_; ++m) total += counts(k, m) + kSmallestShare;
    for (int m = 0; m < num_words_; ++m)
      log_shares_(k, m) = portable_log((counts(k, m) + kSmallestShare) / total);
  }
}

double PhraseMixture::e_step() {
  parallel_for(points_.rows(), kPrimitiveBlock, problem_.num_threads,
               [&](const Block& block) { weigh_words_in(block); });
  parallel_for(problem_.groups.num_groups(), kGroupBlock, problem_.num_threads,
               [&](const Block& block) { weigh_phrases_in(block); });
  return sum_of(group_logs_, problem_.num_threads);
}

// Words of each primitive given each phrase.
void PhraseMixture::weigh_words_in(const Block& block) {
  const auto d = static_cast<double>(points_.cols());
  std::vector<double> log_density(static_cast<size_t>(num_words_)), norms(log_density.size());
  for (int m = 0; m < num_words_; ++m) norms[m] = 0.5 * d * portable_log(variances_[m]);
  std::vector<double> offsets;
  for (int64_t i = block.begin; i < block.end; ++i) {
    for (int m = 0; m < num_words_; ++m) {
      distances_(i, m) = squared_distance(points_.row_span(i), prototypes_.view().row_span(m));
      log_density[m] = -distances_(i, m) / (2 * variances_[m]) - norms[m];
    }
    offsets.push_back(*std::max_element(log_density.begin(), log_density.end()));
    for (int k = 0; k < num_phrases_; ++k)
      for (int m = 0; m < num_words_; ++m)
        word_shares_(i * num_phrases_ + k, m) =
            static_cast<float>(log_density[m] - offsets.back() + log_shares_(k, m));
  }
  const int64_t first = block.begin * num_phrases_, last = block.end * num_phrases_;
  softmax_rows(word_shares_.view().rows_between(first, last),
               std::span(member_logs_).subspan(first, last - first));
  for (int64_t row = first; row < last; ++row)
    member_logs_[row] += offsets[(row - first) / num_phrases_];
}

void PhraseMixture::weigh_phrases_in(const Block& block) {
  const ContextGroups& groups = problem_.groups;
  std::vector<double> logs(static_cast<size_t>(num_phrases_)), largest, log_sums;
  for (int64_t g = block.begin; g < block.end; ++g) {
    std::copy(log_priors_.begin(), log_priors_.end(), logs.begin());
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e)
      for (int k = 0; k < num_phrases_; ++k)
        logs[k] += groups.member_weight(e) *
                   member_logs_[static_cast<int64_t>(groups.members[e]) * num_phrases_ + k];
    largest.push_back(*std::max_element(logs.begin(), logs.end()));
    for (int k = 0; k < num_phrases_; ++k)
      phrase_shares_(g, k) = static_cast<float>(logs[k] - largest.back());
  }
  log_sums.resize(largest.size());
  softmax_rows(phrase_shares_.view().rows_between(block.begin, block.end), log_sums);
  for (int64_t g = block.begin; g < block.end; ++g)
    group_logs_[g] =
        groups.group_weight(g) * (largest[g - block.begin] + log_sums[g - block.begin]);
}

// A primitive counts in the phrases of its groups.
void PhraseMixture::add_primitive(int64_t i, std::vector<double>& votes, Sums& sums) {
  const ContextGroups& groups_of = problem_.groups_of;
  if (groups_of.size_of(i) == 0) return;
  std::fill(votes.begin(), votes.end(), 0.0);
  for (int64_t e = groups_of.offsets[i]; e < groups_of.offsets[i + 1]; ++e) {
    const int g = groups_of.members[e];
    const double weight = groups_of.member_weight(e) * problem_.groups.group_weight(g);
    for (int k = 0; k < num_phrases_; ++k) votes[k] += weight * phrase_shares_(g, k);
  }
  double highest = -1;
  for (int m = 0; m < num_words_; ++m) {
    double share = 0;
    for (int k = 0; k < num_phrases_; ++k) {
      const double part = votes[k] * word_shares_(i * num_phrases_ + k, m);
      sums.shares(k, m) += part;
      share += part;
    }
    if (share > highest) {
      highest = share;
      words_[i] = m;
    }
    if (share == 0) continue;
    sums.weights[m] += share;
    sums.squares[m] += share * distances_(i, m);
    for (int64_t t = 0; t < points_.cols(); ++t) sums.points(m, t) += share * points_(i, t);
  }
}

void PhraseMixture::m_step() {
  const auto words = static_cast<size_t>(num_words_);
  const Sums zero{Matrix<double>(num_phrases_, num_words_),
                  Matrix<double>(num_words_, points_.cols()), std::vector<double>(words),
                  std::vector<double>(words)};
  Sums sums = parallel_reduce(
      points_.rows(), kPrimitiveBlock, problem_.num_threads, zero,
      [&](const Block& block, Sums& part) {
        std::vector<double> votes(static_cast<size_t>(num_phrases_));
        for (int64_t i = block.begin; i < block.end; ++i) add_primitive(i, votes, part);
      },
      [](Sums& all, const Sums& part) {
        for (int64_t x = 0; x < all.shares.size(); ++x)
          all.shares.data()[x] += part.shares.data()[x];
        for (int64_t x = 0; x < all.points.size(); ++x)
          all.points.data()[x] += part.points.data()[x];
        for (size_t m = 0; m < all.weights.size(); ++m) {
          all.weights[m] += part.weights[m];
          all.squares[m] += part.squares[m];
        }
      });
  set_shares(sums.shares);
  double weight = 0, square = 0;
  for (int m = 0; m < num_words_; ++m) {
    double moved = 0;
    for (int64_t t = 0; t < points_.cols() && sums.weights[m] > 0; ++t) {
      const auto mean = static_cast<float>(sums.points(m, t) / sums.weights[m]);
      moved += static_cast<double>(mean - prototypes_(m, t)) * (mean - prototypes_(m, t));
      prototypes_(m, t) = mean;
    }
    sums.squares[m] = std::max(0.0, sums.squares[m] - sums.weights[m] * moved);
    weight += sums.weights[m];
    square += sums.squares[m];
  }
  const double floor = kSmallestVariance * problem_.views[0].problem.scatter /
                       static_cast<double>(points_.rows() * points_.cols());
  for (int m = 0; m < num_words_; ++m)
    variances_[m] = std::max(floor, (sums.squares[m] + kSharedVariance * square / num_words_) /
                                        ((sums.weights[m] + kSharedVariance * weight / num_words_) *
                                         static_cast<double>(points_.cols())));
  std::vector<double> priors(static_cast<size_t>(num_phrases_), kSmallestShare);
  double total = 0;
  for (int64_t g = 0; g < problem_.groups.num_groups(); ++g)
    for (int k = 0; k < num_phrases_; ++k)
      priors[k] += problem_.groups.group_weight(g) * phrase_shares_(g, k);
  for (const double prior : priors) total += prior;
  for (int k = 0; k < num_phrases_; ++k) log_priors_[k] = portable_log(priors[k] / total);
}

CacState PhraseMixture::labels() const {
  CacState state;
  state.prototypes.push_back(prototypes_);
  state.words = words_;
  for (int64_t g = 0; g < phrase_shares_.rows(); ++g)
    state.phrases.push_back(index_of_highest(phrase_shares_.view().row_span(g)));
  return state;
}

}  // namespace

bool can_refine(const CacProblem& problem) {
  return problem.views.size() == 1 && problem.num_phrases > 1 &&
         problem.groups.num_groups() >= kMinGroups && problem.views[0].problem.scatter > 0 &&
         !splits_of(problem.num_words, problem.num_phrases, kMaxSplits).empty() &&
         problem.num_primitives * problem.num_words * problem.num_phrases <= kMaxTerms;
}

std::optional<CacState> refine_start(const CacProblem& problem, const CacState& start,
                                     const Monitor& monitor) {
  PhraseMixture mixture(problem, start);
  double before = -std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMaxRounds; ++round) {
    if (monitor.should_stop()) return std::nullopt;
    const double after = mixture.e_step();
    mixture.m_step();
    if (after - before <= kRelTolerance * std::abs(after)) break;
    before = after;
  }
  CacState labels = mixture.labels();
  if (problem.has_fixed_phrases()) labels.phrases = problem.fixed_phrases;
  CacState state = settle_start(problem, std::move(labels));
  state.is_refined = true;
  state.first_balance = balance_of(problem, start).ratio;
  return state;
}

}  // namespace milieu::internal
