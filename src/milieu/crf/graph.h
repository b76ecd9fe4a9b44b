// SPDX-License-Identifier: Apache-2.0
// A CRF on a hypergraph: variables with unaries, factors, and the slaves that the factors are
// divided into [Komodakis11, section 5]. Example: two binary variables that prefer to agree.
//
//   CrfGraph graph;
//   const int a = graph.add_variable({constant_cost(0), weighted_cost(0, 1.5)});
//   const int b = graph.add_variable({weighted_cost(0), constant_cost(0)});
//   graph.add_clique(std::make_shared<PottsFactor>(a, b, 2, weighted_cost(1)));
//   const CrfSolution best = minimise_crf(graph, w);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/crf/linear_cost.h"
#include "milieu/crf/slave.h"

namespace MILIEU_API milieu {

class CrfGraph {
 public:
  // Takes the cost of each label, at least one; returns the variable's index.
  int add_variable(std::vector<LinearCost> unaries);
  // The slave's variables must exist with these numbers of labels (else InvalidArgument).
  void add_slave(std::shared_ptr<const CrfSlave> slave);
  // A factor as a separate slave.
  void add_clique(std::shared_ptr<const CrfFactor> factor);
  // Adds a constant to the energy.
  void add_constant(double value) { constant_ += value; }
  // cost[l] += amount for all labels but `right`: with a negative amount, the margin of a variable
  // whose true label is `right`.
  void add_to_wrong_labels(int variable, int right, double amount);

  int num_variables() const { return static_cast<int>(unaries_.size()); }
  int num_labels(int variable) const { return static_cast<int>(unaries_[variable].size()); }
  const LinearCost& unary(int variable, int label) const { return unaries_[variable][label]; }
  const std::vector<std::shared_ptr<const CrfSlave>>& slaves() const { return slaves_; }
  // Number of slaves with this variable; a variable without slaves is minimised alone.
  int num_slaves(int variable) const { return num_slaves_[variable]; }
  double constant() const { return constant_; }

  double energy(std::span<const int> labels, std::span<const double> w) const;
  void add_gradient(std::span<const int> labels, double factor, std::span<double> gradient) const;

  // Iterated conditional modes: each variable with is_free takes its cheapest label until none
  // changes. The energy never rises. Returns the number of changes.
  int64_t improve(std::span<int> labels, std::span<const char> is_free,
                  std::span<const double> w) const;

 private:
  double local_cost(int variable, std::span<int> labels, std::span<const double> w) const;

  std::vector<std::vector<LinearCost>> unaries_;
  std::vector<std::shared_ptr<const CrfSlave>> slaves_;
  std::vector<int> num_slaves_;                            // by variable
  std::vector<std::vector<const CrfFactor*>> factors_of_;  // by variable
  double constant_ = 0;
};

struct CrfSolution {
  std::vector<int> labels;
  double energy = 0;
  double bound = 0;  // no labelling has less energy
  int rounds = 0;
};

// Minimum energy by dual decomposition: Polyak steps on the duals; the labellings are majorities of
// the slaves, improved by single changes. Ends when energy and bound meet (to 1e-9 relative) or
// after `max_rounds`.
CrfSolution minimise_crf(const CrfGraph& graph, std::span<const double> w, int max_rounds = 200,
                         int num_threads = 0, Monitor& monitor = silent_monitor());

}  // namespace milieu
