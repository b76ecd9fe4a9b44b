// SPDX-License-Identifier: Apache-2.0
// Problem: [Komodakis11, Eq. 1], by max-product messages [Frey07].
// Symbols: s_pq = -d_pq, s_qq = -d_qq; r responsibilities, a availabilities; damping kDamping.
//   r_pq = s_pq - max over q' != q of (a_pq' + s_pq')
//   a_pq = min(0, r_qq + sum over p' not in {p, q} of max(0, r_p'q)), a_qq the sum without r_qq
// Conventions: similarities get a perturbation of 1e-9 of their size, which breaks ties; exemplars
//   are the q with r_qq + a_qq > 0, the best one where there is none; it has converged when they
//   have not changed for kStableRounds; then every cluster takes the best of its members. Pairs
//   that the lists leave out cannot pay off, and have no messages.
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"

namespace milieu::internal {

namespace {

constexpr double kDamping = 0.9;
constexpr int kStableRounds = 30;
constexpr double kPerturbation = 1e-9;
constexpr double kNone = -std::numeric_limits<double>::infinity();

// One entry per listed pair, in the order of the lists, and one per sample for itself.
struct Messages {
  std::vector<double> similarity, responsibility, availability;
  std::vector<double> own_similarity, own_responsibility, own_availability;

  Messages(const ServiceLists& lists, uint64_t seed)
      : responsibility(lists.server.size(), 0.0),
        availability(lists.server.size(), 0.0),
        own_responsibility(lists.n, 0.0),
        own_availability(lists.n, 0.0) {
    Random random(seed);
    const auto perturbed = [&](double value) {
      return value * (1 + kPerturbation * random.uniform(-1, 1));
    };
    for (const float cost : lists.cost) similarity.push_back(perturbed(-cost));
    for (const double penalty : lists.penalty) own_similarity.push_back(perturbed(-penalty));
  }
};

void damp(double& message, double value) { message = kDamping * message + (1 - kDamping) * value; }

// Of sample p: what every candidate offers beyond the best other one.
void respond(const ServiceLists& lists, int64_t p, Messages& m) {
  double first = m.own_availability[p] + m.own_similarity[p], second = kNone;
  int64_t best = -1;  // the sample itself
  for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e) {
    const double offer = m.availability[e] + m.similarity[e];
    if (offer > first) {
      second = first;
      first = offer;
      best = e;
    } else {
      second = std::max(second, offer);
    }
  }
  for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e)
    damp(m.responsibility[e], m.similarity[e] - (e == best ? second : first));
  if (lists.begin[p] == lists.begin[p + 1]) return;  // nobody else can serve it
  damp(m.own_responsibility[p], m.own_similarity[p] - (best < 0 ? second : first));
}

void offer(const ServiceLists& lists, Messages& m) {
  std::vector<double> support(lists.n, 0.0);
  for (size_t e = 0; e < lists.server.size(); ++e)
    support[lists.server[e]] += std::max(0.0, m.responsibility[e]);
  for (size_t e = 0; e < lists.server.size(); ++e) {
    const int q = lists.server[e];
    const double others = support[q] - std::max(0.0, m.responsibility[e]);
    damp(m.availability[e], std::min(0.0, m.own_responsibility[q] + others));
  }
  for (int64_t q = 0; q < lists.n; ++q) damp(m.own_availability[q], support[q]);
}

std::vector<int> exemplars_of(const ServiceLists& lists, const Messages& m) {
  std::vector<int> open;
  int best = 0;
  const auto evidence = [&](int q) { return m.own_responsibility[q] + m.own_availability[q]; };
  for (int q = 0; q < static_cast<int>(lists.n); ++q) {
    const bool is_alone = lists.begin[q] == lists.begin[q + 1];
    if (is_alone || evidence(q) > 0) open.push_back(q);
    if (evidence(q) > evidence(best)) best = q;
  }
  if (open.empty()) open.push_back(best);
  return open;
}

// The member of every cluster that serves all of its members at the least cost.
std::vector<int> refined(const ServiceLists& lists, const std::vector<int>& open) {
  const SearchState state(lists, open);
  std::vector<int> cluster(lists.n), sizes(lists.n, 0);
  for (int p = 0; p < static_cast<int>(lists.n); ++p) {
    const int q = state.service(p).server;
    cluster[p] = q < 0 ? p : q;
    ++sizes[cluster[p]];
  }
  std::vector<double> sums = lists.penalty;
  std::vector<int> served(lists.n, 1), best(lists.n, -1);
  for (int p = 0; p < static_cast<int>(lists.n); ++p)
    for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e) {
      const int q = lists.server[e];
      if (cluster[q] != cluster[p]) continue;
      sums[q] += lists.cost[e];
      ++served[q];
    }
  for (int q = 0; q < static_cast<int>(lists.n); ++q) {
    int& chosen = best[cluster[q]];
    if (served[q] == sizes[cluster[q]] && (chosen < 0 || sums[q] < sums[chosen])) chosen = q;
  }
  std::vector<int> better;
  for (int q = 0; q < static_cast<int>(lists.n); ++q)
    if (cluster[q] == q) better.push_back(best[q] < 0 ? q : best[q]);
  std::sort(better.begin(), better.end());
  return better;
}

}  // namespace

MessageExemplars propagate_affinity(const ServiceLists& lists, int max_iterations, uint64_t seed,
                                    Monitor& monitor) {
  Messages messages(lists, seed);
  MessageExemplars found;
  int unchanged = 0;
  while (found.iterations < max_iterations && unchanged < kStableRounds && !monitor.should_stop()) {
    for (int64_t p = 0; p < lists.n; ++p) respond(lists, p, messages);
    offer(lists, messages);
    std::vector<int> open = exemplars_of(lists, messages);
    unchanged = open == found.open ? unchanged + 1 : 0;
    found.open = std::move(open);
    ++found.iterations;
  }
  found.has_converged = unchanged == kStableRounds;
  if (found.open.empty()) found.open = {0};  // stopped at once
  found.open = refined(lists, found.open);
  return found;
}

}  // namespace milieu::internal
