// SPDX-License-Identifier: Apache-2.0
// The word step of nested EM [Yuan08, Eq. 15]: every primitive takes the word of lowest h.
//
// H is scored in float, in units of the view's spread, from distances that change only in the
// M-step. The error of a score is bounded; where the bound does not decide which word is lowest, h
// is computed in double for the words in question. The result is that of double arithmetic
// throughout. Only primitives around which a phrase changed, or whose view's words moved, are
// considered: for the others H is unchanged.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/cac/cac_loops.h"
#include "milieu/cac/cac_work_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

void scale_row(const float* x, std::span<const double> mean, float factor, float* out) {
  for (size_t t = 0; t < mean.size(); ++t) out[t] = (x[t] - static_cast<float>(mean[t])) * factor;
}

// How much more the best other word costs than `own`, at least 0.
float margin_of(std::span<const float> scores, int own, double unit) {
  float other = std::numeric_limits<float>::infinity();
  for (int m = 0; m < static_cast<int>(scores.size()); ++m)
    if (m != own) other = std::min(other, scores[m]);
  return static_cast<float>(unit * std::max(0.0f, other - scores[own]));
}

}  // namespace

bool NestedEm::update_words(const Monitor& monitor) {
  if (problem_.is_binary) return update_words_binary(monitor);
  for (size_t v = 0; v < views_.size(); ++v)
    if (!choose_words_of(v, monitor)) return false;
  commit_words();
  return true;
}

// Brings words into the units of the distances after they moved.
void NestedEm::prepare_distances(size_t v) {
  ViewWork& work = views_[v];
  const CacView& view = problem_.views[v];
  if (work.distances_are_current) return;
  const FloatView words = state_.prototypes[v];
  work.scaled_words = Matrix<float>(words.rows(), words.cols());
  for (int64_t m = 0; m < words.rows(); ++m)
    scale_row(words.row(m), view.problem.mean, static_cast<float>(std::sqrt(view.unit)),
              work.scaled_words.row(m));
  work.word_norms = squared_row_norms(work.scaled_words);
  work.largest_norm = *std::max_element(work.word_norms.begin(), work.word_norms.end());
  if (work.distances.empty() && view.size() * work.stride <= kMaxKeptDistances) {
    work.distances = Matrix<float>(view.size(), work.stride);
    work.norms.resize(static_cast<size_t>(view.size()));
  }
}

// Words of one view; false when stopped.
bool NestedEm::choose_words_of(size_t v, const Monitor& monitor) {
  prepare_distances(v);
  const CacView& view = problem_.views[v];
  problem_.team->parallel_for(view.size(), kPrimitiveBlock, problem_.num_threads,
                              [&](const Block& block) {
                                if (!monitor.should_stop()) choose_words_in(v, block);
                              });
  complete(view, next_labels_);
  complete(view, next_values_);
  complete(view, next_gains_);
  if (monitor.should_stop()) return false;
  views_[v].distances_are_current = !views_[v].distances.empty();
  return true;
}

// The distances of the block's primitives to the words, one row per primitive.
FloatView NestedEm::block_distances(size_t v, const Block& block, WordScratch& scratch) {
  ViewWork& work = views_[v];
  if (work.distances.empty()) {
    scratch.distances = Matrix<float>(block.size(), work.stride);
    fill_distances(v, block, scratch, scratch.distances);
    return scratch.distances;
  }
  MatrixView<float> kept = work.distances.view().rows_between(block.begin, block.end);
  if (work.distances_are_current) {
    scratch.norms.assign(work.norms.begin() + block.begin, work.norms.begin() + block.end);
    return kept;
  }
  fill_distances(v, block, scratch, kept);
  std::copy(scratch.norms.begin(), scratch.norms.end(), work.norms.begin() + block.begin);
  return kept;
}

