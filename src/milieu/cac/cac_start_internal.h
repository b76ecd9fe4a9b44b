// SPDX-License-Identifier: Apache-2.0
// The starts of context-aware clustering; docs/algorithms/cac.md says which are taken when.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac_problem_internal.h"

namespace milieu::internal {

// Groups that a start clusters; of more groups a random sample is clustered and the others follow.
inline constexpr int64_t kMaxStartGroups = 200'000;

// The child of the random seed that fine words belong to; restarts have the first ones.
inline constexpr uint64_t kLexiconStream = uint64_t{1} << 32;

// How often a start clusters groups, or samples into phrases: the best of several where that is
// cheap, since everything after it depends on it.
inline int num_phrase_restarts(int64_t rows) { return rows <= 20'000 ? 10 : 1; }

// Every start returns a complete state, or nothing when the monitor stopped it.

// [Yuan08, Sec. 2.3, initialization]: words by k-means in each view, then phrases.
std::optional<CacState> start_from_words(const CacProblem& problem, const CacOptions& options,
                                         const Random& random, Monitor& monitor);

// Phrases first, then words inside each. Several views: k-means on all views concatenated. One
// view: k-means on the square roots of the groups' shares of a finer lexicon. `attempt` chooses how
// many words each phrase gets, in turn through all splits where they are few.
std::optional<CacState> start_from_phrases(const CacProblem& problem, int attempt,
                                           const Random& random, Monitor& monitor);

// More splits of words over phrases are not tried one by one.
inline constexpr int64_t kMaxSplits = 16;

// Words and phrases fitted to each other by a mixture model (cac_mixture.cc): of one view with so
// few words that all splits are tried. Nothing when stopped.
bool can_refine(const CacProblem& problem);
std::optional<CacState> refine_start(const CacProblem& problem, const CacState& start,
                                     const Monitor& monitor);

// Any word for every primitive, any phrase for every group: for small problems with many optima.
CacState start_at_random(const CacProblem& problem, Random random);

// Whether phrases can come first: there are at least as many words as phrases.
bool can_start_from_phrases(const CacProblem& problem);

// Given words (counted within their views), with given phrases or found ones.
std::optional<CacState> start_from_labels(const CacProblem& problem, const CacOptions& options,
                                          std::span<const int> words, std::span<const int> phrases,
                                          Monitor& monitor);

// Phrases of the groups by the words in `state`: fills phrases and compositions. False when
// stopped.
bool cluster_groups(const CacProblem& problem, CacPhraseInit kind, const Random& random,
                    Monitor& monitor, CacState& state);

// Completes a start that has words and phrases: prototypes as means, compositions by vote.
CacState settle_start(const CacProblem& problem, CacState state);

// The groups that a start clusters, ascending: all of them, or a sample.
std::vector<int64_t> groups_to_cluster(int64_t num_groups, Random random);

// Counts of words in the named groups, one row per group [Yuan08, Sec. 2.3: T = R Q].
Matrix<float> count_words(const CacProblem& problem, std::span<const int> words, int num_words,
                          std::span<const int64_t> groups);

// All ways to write `total` as a sum of `parts` positive numbers, in lexicographic order; nothing
// when there are more than `limit`.
std::vector<std::vector<int>> splits_of(int total, int parts, int64_t limit);

}  // namespace milieu::internal
