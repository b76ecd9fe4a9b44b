// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/slave.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

CrfSlave::CrfSlave(std::vector<std::shared_ptr<const CrfFactor>> factors)
    : factors_(std::move(factors)) {
  require(!factors_.empty(), "a slave needs at least one factor");
  std::map<int, int> place_from_variable;
  for (const auto& factor : factors_) {
    std::vector<int>& places = places_.emplace_back();
    for (size_t i = 0; i < factor->variables().size(); ++i) {
      const int variable = factor->variables()[i];
      const auto [found, is_new] =
          place_from_variable.try_emplace(variable, static_cast<int>(variables_.size()));
      if (is_new) {
        variables_.push_back(variable);
        num_labels_.push_back(factor->num_labels()[i]);
      }
      require(num_labels_[found->second] == factor->num_labels()[i], [&] {
        return fmt::format(
            "variable {} has {} in one factor and {} in another: they must "
            "match",
            variable, counted(num_labels_[found->second], "label"), factor->num_labels()[i]);
      });
      places.push_back(found->second);
    }
  }
}

std::vector<int> CrfSlave::labels_of(size_t factor, std::span<const int> labels) const {
  std::vector<int> chosen;
  for (const int place : places_[factor]) chosen.push_back(labels[place]);
  return chosen;
}

double CrfSlave::value(std::span<const int> labels, std::span<const double> w) const {
  double sum = 0;
  for (size_t f = 0; f < factors_.size(); ++f) sum += factors_[f]->value(labels_of(f, labels), w);
  return sum;
}

void CrfSlave::add_gradient(std::span<const int> labels, double factor,
                            std::span<double> gradient) const {
  for (size_t f = 0; f < factors_.size(); ++f)
    factors_[f]->add_gradient(labels_of(f, labels), factor, gradient);
}

double CliqueSlave::minimise(const CrfUnaries& unaries, std::span<const double> w,
                             std::span<int> labels) const {
  return factors()[0]->minimise(unaries, w, labels);
}

TreeSlave::TreeSlave(std::vector<std::shared_ptr<const CrfFactor>> factors)
    : CrfSlave(std::move(factors)), edge_(variables().size()) {
  const int n = static_cast<int>(variables().size());
  std::vector<std::vector<int>> touching(n);
  for (int f = 0; f < static_cast<int>(this->factors().size()); ++f) {
    require(this->factors()[f]->arity() == 2, "a tree slave takes pairwise factors only");
    for (const int place : places()[f]) touching[place].push_back(f);
  }
  std::vector<char> is_reached(n, 0), is_used(this->factors().size(), 0);
  for (int root = 0; root < n; ++root) {
    if (is_reached[root]) continue;
    is_reached[root] = 1;
    order_.push_back(root);
    for (size_t i = order_.size() - 1; i < order_.size(); ++i) {
      const int parent = order_[i];
      for (const int f : touching[parent]) {
        if (is_used[f]) continue;
        is_used[f] = 1;
        const bool parent_is_first = places()[f][0] == parent;
        const int child = places()[f][parent_is_first ? 1 : 0];
        require(!is_reached[child], "the factors of a tree slave close a cycle");
        is_reached[child] = 1;
        edge_[child] = {f, parent, parent_is_first};
        order_.push_back(child);
      }
    }
  }
}

double TreeSlave::edge_value(int child, int child_label, int parent_label,
                             std::span<const double> w) const {
  const Edge& edge = edge_[child];
  const std::array<int, 2> labels = edge.parent_is_first
                                        ? std::array<int, 2>{parent_label, child_label}
                                        : std::array<int, 2>{child_label, parent_label};
  return factors()[edge.factor]->value(labels, w);
}

// Messages from the leaves to the roots, then labels from the roots to the leaves.
double TreeSlave::minimise(const CrfUnaries& unaries, std::span<const double> w,
                           std::span<int> labels) const {
  CrfUnaries best = unaries;                                 // of each subtree, by the root's label
  std::vector<std::vector<int>> choice(variables().size());  // the child's, by the parent's label
  double total = 0;
  for (size_t i = order_.size(); i-- > 0;) {
    const int child = order_[i], parent = edge_[child].parent;
    if (parent < 0) continue;
    for (int b = 0; b < num_labels()[parent]; ++b) {
      double least = std::numeric_limits<double>::infinity();
      int chosen = 0;
      for (int a = 0; a < num_labels()[child]; ++a)
        if (const double cost = best[child][a] + edge_value(child, a, b, w); cost < least) {
          least = cost;
          chosen = a;
        }
      best[parent][b] += least;
      choice[child].push_back(chosen);
    }
  }
  for (const int variable : order_) {
    if (edge_[variable].parent >= 0) {
      labels[variable] = choice[variable][labels[edge_[variable].parent]];
      continue;
    }
    const auto least = std::min_element(best[variable].begin(), best[variable].end());
    labels[variable] = static_cast<int>(least - best[variable].begin());
    total += *least;
  }
  return total;
}

}  // namespace milieu