void NestedEm::fill_distances(size_t v, const Block& block, WordScratch& scratch,
                              MatrixView<float> out) {
  const CacView& view = problem_.views[v];
  const ViewWork& work = views_[v];
  scratch.points = Matrix<float>(block.size(), view.points().cols());
  for (int64_t i = 0; i < block.size(); ++i)
    scale_row(view.points().row(block.begin + i), view.problem.mean,
              static_cast<float>(std::sqrt(view.unit)), scratch.points.row(i));
  scratch.norms.resize(static_cast<size_t>(block.size()));
  squared_row_norms(scratch.points, scratch.norms);
  const int num_words = view.num_words();
  squared_distances(scratch.points, scratch.norms, work.scaled_words, work.word_norms,
                    {out.data(), out.rows(), num_words, out.stride()});
  for (int64_t i = 0; i < out.rows(); ++i)
    std::fill(out.row(i) + num_words, out.row(i) + work.stride,
              std::numeric_limits<float>::infinity());
}

// c_i of a primitive into scratch.counts.
void NestedEm::gather_phrases(int64_t primitive, WordScratch& scratch) const {
  const ContextGroups& groups_of = problem_.groups_of;
  std::fill(scratch.counts.begin(), scratch.counts.end(), 0.0);
  if (!problem_.is_weighted()) {
    for (const int g : groups_of.members_of(primitive)) ++scratch.counts[state_.phrases[g]];
    return;
  }
  for (int64_t e = groups_of.offsets[primitive]; e < groups_of.offsets[primitive + 1]; ++e) {
    const int g = groups_of.members[e];
    scratch.counts[state_.phrases[g]] +=
        groups_of.member_weight(e) * problem_.groups.group_weight(g);
  }
}

// lambda in the units of the view's distances.
double NestedEm::sign_weight(size_t v) const {
  return lambda_ * problem_.views[v].unit / problem_.views[v].scale;
}

// The phrases that occur in scratch.counts with their weights in the view's units.
NestedEm::SignSum NestedEm::weigh_phrases(size_t v, WordScratch& scratch) const {
  const double factor = sign_weight(v);
  SignSum sum;
  for (int k = 0; k < problem_.num_phrases; ++k) {
    if (scratch.counts[k] == 0) continue;
    scratch.signs[sum.num_signs] = views_[v].signs.row(k);
    scratch.sign_weights[sum.num_signs++] = static_cast<float>(factor * scratch.counts[k]);
    sum.total += factor * scratch.counts[k];
  }
  return sum;
}

// sum over k of c_ik (2 u_mk - 1): what the context gives for word m, without lambda.
double NestedEm::context_gain(int word, std::span<const double> counts) const {
  double gain = 0;
  for (int k = 0; k < problem_.num_phrases; ++k) gain += counts[k] * (2 * word_table_(word, k) - 1);
  return gain;
}

// h in double of the words whose score is not above `limit` (or is NaN).
int NestedEm::settle_exactly(size_t v, int64_t row, float limit, const WordScratch& scratch) const {
  const CacView& view = problem_.views[v];
  const int current = state_.words[view.first_primitive + row] - view.first_word;
  int best = -1;
  double lowest = std::numeric_limits<double>::infinity();
  for (int m = 0; m < view.num_words(); ++m) {
    if (scratch.scores[m] > limit) continue;
    const double h = view.scale * squared_distance(view.points().row_span(row),
                                                   state_.prototypes[v].view().row_span(m)) -
                     lambda_ * context_gain(view.first_word + m, scratch.counts);
    if (best < 0 || h < lowest || (h == lowest && m == current)) {
      best = m;
      lowest = h;
    }
  }
  return best;
}

// The word of lowest h, within the view; fills scratch.counts.
int NestedEm::choose_word(size_t v, int64_t row, const float* distances, int64_t row_of_block,
                          WordScratch& scratch) const {
  const CacView& view = problem_.views[v];
  const int64_t stride = views_[v].stride;
  gather_phrases(view.first_primitive + row, scratch);
  const SignSum context = weigh_phrases(v, scratch);
  const float lowest = MILIEU_SELECT_ISA(score_words)(distances, stride, scratch.signs.data(),
                                                      scratch.sign_weights.data(),
                                                      context.num_signs, scratch.scores.data());
  const double error =
      distance_error(view.points().cols(), scratch.norms[row_of_block] + views_[v].largest_norm) +
      score_error(context.num_signs, std::abs(lowest) + 2 * context.total);
  const float limit = highest_close_score(lowest, error);
  const WordCount close = MILIEU_SELECT_ISA(count_within)(scratch.scores.data(), stride, limit);
  return close.count == 1 ? close.first : settle_exactly(v, row, limit, scratch);
}

