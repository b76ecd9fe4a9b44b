// SPDX-License-Identifier: Apache-2.0
#include "milieu/crf/factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "milieu/base/assert.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

namespace {

constexpr double kMaxLabellings = 1e6;

double num_labellings(const std::vector<int>& num_labels) {
  double count = 1;
  for (const int labels : num_labels) count *= labels;
  return count;
}

// Moves to the next labelling in lexicographic order; false after the last one.
bool next_labelling(std::span<int> labels, const std::vector<int>& num_labels) {
  for (size_t i = labels.size(); i-- > 0;) {
    if (++labels[i] < num_labels[i]) return true;
    labels[i] = 0;
  }
  return false;
}

int cheapest_label(const std::vector<double>& costs) {
  return static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

bool all_equal(std::span<const int> labels) {
  return std::all_of(labels.begin(), labels.end(), [&](int label) { return label == labels[0]; });
}

}  // namespace

CrfFactor::CrfFactor(std::vector<int> variables, std::vector<int> num_labels)
    : variables_(std::move(variables)), num_labels_(std::move(num_labels)) {
  require(!variables_.empty(), "a factor needs at least one variable");
  require(variables_.size() == num_labels_.size(),
          "a factor needs one number of labels per variable");
  for (const int labels : num_labels_)
    require(labels >= 1, [&] {
      return fmt::format("a factor's variable has {}, must have at least 1",
                         counted(labels, "label"));
    });
  std::vector<int> sorted = variables_;
  std::sort(sorted.begin(), sorted.end());
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "a factor names a variable twice");
}

double CrfFactor::minimise(const CrfUnaries& unaries, std::span<const double> w,
                           std::span<int> labels) const {
  require(num_labellings(num_labels_) <= kMaxLabellings, [&] {
    return fmt::format(
        "a factor of {} has {:.3g} labellings, too many to enumerate: override its "
        "minimiser",
        counted(arity(), "variable"), num_labellings(num_labels_));
  });
  std::vector<int> candidate(variables_.size(), 0);
  double best = std::numeric_limits<double>::infinity();
  do {
    double cost = value(candidate, w);
    for (size_t i = 0; i < candidate.size(); ++i) cost += unaries[i][candidate[i]];
    if (cost < best) {
      best = cost;
      std::copy(candidate.begin(), candidate.end(), labels.begin());
    }
  } while (next_labelling(candidate, num_labels_));
  return best;
}

TableFactor::TableFactor(std::vector<int> variables, std::vector<int> num_labels,
                         std::vector<LinearCost> costs)
    : CrfFactor(std::move(variables), std::move(num_labels)), costs_(std::move(costs)) {
  const double expected = num_labellings(this->num_labels());
  require(static_cast<double>(costs_.size()) == expected, [&] {
    return fmt::format("a table of {} for {}: they must match", counted(costs_.size(), "cost"),
                       counted(expected, "labelling"));
  });
}

const LinearCost& TableFactor::cost(std::span<const int> labels) const {
  size_t index = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    index = index * static_cast<size_t>(num_labels()[i]) + static_cast<size_t>(labels[i]);
  return costs_[index];
}

double TableFactor::value(std::span<const int> labels, std::span<const double> w) const {
  return cost(labels).value(w);
}

void TableFactor::add_gradient(std::span<const int> labels, double factor,
                               std::span<double> gradient) const {
  cost(labels).add_gradient(factor, gradient);
}

PottsFactor::PottsFactor(int first, int second, int num_labels, LinearCost cost)
    : CrfFactor({first, second}, {num_labels, num_labels}), cost_(std::move(cost)) {}

double PottsFactor::value(std::span<const int> labels, std::span<const double> w) const {
  return labels[0] == labels[1] ? 0.0 : cost_.value(w);
}

void PottsFactor::add_gradient(std::span<const int> labels, double factor,
                               std::span<double> gradient) const {
  if (labels[0] != labels[1]) cost_.add_gradient(factor, gradient);
}

// For cost >= 0: both take their own cheapest label, or one label together. A negative cost asks
// for different labels and is left to the enumeration.
double PottsFactor::minimise(const CrfUnaries& unaries, std::span<const double> w,
                             std::span<int> labels) const {
  const double cost = cost_.value(w);
  if (cost < 0) return CrfFactor::minimise(unaries, w, labels);
  labels[0] = cheapest_label(unaries[0]);
  labels[1] = cheapest_label(unaries[1]);
  double best =
      unaries[0][labels[0]] + unaries[1][labels[1]] + (labels[0] == labels[1] ? 0.0 : cost);
  for (int l = 0; l < num_labels()[0]; ++l)
    if (const double together = unaries[0][l] + unaries[1][l]; together < best) {
      best = together;
      labels[0] = labels[1] = l;
    }
  return best;
}

PnFactor::PnFactor(std::vector<int> variables, std::vector<LinearCost> agree, LinearCost differ)
    : CrfFactor(variables, std::vector<int>(variables.size(), static_cast<int>(agree.size()))),
      agree_(std::move(agree)),
      differ_(std::move(differ)) {
  require(arity() >= 2, "a P^n factor needs at least two variables");
}

const LinearCost& PnFactor::cost(std::span<const int> labels) const {
  return all_equal(labels) ? agree_[labels[0]] : differ_;
}

double PnFactor::value(std::span<const int> labels, std::span<const double> w) const {
  return cost(labels).value(w);
}

void PnFactor::add_gradient(std::span<const int> labels, double factor,
                            std::span<double> gradient) const {
  cost(labels).add_gradient(factor, gradient);
}

