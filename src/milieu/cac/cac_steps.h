// SPDX-License-Identifier: Apache-2.0
// The steps of nested EM [Yuan08, Algorithm 1], one function each; cac.cc calls them in turn.
//
// Symbols  R, R~: words of primitives, phrases of groups; U: word prototypes; U~: compositions
//          (u_mk = 1 where phrase k holds word m); Q: groups (q_ij: weight of primitive i in group
//          j); w_j: weight of group j; T = R Q: words of the groups, t_mj;
//          D: scaled squared distances; C = Q R~^T, c_ik = sum over groups j of phrase k of
//          w_j q_ij: the phrases around a primitive. T is never stored [Yuan08, Eq. 12 and 14]:
//          U~^T T = (U~^T R) Q, and H = D - lambda (2 U~ - 1) C^T.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/parallel.h"
#include "milieu/cac/cac_problem_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// The state of one start and what its steps need. Each step is an exact minimum of J over its own
// block of unknowns, in double; a step that the monitor stops changes nothing and returns false.
class NestedEm {
 public:
  // `problem` must outlive it. The state must be complete.
  NestedEm(const CacProblem& problem, double lambda, CacState state);
  ~NestedEm();

  // E-step, labels of groups [Yuan08, Eq. 13]: ties keep the phrase, else the lowest index.
  bool update_phrases(const Monitor& monitor);
  // E-step, labels of primitives [Yuan08, Eq. 15]: ties keep the word, else the lowest index.
  bool update_words(const Monitor& monitor);
  // M-step, first part: each word's prototype becomes the mean of its primitives.
  bool update_prototypes(const Monitor& monitor);
  // M-step, second part: majority vote [Yuan08, Appendix]; u_mk = 1 iff 2 S_mk >= n_k.
  void update_compositions();

  void set_lambda(double lambda);
  double lambda() const { return lambda_; }
  // J1 and J2 (with lambda) of the state [Yuan08, Eq. 3].
  double words_objective() const { return words_objective_; }
  double context_objective() const { return lambda_ * context_sum_; }
  double context_sum() const { return context_sum_; }  // J2 without lambda
  double objective() const { return words_objective() + context_objective(); }
  // J2 without lambda on binary transactions: the Hamming distance proper.
  double hamming_sum() const;

  const CacState& state() const { return state_; }
  CacState take_state() { return std::move(state_); }
  // H of the second best word minus H of the best, for each primitive; float precision.
  // Infinite where there is one word only; nothing when stopped.
  std::optional<std::vector<float>> margins(const Monitor& monitor);

 private:
  struct ViewWork;     // distances and tables of one view
  struct WordScratch;  // of one block
  struct SignSum {     // how many phrases occur around a primitive, and the sum of their weights
    int num_signs = 0;
    double total = 0;
  };
  struct VoteSums {
    Matrix<double> words;         // phrases x words: S_mk
    std::vector<double> weights;  // phrases: n_k
  };

  // Of a team every rank gets the values of a view that the others have found.
  template <class T>
  void complete(const CacView& view, std::vector<T>& values) const;
  void refresh_tables();
  void measure_own_distances();
  void sum_words_objective();
  void sum_context();
  void sum_group_distances();
  void mark_all_primitives();

  void group_distances_to(int64_t group, std::span<double> out) const;
  void choose_phrases_in(const Block& block);
  void commit_phrases();
  VoteSums sum_votes() const;
  void set_compositions(std::vector<uint8_t> compositions);
  void reseed_phrases(std::span<const double> weights);

  void prepare_distances(size_t view);
  bool choose_words_of(size_t view, const Monitor& monitor);
  void choose_words_in(size_t view, const Block& block);
  int choose_word(size_t view, int64_t row, const float* distances, int64_t row_of_block,
                  WordScratch& scratch) const;
  FloatView block_distances(size_t view, const Block& block, WordScratch& scratch);
  void fill_distances(size_t view, const Block& block, WordScratch& scratch, MatrixView<float> out);
  void gather_phrases(int64_t primitive, WordScratch& scratch) const;
  double sign_weight(size_t view) const;
  SignSum weigh_phrases(size_t view, WordScratch& scratch) const;
  int settle_exactly(size_t view, int64_t row, float limit, const WordScratch& scratch) const;
  double context_gain(int word, std::span<const double> counts) const;
  void commit_words();

  bool can_pack() const;
  void refresh_codes();
  void measure_packed(const Block& block);
  void choose_packed_phrases_in(const Block& block);
  void choose_packed_words_in(size_t view, const Block& block, FloatView distances,
                              WordScratch& scratch);

  bool update_words_binary(const Monitor& monitor);
  void move_primitive_binary(size_t view, int64_t row, std::vector<double>& costs);
  void count_transactions();
  void binary_distances_to(int64_t group, std::span<double> out) const;

  const CacProblem& problem_;
  double lambda_ = 0;
  CacState state_;
  double words_objective_ = 0;
  double context_sum_ = 0;

  std::vector<ViewWork> views_;
  Matrix<double> word_table_;                // words x phrases (padded): u_mk
  std::vector<double> phrase_sizes_;         // |u_k|
  bool is_packed_ = false;                   // counts of phrases fit into bytes (cac_loops.h)
  std::vector<uint8_t> word_codes_;          // packed only, per word: bit k is u_mk
  std::vector<uint8_t> primitive_codes_;     // packed only: the code of a primitive's word
  std::vector<uint8_t> group_codes_;         // packed only: a group's phrase
  std::vector<double> own_distances_;        // per primitive: |f - u|^2, unscaled
  std::vector<double> context_gains_;        // per primitive: sum_k c_ik (2 u_mk - 1) of its word
  std::vector<double> group_distances_;      // per group: d(t, u) to its phrase
  std::vector<uint8_t> is_stale_primitive_;  // its phrases, or anything of H, may have changed
  std::vector<uint8_t> is_stale_group_;      // its words, or U~, may have changed
  // What a step found, before it is taken over as a whole.
  std::vector<int> next_labels_;
  std::vector<double> next_values_;
  std::vector<double> next_gains_;
  Matrix<int> transactions_;  // binary only: counts of words, groups x words
};

}  // namespace milieu::internal
