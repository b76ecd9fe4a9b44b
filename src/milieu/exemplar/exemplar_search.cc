// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>

#include "milieu/exemplar/exemplar_search_internal.h"

namespace milieu::internal {

SearchState::SearchState(const ServiceLists& lists, const std::vector<int>& open)
    : lists_(lists),
      is_open_(lists.n, 0),
      services_(lists.n),
      drop_loss_(lists.n, 0),
      correction_(lists.n, 0) {
  for (int q : open) is_open_[q] = 1;
  for (int64_t p = 0; p < lists.n; ++p) rescan(static_cast<int>(p));
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
  for (int p = 0; p < static_cast<int>(lists_.n); ++p) set_loss(p, 1);
}

void SearchState::set_loss(int p, double sign) {
  const Service& service = services_[p];
  if (service.server >= 0) drop_loss_[service.server] += sign * (service.second - service.best);
}

// The two cheapest open servers of p, found from the front of its sorted row.
void SearchState::rescan(int p) {
  Service service{lists_.penalty[p], lists_.penalty[p], is_open_[p] ? p : -1, -1};
  for (int64_t e = lists_.begin[p]; e < lists_.begin[p + 1]; ++e) {
    const int q = lists_.server[e];
    if (!is_open_[q]) continue;
    if (service.server < 0) {
      service.best = lists_.cost[e];
      service.server = q;
    } else {
      service.second = lists_.cost[e];
      service.runner_up = q;
      break;
    }
  }
  services_[p] = service;
}

// Exemplar q has been opened and would serve p at this cost.
void SearchState::offer(int p, int q, double cost) {
  Service& service = services_[p];
  const bool beats_best = cost < service.best || (cost == service.best && q < service.server);
  if (!is_open_[p] && (service.server < 0 || beats_best)) {
    set_loss(p, -1);
    if (service.server >= 0) {
      service.second = service.best;
      service.runner_up = service.server;
    }
    service.best = cost;
    service.server = q;
    set_loss(p, 1);
    return;
  }
  const bool beats_second =
      cost < service.second ||
      (cost == service.second && (service.runner_up < 0 || q < service.runner_up));
  if (!beats_second) return;
  set_loss(p, -1);
  service.second = cost;
  service.runner_up = q;
  set_loss(p, 1);
}

void SearchState::add(int q) {
  is_open_[q] = 1;
  set_loss(q, -1);
  rescan(q);
  set_loss(q, 1);
  for (int64_t e = lists_.column_begin[q]; e < lists_.column_begin[q + 1]; ++e)
    offer(lists_.client[e], q, lists_.client_cost[e]);
}

void SearchState::drop(int r) {
  is_open_[r] = 0;
  set_loss(r, -1);
  rescan(r);
  set_loss(r, 1);
  for (int64_t e = lists_.column_begin[r]; e < lists_.column_begin[r + 1]; ++e) {
    const int p = lists_.client[e];
    if (services_[p].server != r && services_[p].runner_up != r) continue;
    set_loss(p, -1);
    rescan(p);
    set_loss(p, 1);
  }
}

double SearchState::add_change(int q) const {
  double change = lists_.penalty[q] - services_[q].best;
  for (int64_t e = lists_.column_begin[q]; e < lists_.column_begin[q + 1]; ++e) {
    const int p = lists_.client[e];
    const double saved = services_[p].best - lists_.client_cost[e];
    if (saved > 0 && !is_open_[p]) change -= saved;
  }
  return change;
}

void SearchState::touch(int r, double correction) {
  if (correction_[r] == 0) touched_.push_back(r);
  correction_[r] += correction;
}

Move SearchState::best_move(int q) {
  const Service& own = services_[q];
  double add_only = lists_.penalty[q] - own.best;
  // Closing q's server no longer costs q anything: q serves itself.
  if (own.server >= 0) touch(own.server, own.best - own.second);
  for (int64_t e = lists_.column_begin[q]; e < lists_.column_begin[q + 1]; ++e) {
    const int p = lists_.client[e];
    const double cost = lists_.client_cost[e];
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

std::vector<int> greedy_exemplars(const ServiceLists& lists, Monitor& monitor) {
  SearchState state(lists, {});
  struct Saving {
    double change;
    int q;
    bool operator<(const Saving& other) const {  // the queue's top: most negative, lowest index
      return change != other.change ? change > other.change : q > other.q;
    }
  };
  std::priority_queue<Saving> queue;
  for (int q = 0; q < static_cast<int>(lists.n); ++q) {
    if (q % 256 == 0 && monitor.should_stop()) break;
    queue.push({state.add_change(q), q});
  }
  std::vector<int> open;
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
  }
  return open;
}

int64_t improve(SearchState& state, const ServiceLists& lists, Monitor& monitor) {
  const int n = static_cast<int>(lists.n);
  int64_t moves = 0;
  int since_last_move = 0;
  for (int q = 0; since_last_move < n; q = q + 1 == n ? 0 : q + 1) {
    if (q == 0) state.refresh_losses();
    if (q % 256 == 0 && monitor.should_stop()) break;
    const double scale = 1e-12 * (std::abs(lists.penalty[q]) + 1e-300);
    ++since_last_move;
    if (state.is_open(q)) {
      if (state.drop_change(q) >= -scale) continue;
      state.drop(q);
    } else {
      const Move move = state.best_move(q);
      if (move.change >= -scale) continue;
      state.add(q);
      if (move.drop >= 0) state.drop(move.drop);
    }
    ++moves;
    since_last_move = 0;
  }
  return moves;
}

}  // namespace milieu::internal
