// SPDX-License-Identifier: Apache-2.0
// The assignment step for three and more parts with size limits and no links: a transportation
// problem. From the cheapest part of each sample on, samples move along shortest paths between
// parts until all limits hold; each path keeps the assignment the cheapest for its sizes.
#include <algorithm>
#include <limits>

#include "milieu/dcp/dcp_constraints_internal.h"

namespace milieu::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The price of moving one sample from part a to part b, and which sample that is.
struct Move {
  double price = kInfinity;
  int sample = -1;
};

class Transport {
 public:
  Transport(const Matrix<double>& costs, std::vector<int>& parts, const std::vector<int>& fixed,
            int num_parts)
      : costs_(costs), parts_(parts), fixed_(fixed), k_(num_parts), sizes_(k_), moves_(k_ * k_) {
    for (const int part : parts) ++sizes_[part];
    for (int a = 0; a < k_; ++a) update_moves(a);
  }

  int64_t size(int part) const { return sizes_[part]; }

  // Moves one sample from some source part to some target part, over others where that is cheaper;
  // false when there is no path.
  template <class IsSource, class IsTarget>
  bool augment(IsSource&& is_source, IsTarget&& is_target) {
    std::vector<double> distance(k_, kInfinity);
    std::vector<int> before(k_, -1);
    for (int a = 0; a < k_; ++a)
      if (is_source(a)) distance[a] = 0;
    for (int round = 0; round < k_; ++round)
      for (int a = 0; a < k_; ++a)
        for (int b = 0; b < k_; ++b) {
          const double through = distance[a] + moves_[a * k_ + b].price;
          // The slack keeps rounding from closing a circle of price 0.
          if (through < distance[b] - 1e-12 * (1 + std::abs(through))) {
            distance[b] = through;
            before[b] = a;
          }
        }
    int target = -1;
    for (int b = 0; b < k_; ++b)
      if (is_target(b) && !is_source(b) && (target < 0 || distance[b] < distance[target]))
        target = b;
    if (target < 0 || distance[target] == kInfinity) return false;
    std::vector<int> touched{target};
    for (int b = target; before[b] >= 0; b = before[b]) {
      parts_[moves_[before[b] * k_ + b].sample] = b;
      touched.push_back(before[b]);
    }
    --sizes_[touched.back()];
    ++sizes_[target];
    for (const int part : touched) update_moves(part);
    return true;
  }

 private:
  void update_moves(int a) {
    for (int b = 0; b < k_; ++b) moves_[a * k_ + b] = {};
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] != a || fixed_[i] >= 0) continue;
      for (int b = 0; b < k_; ++b) {
        const double price =
            costs_(static_cast<int64_t>(i), b) - costs_(static_cast<int64_t>(i), a);
        if (b != a && price < moves_[a * k_ + b].price)
          moves_[a * k_ + b] = {price, static_cast<int>(i)};
      }
    }
  }

  const Matrix<double>& costs_;
  std::vector<int>& parts_;
  const std::vector<int>& fixed_;
  int k_;
  std::vector<int64_t> sizes_;
  std::vector<Move> moves_;  // from x to
};

}  // namespace

bool Constraints::assign_by_flow(const Matrix<double>& costs, std::vector<int>& parts) const {
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = fixed_[i] < 0 ? 0 : fixed_[i];
    for (int k = 0; k < num_parts_ && fixed_[i] < 0; ++k)
      if (costs(static_cast<int64_t>(i), k) < costs(static_cast<int64_t>(i), parts[i]))
        parts[i] = k;
  }
  Transport transport(costs, parts, fixed_, num_parts_);
  const auto is_over = [&](int k) { return transport.size(k) > sizes_.most[k]; };
  const auto is_under = [&](int k) { return transport.size(k) < sizes_.least[k]; };
  const auto has_room = [&](int k) { return transport.size(k) < sizes_.most[k]; };
  const auto can_give = [&](int k) { return transport.size(k) > sizes_.least[k]; };
  const auto any = [&](auto&& test) {
    for (int k = 0; k < num_parts_; ++k)
      if (test(k)) return true;
    return false;
  };
  while (any(is_over))
    if (!transport.augment(is_over, has_room)) return false;
  while (any(is_under))
    if (!transport.augment(can_give, is_under)) return false;
  return true;
}

}  // namespace milieu::internal
