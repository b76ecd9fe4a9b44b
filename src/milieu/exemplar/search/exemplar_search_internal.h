// SPDX-License-Identifier: Apache-2.0
// A set of open exemplars with the bookkeeping that makes moves cheap: for every sample its nearest
// and second nearest open server, for every exemplar the loss of closing it. Adding, dropping and
// swapping exemplars are evaluated without touching samples that the move does not concern, in the
// manner of FasterPAM [Schubert21], extended by opening costs and by sparse lists.
//
// Conventions: a sample that no open exemplar serves below its own penalty pays that penalty: it is
// a *single* (server -1) and becomes its own exemplar in the result, so the energy is the
// same. An exemplar always serves itself, even when another one would be cheaper (negative costs).
// Equal costs: the lowest server is taken.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/exemplar/search/service_lists.h"

namespace milieu::internal {

// What one sample pays now, and what it would pay without its server.
struct Service {
  double best = 0;    // cost of `server`; the penalty for exemplars and singles
  double second = 0;  // the next cheapest way: another open server, or the penalty
  int server = -1;    // itself for an exemplar; -1 for a single
  int runner_up = -1;
};

// The best move that brings in one sample.
struct Move {
  double change = 0;  // of the energy; negative is better
  int drop = -1;      // exemplar to close in exchange; -1: only add
};

class SearchState {
 public:
  // Starts with `open` (indices, any order).
  SearchState(const ServiceLists& lists, const std::vector<int>& open);

  double energy() const;  // summed from scratch, in index order
  bool is_open(int q) const { return is_open_[q]; }
  const Service& service(int p) const { return services_[p]; }
  // Open exemplars and singles, ascending: what the result calls exemplars.
  std::vector<int> exemplars() const;

  // Change of the energy by closing exemplar r.
  double drop_change(int r) const { return drop_loss_[r]; }
  double add_change(int q) const;
  // The better of adding q alone and adding q while closing one exemplar near it. An exemplar that
  // shares no sample with q gains nothing from going together: that is an add and a drop.
  Move best_move(int q);

  void add(int q);
  void drop(int r);
  // Sums of losses collect rounding over many moves; this recomputes them.
  void refresh_losses();
  // False when nothing that q's best move depends on most (q's own server and the next one) has
  // changed since best_move(q) was last called.
  bool is_worth_a_look(int q) const;

 private:
  void rescan(int p);
  bool take_offer(Service& service, int p, int q, double cost) const;
  void offer(int p, int q, double cost);
  void set_loss(int p, double sign);  // adds or takes back what p contributes to drop_loss_
  void touch(int r, double correction);

  const ServiceLists& lists_;
  std::vector<char> is_open_;
  std::vector<Service> services_;
  std::vector<double> drop_loss_;
  double highest_best_ = 0;         // the most that a sample pays that is not an exemplar
  double highest_second_ = 0;       // what any sample's second service costs at most
  int64_t clock_ = 1;               // counts moves
  std::vector<int64_t> changed_;    // when the clients of each server last changed
  std::vector<int64_t> looked_;     // when best_move was last called for each sample
  std::vector<double> correction_;  // scratch of best_move, zero between calls
  std::vector<int> touched_;
};

// Greedy opening: the sample whose opening saves most, again and again, until none saves anything
// (lazy evaluation: savings only shrink as the set grows).
std::vector<int> greedy_exemplars(const ServiceLists& lists, int num_threads, Monitor& monitor);

// Adds, drops and swaps the given candidates (ascending) in their order until a whole pass over
// the promising ones finds no move; returns the moves made.
int64_t improve(SearchState& state, const ServiceLists& lists, const std::vector<int>& candidates,
                Monitor& monitor);

}  // namespace milieu::internal
