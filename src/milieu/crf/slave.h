// SPDX-License-Identifier: Apache-2.0
// Slaves: parts of a CRF that can be minimised exactly, whatever the unaries of their variables.
// Provided: any single factor (per clique: Potts, P^n, tables, your own), forests of pairwise
// factors by dynamic programming, and binary submodular factors, pairwise and of higher order, by
// one minimum cut.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/crf/factor.h"

namespace MILIEU_API milieu {

class CrfSlave {
 public:
  explicit CrfSlave(std::vector<std::shared_ptr<const CrfFactor>> factors);
  virtual ~CrfSlave() = default;

  // Indices in the graph, in the order in which the factors name them first.
  const std::vector<int>& variables() const { return variables_; }
  const std::vector<int>& num_labels() const { return num_labels_; }
  const std::vector<std::shared_ptr<const CrfFactor>>& factors() const { return factors_; }

  // Minimises the sum of unaries and factors, both in the order of variables(); returns the
  // minimum.
  virtual double minimise(const CrfUnaries& unaries, std::span<const double> w,
                          std::span<int> labels) const = 0;

  // Sum of the factors' values, and its gradient, at labels in the order of variables().
  double value(std::span<const int> labels, std::span<const double> w) const;
  void add_gradient(std::span<const int> labels, double factor, std::span<double> gradient) const;

 protected:
  // For each factor, the positions of its variables in variables().
  const std::vector<std::vector<int>>& places() const { return places_; }

 private:
  std::vector<int> labels_of(size_t factor, std::span<const int> labels) const;

  std::vector<std::shared_ptr<const CrfFactor>> factors_;
  std::vector<int> variables_, num_labels_;
  std::vector<std::vector<int>> places_;
};

// One factor, by its own minimiser.
class CliqueSlave : public CrfSlave {
 public:
  explicit CliqueSlave(std::shared_ptr<const CrfFactor> factor) : CrfSlave({std::move(factor)}) {}
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;
};

// Pairwise factors without a cycle. The constructor throws InvalidArgument otherwise.
class TreeSlave : public CrfSlave {
 public:
  explicit TreeSlave(std::vector<std::shared_ptr<const CrfFactor>> factors);
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;

 private:
  struct Edge {
    int factor = -1;  // -1: a root
    int parent = -1;
    bool parent_is_first = false;  // which of the factor's two variables the parent is
  };
  double edge_value(int child, int child_label, int parent_label, std::span<const double> w) const;
  std::vector<int> order_;  // parents before children
  std::vector<Edge> edge_;  // to each variable's parent
};

// One minimum cut for all of: pairwise factors of two-label variables with value(0,0) + value(1,1)
// <= value(0,1) + value(1,0); factors whose value is a concave function of the number of variables
// with label 1 (CountFactor, PnFactor); robust P^n factors (LatentPnFactor) on two-label members
// with `disagree` >= 0, whose choices are variables of the slave with three labels.
// Weights that violate this throw InvalidArgument: keep w >= 0 by the projection.
class CutSlave : public CrfSlave {
 public:
  explicit CutSlave(std::vector<std::shared_ptr<const CrfFactor>> factors);
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;
};

}  // namespace milieu
