// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/graph_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"

namespace milieu {

namespace {

constexpr int64_t kSlavesPerBlock = 8;
constexpr double kRelativeGap = 1e-9;

int cheapest_label(const CrfGraph& graph, int variable, std::span<const double> w) {
  int best = 0;
  for (int l = 1; l < graph.num_labels(variable); ++l)
    if (graph.unary(variable, l).value(w) < graph.unary(variable, best).value(w)) best = l;
  return best;
}

}  // namespace

CrfDecomposition::CrfDecomposition(const CrfGraph& graph, int num_threads)
    : graph_(graph), num_threads_(num_threads), parts_(graph.slaves().size()) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (const int labels : graph.slaves()[i]->num_labels())
      parts_[i].duals.emplace_back(labels, 0.0);
    parts_[i].labels.resize(parts_[i].duals.size(), 0);
  }
  lone_labels_.assign(graph.num_variables(), 0);
}

double CrfDecomposition::minimise(std::span<const double> w) {
  parallel_for(static_cast<int64_t>(parts_.size()), kSlavesPerBlock, num_threads_,
               [&](const Block& block) {
                 for (int64_t i = block.begin; i < block.end; ++i) {
                   Part& part = parts_[i];
                   const CrfSlave& slave = *graph_.slaves()[i];
                   CrfUnaries unaries = part.duals;
                   for (size_t j = 0; j < unaries.size(); ++j) {
                     const int v = slave.variables()[j];
                     for (int l = 0; l < graph_.num_labels(v); ++l)
                       unaries[j][l] += graph_.unary(v, l).value(w) / graph_.num_slaves(v);
                   }
                   part.value = slave.minimise(unaries, w, part.labels);
                 }
               });
  double sum = graph_.constant();
  for (const Part& part : parts_) sum += part.value;
  for (int v = 0; v < graph_.num_variables(); ++v)
    if (graph_.num_slaves(v) == 0) {
      lone_labels_[v] = cheapest_label(graph_, v, w);
      sum += graph_.unary(v, lone_labels_[v]).value(w);
    }
  count_votes();
  return sum;
}

void CrfDecomposition::count_votes() {
  votes_.resize(graph_.num_variables());
  for (int v = 0; v < graph_.num_variables(); ++v) votes_[v].assign(graph_.num_labels(v), 0.0);
  for (size_t i = 0; i < parts_.size(); ++i)
    for (size_t j = 0; j < parts_[i].labels.size(); ++j)
      votes_[graph_.slaves()[i]->variables()[j]][parts_[i].labels[j]] += 1;
}

void CrfDecomposition::add_gradient(double factor, std::span<double> gradient) const {
  for (size_t i = 0; i < parts_.size(); ++i)
    graph_.slaves()[i]->add_gradient(parts_[i].labels, factor, gradient);
  for (int v = 0; v < graph_.num_variables(); ++v) {
    const int count = graph_.num_slaves(v);
    if (count == 0) graph_.unary(v, lone_labels_[v]).add_gradient(factor, gradient);
    for (int l = 0; l < graph_.num_labels(v) && count > 0; ++l)
      if (votes_[v][l] > 0)
        graph_.unary(v, l).add_gradient(factor * votes_[v][l] / count, gradient);
  }
}

double CrfDecomposition::squared_disagreement() const {
  double sum = 0;
  for (int v = 0; v < graph_.num_variables(); ++v)
    for (const double votes : votes_[v])
      if (votes > 0) sum += votes * (1 - votes / graph_.num_slaves(v));
  return sum;
}

void CrfDecomposition::move_duals(double step) {
  for (size_t i = 0; i < parts_.size(); ++i)
    for (size_t j = 0; j < parts_[i].labels.size(); ++j) {
      const int v = graph_.slaves()[i]->variables()[j];
      if (graph_.num_slaves(v) == 1) continue;
      std::vector<double>& dual = parts_[i].duals[j];
      for (int l = 0; l < graph_.num_labels(v); ++l)
        dual[l] +=
            step * ((parts_[i].labels[j] == l ? 1.0 : 0.0) - votes_[v][l] / graph_.num_slaves(v));
    }
}

std::vector<int> CrfDecomposition::majority() const {
  std::vector<int> labels = lone_labels_;
  for (int v = 0; v < graph_.num_variables(); ++v)
    if (graph_.num_slaves(v) > 0)
      labels[v] = static_cast<int>(std::max_element(votes_[v].begin(), votes_[v].end()) -
                                   votes_[v].begin());
  return labels;
}

GraphExample::GraphExample(CrfGraph graph, const std::vector<int>& observed, int64_t size,
                           CrfLatentStep latent_step, int num_threads)
    : graph_(std::move(graph)),
      slaves_(graph_, num_threads),
      labels_(observed),
      size_(size > 0 ? size : graph_.num_variables()),
      latent_step_(std::move(latent_step)) {
  require(static_cast<int>(observed.size()) == graph_.num_variables(), [&] {
    return fmt::format("{} observed labels for {}: they must match", observed.size(),
                       counted(graph_.num_variables(), "variable"));
  });
  for (int v = 0; v < graph_.num_variables(); ++v) {
    require(observed[v] >= -1 && observed[v] < graph_.num_labels(v), [&] {
      return fmt::format("variable {} is observed with label {}, must be -1 (latent) to {}", v,
                         observed[v], graph_.num_labels(v) - 1);
    });
    is_latent_.push_back(observed[v] < 0);
  }
}

void GraphExample::complete(std::span<const double> w) {
  for (int v = 0; v < graph_.num_variables() && !is_started_; ++v)
    if (is_latent_[v]) labels_[v] = cheapest_label(graph_, v, w);
  is_started_ = true;
  if (latent_step_) return latent_step_(w, labels_);
  graph_.improve(labels_, is_latent_, w);
}

CrfParts GraphExample::descend(std::span<const double> w, double dual_step,
                               std::span<double> gradient) {
  CrfParts parts;
  parts.energy = graph_.energy(labels_, w);
  parts.bound = slaves_.minimise(w);
  graph_.add_gradient(labels_, 1, gradient);
  slaves_.add_gradient(-1, gradient);
  slaves_.move_duals(dual_step);
  return parts;
}

CrfSolution minimise_crf(const CrfGraph& graph, std::span<const double> w, int max_rounds,
                         int num_threads, Monitor& monitor) {
  CrfDecomposition slaves(graph, num_threads);
  const std::vector<char> is_free(graph.num_variables(), 1);
  CrfSolution best;
  best.energy = std::numeric_limits<double>::infinity();
  best.bound = -best.energy;
  for (int t = 1; t <= max_rounds && (t == 1 || !monitor.should_stop()); ++t) {
    const double bound = slaves.minimise(w);
    best.bound = std::max(best.bound, bound);
    std::vector<int> labels = slaves.majority();
    graph.improve(labels, is_free, w);
    if (const double energy = graph.energy(labels, w); energy < best.energy) {
      best.energy = energy;
      best.labels = std::move(labels);
    }
    best.rounds = t;
    const double disagreement = slaves.squared_disagreement();
    if (disagreement == 0 ||
        best.energy - best.bound <= kRelativeGap * std::max(1.0, std::abs(best.energy)))
      break;
    // While no labelling of finite energy is known there is nothing to aim at.
    slaves.move_duals(std::isfinite(best.energy) ? (best.energy - bound) / disagreement : 1.0);
  }
  return best;
}

}  // namespace milieu
