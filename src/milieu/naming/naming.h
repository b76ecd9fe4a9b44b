// SPDX-License-Identifier: Apache-2.0
// The few labels that set each part of a set apart from the rest, and from a context: a tested
// difference, not the most frequent label. docs/experiments/naming.md has the statistic and its
// figures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/naming/evidence.h"

namespace MILIEU_API milieu {

struct NamingOptions {
  int max_labels = 3;
  double level = 0.05;
  double min_lead = 0.5;
  int num_permutations = 999;
  int num_resamples = 199;
  uint64_t seed = 1;
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(NamingOptions& o, Visitor&& v) {
  v("max_labels", o.max_labels, at_least(1), "labels per part at most");
  v("level", o.level, between(0, 1), "chance that random parts get any label");
  v("min_lead", o.min_lead, between(0, 1).advanced(),
    "leave out labels whose lead is below this fraction of the part's largest");
  v("num_permutations", o.num_permutations, between(19, 1'000'000).advanced(),
    "random parts that the parts are compared with");
  v("num_resamples", o.num_resamples, between(1, 1'000'000).advanced(),
    "resamples of the samples that say how sure a label is");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0), "threads; 0 uses all cores");
}

struct NamingInput {
  const LabelEvidence* samples = nullptr;
  // The part of every sample in [0, num_parts); kNoPart: a sample of the rest; kLeftOut: none at
  // all.
  std::span<const int> parts;
  int num_parts = 0;
  // The class of every part, where parts are pieces of classes: a label must then set a part apart
  // from the other parts of its class and from the other classes. Empty: one class.
  std::span<const int> classes;
  const LabelEvidence* context = nullptr;  // null: none

  static constexpr int kNoPart = -1, kLeftOut = -2;
};

// A label that sets a part apart.
struct PartLabel {
  int label = 0;
  double sure = 0;  // share of resamples of the samples in which the part gets it again
  double mean = 0;  // mean reciprocal rank of the label in the part
  double lead = 0;  // by how much that is above the mean of the rest, or of the context
  double p = 1;     // share of random parts with a label that leads as much
};

// The labels of every part, the largest lead first (of equal ones the lowest index); none where no
// label sets it apart: a part of fewer than two samples, no rest and no context, no difference at
// this level. A cancelled monitor gives no labels. Throws InvalidArgument for options out of range
// and inputs that do not match.
std::vector<std::vector<PartLabel>> name_parts(const NamingInput& input,
                                               const NamingOptions& options = {},
                                               Monitor& monitor = silent_monitor());

// The labels that set one sample apart from the others: those whose reciprocal rank is furthest
// above the mean of the others, which is a description and no test. `sure` is the share of the
// others with a lower value.
std::vector<PartLabel> name_sample(const LabelEvidence& samples, int64_t sample,
                                   const NamingOptions& options = {});

}  // namespace milieu