// Either all share one label, or the cheapest labelling that is not unanimous: where the cheapest
// labels happen to agree, the variable whose change costs least changes.
double PnFactor::minimise(const CrfUnaries& unaries, std::span<const double> w,
                          std::span<int> labels) const {
  double best = differ_.value(w);
  for (size_t i = 0; i < unaries.size(); ++i) {
    labels[i] = cheapest_label(unaries[i]);
    best += unaries[i][labels[i]];
  }
  if (all_equal(labels)) {
    double least = std::numeric_limits<double>::infinity();
    std::pair<size_t, int> change{0, labels[0]};
    for (size_t i = 0; i < unaries.size(); ++i)
      for (int l = 0; l < num_labels()[i]; ++l)
        if (const double more = unaries[i][l] - unaries[i][labels[i]];
            l != labels[i] && more < least) {
          least = more;
          change = {i, l};
        }
    best += least;
    labels[change.first] = change.second;
  }
  for (int l = 0; l < static_cast<int>(agree_.size()); ++l) {
    double together = agree_[l].value(w);
    for (const std::vector<double>& costs : unaries) together += costs[l];
    if (together < best) {
      best = together;
      std::fill(labels.begin(), labels.end(), l);
    }
  }
  return best;
}

std::vector<double> PnFactor::values_by_count(std::span<const double> w) const {
  if (agree_.size() != 2) return {};
  std::vector<double> values(variables().size() + 1, differ_.value(w));
  values.front() = agree_[0].value(w);
  values.back() = agree_[1].value(w);
  return values;
}

CountFactor::CountFactor(std::vector<int> variables, std::vector<LinearCost> costs)
    : CrfFactor(variables, std::vector<int>(variables.size(), 2)), costs_(std::move(costs)) {
  require(costs_.size() == variables.size() + 1, [&] {
    return fmt::format("a count factor has {} for {}: it must have one for each count from 0 on",
                       counted(costs_.size(), "cost"), counted(variables.size(), "variable"));
  });
}

double CountFactor::value(std::span<const int> labels, std::span<const double> w) const {
  return costs_[std::count(labels.begin(), labels.end(), 1)].value(w);
}

void CountFactor::add_gradient(std::span<const int> labels, double factor,
                               std::span<double> gradient) const {
  costs_[std::count(labels.begin(), labels.end(), 1)].add_gradient(factor, gradient);
}

// For every count, the variables for which label 1 costs least more have it.
double CountFactor::minimise(const CrfUnaries& unaries, std::span<const double> w,
                             std::span<int> labels) const {
  std::vector<std::pair<double, size_t>> order;  // what label 1 costs more
  double sum = 0;
  for (size_t i = 0; i < unaries.size(); ++i) {
    order.emplace_back(unaries[i][1] - unaries[i][0], i);
    sum += unaries[i][0];
  }
  std::sort(order.begin(), order.end());
  double best = sum + costs_[0].value(w);
  size_t chosen = 0;
  for (size_t c = 1; c < costs_.size(); ++c) {
    sum += order[c - 1].first;
    if (const double cost = sum + costs_[c].value(w); cost < best) {
      best = cost;
      chosen = c;
    }
  }
  for (size_t i = 0; i < order.size(); ++i) labels[order[i].second] = i < chosen ? 1 : 0;
  return best;
}

std::vector<double> CountFactor::values_by_count(std::span<const double> w) const {
  std::vector<double> values;
  for (const LinearCost& cost : costs_) values.push_back(cost.value(w));
  return values;
}

namespace {

std::vector<int> with_first(int first, const std::vector<int>& rest) {
  std::vector<int> all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

LatentPnFactor::LatentPnFactor(int choice, std::vector<int> members, int num_labels,
                               LinearCost disagree, LinearCost none)
    : CrfFactor(with_first(choice, members),
                with_first(num_labels + 1, std::vector<int>(members.size(), num_labels))),
      disagree_(std::move(disagree)),
      none_(std::move(none)) {}

double LatentPnFactor::value(std::span<const int> labels, std::span<const double> w) const {
  if (labels[0] == num_labels()[0] - 1) return none_.value(w);
  const auto same = std::count(labels.begin() + 1, labels.end(), labels[0]);
  return static_cast<double>(arity() - 1 - same) * disagree_.value(w);
}

void LatentPnFactor::add_gradient(std::span<const int> labels, double factor,
                                  std::span<double> gradient) const {
  if (labels[0] == num_labels()[0] - 1) return none_.add_gradient(factor, gradient);
  const auto same = std::count(labels.begin() + 1, labels.end(), labels[0]);
  disagree_.add_gradient(factor * static_cast<double>(arity() - 1 - same), gradient);
}

// Given the choice, every member is on its own.
double LatentPnFactor::minimise(const CrfUnaries& unaries, std::span<const double> w,
                                std::span<int> labels) const {
  const double disagree = disagree_.value(w);
  const int num_choices = num_labels()[0];
  const auto member_label = [&](size_t i, int choice) {
    std::vector<double> costs = unaries[i];
    for (int l = 0; l < static_cast<int>(costs.size()) && choice < num_choices - 1; ++l)
      if (l != choice) costs[l] += disagree;
    const int label = cheapest_label(costs);
    return std::pair(label, costs[label]);
  };
  double best = std::numeric_limits<double>::infinity();
  for (int choice = 0; choice < num_choices; ++choice) {
    double cost = unaries[0][choice] + (choice == num_choices - 1 ? none_.value(w) : 0.0);
    for (size_t i = 1; i < unaries.size(); ++i) cost += member_label(i, choice).second;
    if (cost < best) {
      best = cost;
      labels[0] = choice;
    }
  }
  for (size_t i = 1; i < unaries.size(); ++i) labels[i] = member_label(i, labels[0]).first;
  return best;
}

}  // namespace milieu
