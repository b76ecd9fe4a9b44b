// SPDX-License-Identifier: Apache-2.0
// What stays the same through all starts of context-aware clustering, and what a start changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/cac/cac.h"
#include "milieu/cac/context_groups.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// One view of the samples with its own words.
struct CacView {
  KMeansProblem problem;  // points, mean, scatter; num_clusters is the number of words
  int first_word = 0;     // its words are [first_word, first_word + num_words())
  int64_t first_primitive = 0;
  double scale = 1;  // factor of squared distances in J1
  double unit = 1;   // factor that brings squared distances to unit total variance

  FloatView points() const { return problem.points; }
  int64_t size() const { return problem.points.rows(); }
  int num_words() const { return problem.num_clusters; }
};

struct CacProblem {
  std::vector<CacView> views;
  ContextGroups groups;     // Q: groups over primitives
  ContextGroups groups_of;  // Q transposed: the groups that hold a primitive
  int num_words = 0;        // of all views, M
  int num_phrases = 0;      // M~; 0: no context
  int64_t num_primitives = 0;
  int view_neighbors = 0;          // of groups in all views together; 0: none
  double member_total = 0;         // sum over groups of weight * |t|
  bool is_spatial = false;         // the groups are neighbours in space
  ContextGroups evidence;          // groups over samples that have evidence; none: by counts
  std::vector<int> fixed_phrases;  // one per group, found by shares; empty: steps find them
  bool is_binary = false;
  bool reseeds = true;
  int num_threads = 0;
  const Team* team = &Team::alone();  // its ranks have all rows and divide the word steps

  bool has_context() const { return num_phrases > 0; }
  bool is_by_shares() const { return evidence.num_groups() > 0; }
  bool has_fixed_phrases() const { return !fixed_phrases.empty(); }
  bool is_weighted() const { return !groups.weights.empty() || !groups.group_weights.empty(); }
};

// Labels and prototypes. Words are numbered through all views here.
struct CacState {
  std::vector<Matrix<float>> prototypes;  // per view: words x d
  std::vector<uint8_t> compositions;      // phrases x words: 1 where the phrase holds the word
  std::vector<int> words;                 // one per primitive
  std::vector<int> phrases;               // one per group
  // A start whose words and phrases were fitted to each other: lambda is not raised in steps, and
  // is taken from J1 / J2 as it was before.
  bool is_refined = false;
  double first_balance = 0;
};

// Number of neighbours in all views together in the groups of samples; 0: no such groups.
int count_view_neighbors(const CacInput& input, const CacOptions& options);

// Checks input and options, makes the groups. Throws as fit_cac says.
CacProblem make_cac_problem(const CacInput& input, const CacOptions& options, Monitor& monitor);

// The same with other numbers of words, one per view, and phrases.
void set_numbers(CacProblem& problem, std::span<const int> num_words, int num_phrases);

// Words in `words` that no primitive, phrases in `phrases` that no group has.
int count_used(std::span<const int> labels, int num_labels);

}  // namespace milieu::internal