void NestedEm::choose_words_in(size_t v, const Block& block) {
  const CacView& view = problem_.views[v];
  const auto stale = std::span(is_stale_primitive_).subspan(view.first_primitive);
  if (std::none_of(stale.begin() + block.begin, stale.begin() + block.end,
                   [](uint8_t is_stale) { return is_stale; }))
    return;
  WordScratch scratch(problem_.num_phrases, views_[v].stride);
  const FloatView distances = block_distances(v, block, scratch);
  if (is_packed_) choose_packed_words_in(v, block, distances, scratch);
  for (int64_t i = block.begin; i < block.end; ++i) {
    if (!stale[i]) continue;
    const int64_t p = view.first_primitive + i;
    if (!is_packed_) {
      next_labels_[p] = view.first_word +
                        choose_word(v, i, distances.row(i - block.begin), i - block.begin, scratch);
      next_gains_[p] = context_gain(next_labels_[p], scratch.counts);
    }
    const int word = next_labels_[p];
    next_values_[p] =
        word == state_.words[p]
            ? own_distances_[p]
            : squared_distance(view.points().row_span(i),
                               state_.prototypes[v].view().row_span(word - view.first_word));
  }
}

// Takes over what choose_words_of found, marks the groups whose words changed, sums J.
void NestedEm::commit_words() {
  parallel_for(problem_.num_primitives, kPrimitiveBlock, problem_.num_threads,
               [&](const Block& block) {
                 for (int64_t p = block.begin; p < block.end; ++p) {
                   if (!is_stale_primitive_[p]) continue;
                   is_stale_primitive_[p] = 0;
                   own_distances_[p] = next_values_[p];
                   context_gains_[p] = next_gains_[p];
                   if (next_labels_[p] == state_.words[p]) continue;
                   state_.words[p] = next_labels_[p];
                   if (is_packed_) primitive_codes_[p] = word_codes_[next_labels_[p]];
                   for (const int g : problem_.groups_of.members_of(p))
                     std::atomic_ref(is_stale_group_[g]).store(1, std::memory_order_relaxed);
                 }
               });
  sum_words_objective();
  // J2 / lambda = sum_j w_j |u_p(j)| - sum_i gain_i, by [Yuan08, Eq. 14].
  const double gains = sum_of(context_gains_, problem_.num_threads);
  std::vector<double> phrase_weights(static_cast<size_t>(problem_.num_phrases));
  for (int64_t g = 0; g < problem_.groups.num_groups(); ++g)
    phrase_weights[state_.phrases[g]] += problem_.groups.group_weight(g);
  context_sum_ = -gains;
  for (int k = 0; k < problem_.num_phrases; ++k)
    context_sum_ += phrase_weights[k] * phrase_sizes_[k];
}

// The margin of a word is in units of J.
std::optional<std::vector<float>> NestedEm::margins(const Monitor& monitor) {
  mark_all_primitives();
  std::vector<float> margins(state_.words.size());
  for (size_t v = 0; v < views_.size(); ++v) {
    const CacView& view = problem_.views[v];
    prepare_distances(v);
    const auto measure = [&](const Block& block) {
      if (monitor.should_stop()) return;
      WordScratch scratch(problem_.num_phrases, views_[v].stride);
      const FloatView distances = block_distances(v, block, scratch);
      for (int64_t i = block.begin; i < block.end; ++i) {
        gather_phrases(view.first_primitive + i, scratch);
        const SignSum context = weigh_phrases(v, scratch);
        MILIEU_SELECT_ISA(score_words)
        (distances.row(i - block.begin), views_[v].stride, scratch.signs.data(),
         scratch.sign_weights.data(), context.num_signs, scratch.scores.data());
        margins[view.first_primitive + i] = margin_of(
            std::span(scratch.scores).first(view.num_words()),
            state_.words[view.first_primitive + i] - view.first_word, view.scale / view.unit);
      }
    };
    problem_.team->parallel_for(view.size(), kPrimitiveBlock, problem_.num_threads, measure);
    complete(view, margins);
  }
  if (monitor.should_stop()) return std::nullopt;
  return margins;
}

}  // namespace milieu::internal
