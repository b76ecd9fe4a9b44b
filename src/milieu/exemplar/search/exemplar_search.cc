// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"

namespace milieu::internal {

namespace {

constexpr int64_t kSamplesPerBlock = 64;

}  // namespace

SearchState::SearchState(const ServiceLists& lists, const std::vector<int>& open)
    : lists_(lists),
      is_open_(lists.n, 0),
      services_(lists.n),
      drop_loss_(lists.n, 0),
      changed_(lists.n, 1),
      looked_(lists.n, 0),
      correction_(lists.n, 0) {
  for (int64_t p = 0; p < lists.n; ++p) services_[p] = {lists.penalty[p], lists.penalty[p], -1, -1};
  for (int q : open) {
    is_open_[q] = 1;
    services_[q].server = q;
  }
  for (int q : open) {
    const ServiceRun column = lists.column(q);
    for (int64_t i = 0; i < column.size; ++i)
      take_offer(services_[column.index[i]], column.index[i], q, column.cost[i]);
  }
  refresh_losses();
}

double SearchState::energy() const {
  double sum = 0;
  for (const Service& service : services_) sum += service.best;
  return sum;
}

std::vector<int> SearchState::exemplars() const {
  std::vector<int> chosen;
  for (int p = 0; p < static_cast<int>(lists_.n); ++p)
    if (is_open_[p] || services_[p].server < 0) chosen.push_back(p);
  return chosen;
}

void SearchState::refresh_losses() {
  std::fill(drop_loss_.begin(), drop_loss_.end(), 0.0);
  highest_best_ = highest_second_ = -std::numeric_limits<double>::infinity();
  for (int p = 0; p < static_cast<int>(lists_.n); ++p) {
    const Service& service = services_[p];
    if (service.server >= 0) drop_loss_[service.server] += service.second - service.best;
    highest_second_ = std::max(highest_second_, service.second);
    if (!is_open_[p]) highest_best_ = std::max(highest_best_, service.best);
  }
}

void SearchState::set_loss(int p, double sign) {
  const Service& service = services_[p];
  if (sign > 0) {
    highest_second_ = std::max(highest_second_, service.second);
    if (!is_open_[p]) highest_best_ = std::max(highest_best_, service.best);
  }
  if (service.server < 0) return;
  drop_loss_[service.server] += sign * (service.second - service.best);
  changed_[service.server] = clock_;
}

// The two cheapest open servers of p, found from the front of its sorted row.
void SearchState::rescan(int p) {
  Service service{lists_.penalty[p], lists_.penalty[p], is_open_[p] ? p : -1, -1};
  const ServiceRun row = lists_.row(p);
  for (int64_t i = 0; i < row.size && row.cost[i] < lists_.penalty[p]; ++i) {
    const int q = row.index[i];
    if (!is_open_[q]) continue;
    if (service.server < 0) {
      service.best = row.cost[i];
      service.server = q;
    } else {
      service.second = row.cost[i];
      service.runner_up = q;
      break;
    }
  }
  services_[p] = service;
}

// The open exemplar q would serve p at this cost; true when that changes p's two cheapest ways.
bool SearchState::take_offer(Service& service, int p, int q, double cost) const {
  if (cost >= lists_.penalty[p]) return false;
  const bool beats_best = cost < service.best || (cost == service.best && q < service.server);
  if (!is_open_[p] && (service.server < 0 || beats_best)) {
    if (service.server >= 0) {
      service.second = service.best;
      service.runner_up = service.server;
    }
    service.best = cost;
    service.server = q;
    return true;
  }
  const bool beats_second =
      cost < service.second ||
      (cost == service.second && (service.runner_up < 0 || q < service.runner_up));
  if (!beats_second) return false;
  service.second = cost;
  service.runner_up = q;
  return true;
}

void SearchState::offer(int p, int q, double cost) {
  Service changed = services_[p];
  if (!take_offer(changed, p, q, cost)) return;
  set_loss(p, -1);
  services_[p] = changed;
  set_loss(p, 1);
}

void SearchState::add(int q) {
  ++clock_;
  is_open_[q] = 1;
  set_loss(q, -1);
  rescan(q);
  set_loss(q, 1);
  const ServiceRun column = lists_.column(q);
  for (int64_t i = 0; i < column.size && column.cost[i] <= highest_second_; ++i)
    offer(column.index[i], q, column.cost[i]);
}

void SearchState::drop(int r) {
  ++clock_;
  is_open_[r] = 0;
  set_loss(r, -1);
  rescan(r);
  set_loss(r, 1);
  const ServiceRun column = lists_.column(r);
  const double limit = highest_second_;  // those that lose r paid no more
  for (int64_t i = 0; i < column.size && column.cost[i] <= limit; ++i) {
    const int p = column.index[i];
    if (services_[p].server != r && services_[p].runner_up != r) continue;
    set_loss(p, -1);
    rescan(p);
    set_loss(p, 1);
  }
}

double SearchState::add_change(int q) const {
  double change = lists_.penalty[q] - services_[q].best;
  const ServiceRun column = lists_.column(q);
  for (int64_t i = 0; i < column.size && column.cost[i] < highest_best_; ++i) {
    const int p = column.index[i];
    const double saved = services_[p].best - column.cost[i];
    if (saved > 0 && !is_open_[p]) change -= saved;
  }
  return change;
}

bool SearchState::is_worth_a_look(int q) const {
  const Service& own = services_[q];
  const int64_t when = looked_[q];
  return own.server < 0 || changed_[own.server] >= when ||
         (own.runner_up >= 0 && changed_[own.runner_up] >= when);
}

void SearchState::touch(int r, double correction) {
  if (correction_[r] == 0) touched_.push_back(r);
  correction_[r] += correction;
}

Move SearchState::best_move(int q) {
  looked_[q] = clock_ + 1;
  const Service& own = services_[q];
  double add_only = lists_.penalty[q] - own.best;
  // Closing q's server no longer costs q anything: q serves itself.
  if (own.server >= 0) touch(own.server, own.best - own.second);
  const ServiceRun column = lists_.column(q);
  for (int64_t i = 0; i < column.size && column.cost[i] < highest_second_; ++i) {
    const int p = column.index[i];
    const double cost = column.cost[i];
    const Service& service = services_[p];
    if (cost >= service.second && cost >= service.best) continue;
    if (is_open_[p]) {  // if p is the one to close, q may be its cheapest server
      touch(p, std::min(0.0, cost - service.second));
    } else if (cost < service.best) {
      add_only += cost - service.best;
      if (service.server >= 0) touch(service.server, service.best - service.second);
    } else if (service.server >= 0) {
      touch(service.server, cost - service.second);
    }
  }
  Move move{add_only, -1};
  std::sort(touched_.begin(), touched_.end());
  for (int r : touched_) {
    const double change = add_only + drop_loss_[r] + correction_[r];
    if (change < move.change) move = {change, r};
    correction_[r] = 0;
  }
  touched_.clear();
  return move;
}

std::vector<int> greedy_exemplars(const ServiceLists& lists, int num_threads, Monitor& monitor) {
  SearchState state(lists, {});
  struct Saving {
    double change;
    int q;
    bool operator<(const Saving& other) const {  // the queue's top: most negative, lowest index
      return change != other.change ? change > other.change : q > other.q;
    }
  };
  std::vector<Saving> savings(lists.n);
  parallel_for(lists.n, kSamplesPerBlock, num_threads, [&](const Block& block) {
    const bool is_stopped = monitor.should_stop();
    for (int q = static_cast<int>(block.begin); q < block.end; ++q)
      savings[q] = {is_stopped ? 0.0 : state.add_change(q), q};
  });
  std::priority_queue<Saving> queue({}, std::move(savings));
  std::vector<int> open;
  size_t next_refresh = 1;
  while (!queue.empty() && !monitor.should_stop()) {
    const Saving top = queue.top();
    if (top.change >= 0) break;
    queue.pop();
    const double change = state.add_change(top.q);
    if (!queue.empty() && Saving{change, top.q} < queue.top()) {
      if (change < 0) queue.push({change, top.q});
      continue;
    }
    if (change >= 0) break;
    state.add(top.q);
    open.push_back(top.q);
    if (open.size() < next_refresh) continue;
    state.refresh_losses();  // tightens the limits that let add_change stop early
    next_refresh += 1 + next_refresh / 4;
  }
  return open;
}

int64_t improve(SearchState& state, const ServiceLists& lists, const std::vector<int>& candidates,
                Monitor& monitor) {
  int64_t moves = 0;
  size_t since_last_move = 0;
  for (size_t i = 0; since_last_move < candidates.size();
       i = i + 1 == candidates.size() ? 0 : i + 1) {
    if (i == 0) state.refresh_losses();
    if (i % 256 == 0 && monitor.should_stop()) break;
    const int q = candidates[i];
    const double scale = 1e-12 * (std::abs(lists.penalty[q]) + 1e-300);
    ++since_last_move;
    if (state.is_open(q)) {
      if (state.drop_change(q) >= -scale) continue;
      state.drop(q);
    } else if (state.is_worth_a_look(q)) {
      const Move move = state.best_move(q);
      if (move.change >= -scale) continue;
      state.add(q);
      if (move.drop >= 0) state.drop(move.drop);
    } else {
      continue;
    }
    ++moves;
    since_last_move = 0;
  }
  return moves;
}

}  // namespace milieu::internal
