// SPDX-License-Identifier: Apache-2.0
// A training example on any graph of graph.h: slaves with duals, observed and latent variables.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/crf/graph.h"
#include "milieu/crf/train.h"

namespace MILIEU_API milieu {

// The slaves of a graph with their duals, for training and minimise_crf.
class CrfDecomposition {
 public:
  // `graph` must outlive it. All duals are 0.
  explicit CrfDecomposition(const CrfGraph& graph, int num_threads = 0);

  // Minimises every slave at unary / (number of slaves) + dual [Komodakis11, section 5]; returns
  // the sum of the minima: a lower bound of the energy.
  double minimise(std::span<const double> w);
  // gradient += factor * d (sum of the minima) / dw, at the slaves' labels.
  void add_gradient(double factor, std::span<double> gradient) const;
  // Sum of squared disagreements: 0 when every variable has one label in all its slaves.
  double squared_disagreement() const;
  // dual_i(l) += step (x_i(l) - mean over the slaves of x(l)): duals of a variable keep the sum 0.
  void move_duals(double step);
  // The label most slaves choose; ties to the lowest. Variables without slaves: the cheapest one.
  std::vector<int> majority() const;

 private:
  struct Part {
    CrfUnaries duals;
    std::vector<int> labels;
    double value = 0;
  };
  void count_votes();

  const CrfGraph& graph_;
  int num_threads_;
  std::vector<Part> parts_;                 // by slave
  std::vector<std::vector<double>> votes_;  // by variable and label: how many slaves chose it
  std::vector<int> lone_labels_;            // of variables without slaves
};

// The latent step: may change the labels of latent variables only, and must not raise the energy.
using CrfLatentStep = std::function<void(std::span<const double> w, std::span<int> labels)>;

class GraphExample : public CrfExample {
 public:
  // `graph` is Ebar: the energy minus the margin, which must be 0 at every completion of the
  // observed labels. `observed` has one entry per variable: its label, or -1 for a latent one.
  // `size` is what the loss is divided by; 0: the number of variables. Without a `latent_step`
  // latent variables start at their cheapest labels and improve one by one.
  GraphExample(CrfGraph graph, const std::vector<int>& observed, int64_t size = 0,
               CrfLatentStep latent_step = {}, int num_threads = 0);
  GraphExample(const GraphExample&) = delete;  // the slaves refer to the graph inside
  GraphExample& operator=(const GraphExample&) = delete;

  int64_t size() const override { return size_; }
  void complete(std::span<const double> w) override;
  CrfParts descend(std::span<const double> w, double dual_step,
                   std::span<double> gradient) override;

  const CrfGraph& graph() const { return graph_; }
  const std::vector<int>& labels() const { return labels_; }

 private:
  CrfGraph graph_;
  CrfDecomposition slaves_;
  std::vector<int> labels_;
  std::vector<char> is_latent_;
  bool is_started_ = false;
  int64_t size_;
  CrfLatentStep latent_step_;
};

}  // namespace milieu
