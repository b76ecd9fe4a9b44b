// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

namespace {

std::vector<int> labels_at(const std::vector<int>& variables, std::span<const int> labels) {
  std::vector<int> chosen;
  chosen.reserve(variables.size());
  for (const int v : variables) chosen.push_back(labels[v]);
  return chosen;
}

}  // namespace

int CrfGraph::add_variable(std::vector<LinearCost> unaries) {
  require(!unaries.empty(), "a variable needs at least one label");
  unaries_.push_back(std::move(unaries));
  num_slaves_.push_back(0);
  factors_of_.emplace_back();
  return num_variables() - 1;
}

void CrfGraph::add_slave(std::shared_ptr<const CrfSlave> slave) {
  for (size_t i = 0; i < slave->variables().size(); ++i) {
    const int v = slave->variables()[i];
    require(v >= 0 && v < num_variables(), [&] {
      return fmt::format("a slave names variable {}, the graph has {}: add it first", v,
                         num_variables());
    });
    require(slave->num_labels()[i] == num_labels(v), [&] {
      return fmt::format("variable {} has {} in a slave and {} in the graph: they must match", v,
                         counted(slave->num_labels()[i], "label"), num_labels(v));
    });
    ++num_slaves_[v];
  }
  for (const auto& factor : slave->factors())
    for (const int v : factor->variables()) factors_of_[v].push_back(factor.get());
  slaves_.push_back(std::move(slave));
}

void CrfGraph::add_clique(std::shared_ptr<const CrfFactor> factor) {
  add_slave(std::make_shared<CliqueSlave>(std::move(factor)));
}

void CrfGraph::add_to_wrong_labels(int variable, int right, double amount) {
  for (int l = 0; l < num_labels(variable); ++l)
    if (l != right) unaries_[variable][l].constant += amount;
}

double CrfGraph::energy(std::span<const int> labels, std::span<const double> w) const {
  double sum = constant_;
  for (int v = 0; v < num_variables(); ++v) sum += unary(v, labels[v]).value(w);
  for (const auto& slave : slaves_) sum += slave->value(labels_at(slave->variables(), labels), w);
  return sum;
}

void CrfGraph::add_gradient(std::span<const int> labels, double factor,
                            std::span<double> gradient) const {
  for (int v = 0; v < num_variables(); ++v) unary(v, labels[v]).add_gradient(factor, gradient);
  for (const auto& slave : slaves_)
    slave->add_gradient(labels_at(slave->variables(), labels), factor, gradient);
}

double CrfGraph::local_cost(int variable, std::span<int> labels, std::span<const double> w) const {
  double sum = unary(variable, labels[variable]).value(w);
  for (const CrfFactor* factor : factors_of_[variable])
    sum += factor->value(labels_at(factor->variables(), labels), w);
  return sum;
}

int64_t CrfGraph::improve(std::span<int> labels, std::span<const char> is_free,
                          std::span<const double> w) const {
  int64_t num_changes = 0;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (int v = 0; v < num_variables(); ++v) {
      if (is_free[v] == 0) continue;
      int best = labels[v];
      double least = local_cost(v, labels, w);
      for (int l = 0; l < num_labels(v); ++l) {
        labels[v] = l;
        // A real gain only: sums in another order must not make it turn in circles.
        if (const double cost = local_cost(v, labels, w); cost < least - 1e-12) {
          least = cost;
          if (l != best) ++num_changes, has_changed = true;
          best = l;
        }
      }
      labels[v] = best;
    }
  }
  return num_changes;
}

}  // namespace milieu
