// SPDX-License-Identifier: Apache-2.0
// Should a class be split? For every class a verdict with its evidence: a gap that shows on samples
// that did not choose where to look, what a classifier gains, and which other class lies between.
// docs/algorithms/icc.md says how to read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct IccAdviseOptions {
  double level = 0.05;  // of the test for a gap; a twentieth of it for a gain in accuracy
  int max_parts = 8;    // of one class
  int min_size =
      10;  // samples of a part; classes with fewer than four times as many are not judged
  int num_dims = 12;  // principal axes in which a gap is looked for
  int repeats = 3;    // of the cross-fitting: the median test counts
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(IccAdviseOptions& o, Visitor&& v) {
  v("level", o.level, between(0.0005, 0.5),
    "significance level of the test for a gap; a gain in accuracy must pass a twentieth");
  v("max_parts", o.max_parts, at_least(2), "most parts of one class");
  v("min_size", o.min_size, at_least(5),
    "samples of a part; classes with fewer than four times as many are not judged");
  v("num_dims", o.num_dims, at_least(1).alias("dims"),
    "principal axes of a class in which a gap is looked for");
  v("repeats", o.repeats, at_least(1).advanced(),
    "repetitions of the test on other folds; the median counts");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Keep: no evidence. Split: the class has a gap of its own. Context: it has none, but another class
// lies between its parts and a classifier gains clearly from telling them apart. TooFew: not
// judged.
enum class IccVerdict { Keep, Split, Context, TooFew };
// "keep", "split", "split for context", "too few samples".
const char* to_string(IccVerdict verdict);

struct IccClassAdvice {
  IccVerdict verdict = IccVerdict::Keep;
  int64_t size = 0;
  std::vector<int64_t> part_sizes;  // one entry when the class is kept
  double gap_p = 1;                 // of the test for a gap, median over repeats
  // Share of the samples that land in the same part when the cut is learned without them (of the
  // first cut; 1 for a kept class).
  double stability = 1;
  double gain = 0;    // held-out accuracy over all samples with this class split, minus without
  double gain_p = 1;  // of the sign test on the samples that change sides
  // The class with which most confusions end when this one is split; -1: none end.
  int context = -1;
  int64_t ended_confusions = 0;  // with it, on balance
};

struct IccAdviseInput {
  FloatView points;              // n x d, finite
  std::span<const int> classes;  // n, in [0, number of classes), each with a sample
};

struct IccAdvice {
  std::vector<IccClassAdvice> classes;
  std::vector<int> labels;           // n: parts, those of class 0 first
  std::vector<int> class_from_part;  // parts
  RunSummary summary;                // objective: share of the judged classes to split
};

// Throws InvalidArgument for options out of range and samples without a class, DataError for points
// that are not finite. A stopped run keeps the classes that it has not judged.
IccAdvice advise_icc(const IccAdviseInput& input, const IccAdviseOptions& options,
                     Monitor& monitor = silent_monitor());

// A line per class, with the names of the classes; empty names: their numbers.
std::string advice_text(const IccAdvice& advice, const std::vector<std::string>& class_names);

}  // namespace milieu
