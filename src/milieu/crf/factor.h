// SPDX-License-Identifier: Apache-2.0
// Factors (potentials) of a CRF: a cost of the labels of few or many variables, linear in the
// weights, that can be minimised exactly together with any unaries of its variables. Derive from
// CrfFactor to add a potential: the trainer needs nothing else.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/crf/linear_cost.h"

namespace MILIEU_API milieu {

// Costs of each label of each variable of a factor or slave, in its order of variables.
using CrfUnaries = std::vector<std::vector<double>>;

class CrfFactor {
 public:
  // The variables' indices in the graph, distinct, and their numbers of labels.
  CrfFactor(std::vector<int> variables, std::vector<int> num_labels);
  virtual ~CrfFactor() = default;

  const std::vector<int>& variables() const { return variables_; }
  const std::vector<int>& num_labels() const { return num_labels_; }
  int arity() const { return static_cast<int>(variables_.size()); }

  // `labels` are those of variables(), in that order.
  virtual double value(std::span<const int> labels, std::span<const double> w) const = 0;
  // gradient += factor * d value / dw.
  virtual void add_gradient(std::span<const int> labels, double factor,
                            std::span<double> gradient) const = 0;
  // Labels that minimise value(labels) + sum of unaries; returns the minimum. The default
  // enumerates all labellings (refused above a million of them); ties go to the first in
  // lexicographic order.
  virtual double minimise(const CrfUnaries& unaries, std::span<const double> w,
                          std::span<int> labels) const;
  // Of factors of two-label variables whose value depends only on how many have label 1: their
  // values for 0 .. arity() of them. Empty for all others. Cut slaves take those that are concave.
  virtual std::vector<double> values_by_count(std::span<const double>) const { return {}; }

 private:
  std::vector<int> variables_, num_labels_;
};

// One cost per labelling; the last variable's label runs fastest.
class TableFactor : public CrfFactor {
 public:
  // Throws InvalidArgument unless there is one cost per labelling.
  TableFactor(std::vector<int> variables, std::vector<int> num_labels,
              std::vector<LinearCost> costs);
  double value(std::span<const int> labels, std::span<const double> w) const override;
  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override;

 private:
  const LinearCost& cost(std::span<const int> labels) const;
  std::vector<LinearCost> costs_;
};

// Potts: `cost` where two variables of the same number of labels differ.
class PottsFactor : public CrfFactor {
 public:
  PottsFactor(int first, int second, int num_labels, LinearCost cost);
  double value(std::span<const int> labels, std::span<const double> w) const override;
  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override;
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;

 private:
  LinearCost cost_;
};

// P^n Potts [Kohli07]: `agree[l]` where all variables have label l, `differ` otherwise. Exact for
// any costs.
class PnFactor : public CrfFactor {
 public:
  PnFactor(std::vector<int> variables, std::vector<LinearCost> agree, LinearCost differ);
  double value(std::span<const int> labels, std::span<const double> w) const override;
  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override;
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;
  std::vector<double> values_by_count(std::span<const double> w) const override;

 private:
  const LinearCost& cost(std::span<const int> labels) const;
  std::vector<LinearCost> agree_;
  LinearCost differ_;
};

// costs[c] where c of the variables, which have two labels each, have label 1
// [Komodakis11, Eq. 20]: any function of the count, exact by sorting.
class CountFactor : public CrfFactor {
 public:
  // Throws InvalidArgument unless there is one cost for each of 0 .. number of variables.
  CountFactor(std::vector<int> variables, std::vector<LinearCost> costs);
  double value(std::span<const int> labels, std::span<const double> w) const override;
  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override;
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;
  std::vector<double> values_by_count(std::span<const double> w) const override;

 private:
  std::vector<LinearCost> costs_;
};

// Robust P^n [Kohli08] with its latent choice as a variable: the first variable, `choice`, has one
// more label than the others. Choice l < L says "this clique has label l": every other member
// pays `disagree`; choice L says "it has none" and pays `none` once. Minimised over the choice it
// is the truncated P^n potential.
class LatentPnFactor : public CrfFactor {
 public:
  LatentPnFactor(int choice, std::vector<int> members, int num_labels, LinearCost disagree,
                 LinearCost none);
  double value(std::span<const int> labels, std::span<const double> w) const override;
  void add_gradient(std::span<const int> labels, double factor,
                    std::span<double> gradient) const override;
  double minimise(const CrfUnaries& unaries, std::span<const double> w,
                  std::span<int> labels) const override;

  double disagree(std::span<const double> w) const { return disagree_.value(w); }
  double none(std::span<const double> w) const { return none_.value(w); }

 private:
  LinearCost disagree_, none_;
};

}  // namespace milieu
