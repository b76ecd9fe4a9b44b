// SPDX-License-Identifier: Apache-2.0
// Nested EM on binary transactions: a group holds a word or not, however often. [Yuan08, Eq. 15]
// applied to all primitives at once can then raise J: two primitives of a group may leave a word,
// or come to it, together. Departs from [Yuan08, Eq. 15]: primitives are moved one after the other,
// each to the word of lowest exact cost while the others stay, which never raises J.
#include <algorithm>
#include <limits>

#include "milieu/cac/cac_work_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {

void NestedEm::count_transactions() {
  const ContextGroups& groups = problem_.groups;
  transactions_ = Matrix<int>(groups.num_groups(), problem_.num_words);
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    for (const int p : groups.members_of(g)) ++transactions_(g, state_.words[p]);
}

void NestedEm::binary_distances_to(int64_t g, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  double size = 0;
  for (int m = 0; m < problem_.num_words; ++m) {
    if (transactions_(g, m) == 0) continue;
    ++size;
    for (int k = 0; k < problem_.num_phrases; ++k) out[k] += word_table_(m, k);
  }
  for (int k = 0; k < problem_.num_phrases; ++k) out[k] = size + phrase_sizes_[k] - 2 * out[k];
}

// Words in turn. A stop keeps what was moved: every single move is complete.
bool NestedEm::update_words_binary(const Monitor& monitor) {
  constexpr int64_t kMovesBetweenQuestions = 256;
  std::vector<double> costs;
  for (size_t v = 0; v < views_.size(); ++v)
    for (int64_t i = 0; i < problem_.views[v].size(); ++i) {
      if (i % kMovesBetweenQuestions == 0 && monitor.should_stop()) break;
      move_primitive_binary(v, i, costs);
    }
  sum_words_objective();
  sum_context();
  return !monitor.should_stop();
}

// The word of lowest s d + lambda sum_j w_j (1 - 2 u_m,p(j)) over the groups j of the primitive
// that do not hold m without it.
void NestedEm::move_primitive_binary(size_t v, int64_t row, std::vector<double>& costs) {
  const CacView& view = problem_.views[v];
  const int64_t p = view.first_primitive + row;
  const int current = state_.words[p];
  costs.assign(static_cast<size_t>(view.num_words()), 0);
  for (const int g : problem_.groups_of.members_of(p)) {
    --transactions_(g, current);
    const double weight = lambda_ * problem_.groups.group_weight(g);
    for (int m = 0; m < view.num_words(); ++m)
      if (transactions_(g, view.first_word + m) == 0)
        costs[m] += weight * (1 - 2 * word_table_(view.first_word + m, state_.phrases[g]));
  }
  for (int m = 0; m < view.num_words(); ++m)
    costs[m] += view.scale * squared_distance(view.points().row_span(row),
                                              state_.prototypes[v].view().row_span(m));
  const auto lowest = std::min_element(costs.begin(), costs.end());
  const int word = costs[current - view.first_word] == *lowest
                       ? current
                       : view.first_word + static_cast<int>(lowest - costs.begin());
  for (const int g : problem_.groups_of.members_of(p)) {
    ++transactions_(g, word);
    if (word != current) is_stale_group_[g] = 1;
  }
  if (word == current) return;
  state_.words[p] = word;
  own_distances_[p] = squared_distance(
      view.points().row_span(row), state_.prototypes[v].view().row_span(word - view.first_word));
}

}  // namespace milieu::internal
