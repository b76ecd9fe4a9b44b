// SPDX-License-Identifier: Apache-2.0
// Problem      Which labels describe a part of a set, and not the rest of the set, nor its context?
// Given        scores of labels for every sample, as reciprocal ranks (evidence.h); parts; perhaps
//              a context, perhaps a class of every part.
// Find         for every part at most max_labels labels, and how sure each is.
// Symbols      r(i, l)   reciprocal rank of label l for sample i, 0 beyond the tenth
//              m(A, l)   mean of r(i, l) over the samples i of A
//              lead      min over the contrasts C of part P of m(P, l) - m(C, l)
// Test         For each contrast, P and C are pooled and |P| samples are drawn without replacement,
//              for every part; the largest lead of any label and any part, each divided by
//              sqrt(1/|P| + 1/|C|), is one draw of the null distribution. p is the share of draws
//              that reach the lead, (1 + count) / (1 + draws): the maximum corrects for the number
//              of labels and of parts, however they depend on each other [Westfall93]. A label must
//              pass every contrast, so that its p is the largest of them [Berger82].
// How sure     Samples are drawn again with replacement within their part; `sure` is the share of
//              such resamples in which the label is again among the part's leading labels and
//              passes the same test.
// Conventions  Ties: the lowest label first. A part of one sample gets no label. A sample without
//              a part belongs to the rest.
// See          docs/experiments/naming.md.
#include "milieu/naming/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/naming/naming_steps.h"

namespace milieu {

namespace {

using internal::Contrast;
using internal::EvidenceSums;
using internal::kNumContrasts;
using internal::NamingRows;

constexpr double kRounding = 1e-9;  // sums of equal numbers in another order differ by less

void check(const NamingInput& input, const NamingOptions& options) {
  NamingOptions copy = options;
  validate_fields(fields_of(copy));
  require(input.samples != nullptr, "naming parts needs the samples' evidence");
  if (std::ssize(input.parts) != input.samples->num_samples())
    throw InvalidArgument(fmt::format("there are {} and scores of {}: they must match",
                                      counted(std::ssize(input.parts), "label"),
                                      counted(input.samples->num_samples(), "sample")));
  for (const int part : input.parts)
    if (part < NamingInput::kLeftOut || part >= input.num_parts)
      throw InvalidArgument(fmt::format("a part is {}, must be -1 or below the number of parts, {}",
                                        part, input.num_parts));
  if (!input.classes.empty() && std::ssize(input.classes) != input.num_parts)
    throw InvalidArgument(fmt::format("classes has {}, there are {}: one class per part",
                                      counted(std::ssize(input.classes), "entry", "entries"),
                                      counted(input.num_parts, "part")));
  for (const int c : input.classes)
    if (c < 0)
      throw InvalidArgument(fmt::format("the class of a part is {}, must be 0 or more", c));
  if (input.context && input.context->num_labels != input.samples->num_labels)
    throw InvalidArgument(fmt::format("the context has scores of {}, the samples of {}",
                                      counted(input.context->num_labels, "label"),
                                      input.samples->num_labels));
}

// The share of the null distribution that reaches `value`.
double share_at_least(const std::vector<double>& ascending, double value) {
  const auto below =
      std::lower_bound(ascending.begin(), ascending.end(), value - kRounding) - ascending.begin();
  const auto count = static_cast<double>(std::ssize(ascending) - below);
  return (1 + count) / (1 + static_cast<double>(ascending.size()));
}

// The largest p over the contrasts that the part has.
double p_value(const EvidenceSums& sums, const NamingRows& rows, size_t part, int label,
               const std::vector<std::vector<double>>& nulls) {
  const auto found =
      std::lower_bound(sums.part[part].begin(), sums.part[part].end(), label,
                       [](const EvidenceSums::Entry& e, int value) { return e.label < value; });
  double p = 0;
  for (int c = 0; c < kNumContrasts; ++c) {
    const int64_t n2 = rows.reference_size(part, Contrast{c});
    if (n2 == 0) continue;
    const double lead = internal::contrast_lead(sums, rows, part, *found, Contrast{c});
    const double scaled = lead / internal::lead_scale(std::ssize(rows.part[part]), n2);
    p = std::max(p, share_at_least(nulls[static_cast<size_t>(c)], scaled));
  }
  return p;
}

// How often each part gets each label in resamples: one map per part.
using LabelCounts = std::vector<std::map<int, int>>;

// The leading labels that pass the test, with their p.
std::vector<PartLabel> tested_labels(const EvidenceSums& sums, const NamingRows& rows, size_t part,
                                     const std::vector<std::vector<double>>& nulls,
                                     const NamingOptions& options) {
  std::vector<PartLabel> labels = internal::leading_labels(sums, rows, part, options);
  for (PartLabel& label : labels) label.p = p_value(sums, rows, part, label.label, nulls);
  std::erase_if(labels, [&](const PartLabel& label) { return label.p > options.level; });
  return labels;
}

LabelCounts count_resamples(const NamingInput& input, const NamingRows& rows,
                            const std::vector<std::vector<double>>& nulls,
                            const NamingOptions& options, Monitor& monitor) {
  const auto num_parts = rows.part.size();
  std::vector<LabelCounts> by_resample(static_cast<size_t>(options.num_resamples));
  const Random stream = Random(options.seed).child(kNumContrasts);
  parallel_for(options.num_resamples, 1, options.num_threads, [&](const Block& block) {
    if (monitor.stop_reason() == StopReason::Cancelled) return;
    Random random = stream.child(static_cast<uint64_t>(block.index));
    const EvidenceSums sums = internal::sum_evidence(input, rows, &random);
    LabelCounts& counts = by_resample[static_cast<size_t>(block.index)];
    counts.resize(num_parts);
    for (size_t k = 0; k < num_parts; ++k)
      for (const PartLabel& label : tested_labels(sums, rows, k, nulls, options))
        counts[k][label.label] = 1;
  });
  LabelCounts total(num_parts);
  for (const LabelCounts& counts : by_resample)
    for (size_t k = 0; k < counts.size(); ++k)
      for (const auto& [label, count] : counts[k]) total[k][label] += count;
  return total;
}

}  // namespace

std::vector<std::vector<PartLabel>> name_parts(const NamingInput& input,
                                               const NamingOptions& options, Monitor& monitor) {
  check(input, options);
  const NamingRows rows(input);
  std::vector<std::vector<PartLabel>> names(rows.part.size());
  std::vector<std::vector<double>> nulls;
  for (int c = 0; c < kNumContrasts; ++c) {
    nulls.push_back(internal::null_leads(input, rows, Contrast{c}, options, monitor));
    std::sort(nulls.back().begin(), nulls.back().end());
  }
  const EvidenceSums sums = internal::sum_evidence(input, rows, nullptr);
  if (monitor.stop_reason() == StopReason::Cancelled) return names;
  const LabelCounts counts = count_resamples(input, rows, nulls, options, monitor);
  if (monitor.stop_reason() == StopReason::Cancelled) return names;
  for (size_t k = 0; k < names.size(); ++k) {
    if (rows.part[k].size() < 2) continue;
    names[k] = tested_labels(sums, rows, k, nulls, options);
    for (PartLabel& label : names[k]) {
      const auto found = counts[k].find(label.label);
      label.sure = found == counts[k].end() ? 0.0
                                            : static_cast<double>(found->second) /
                                                  static_cast<double>(options.num_resamples);
    }
  }
  return names;
}

std::vector<PartLabel> name_sample(const LabelEvidence& samples, int64_t sample,
                                   const NamingOptions& options) {
  std::vector<int> parts(static_cast<size_t>(samples.num_samples()), NamingInput::kNoPart);
  parts.at(static_cast<size_t>(sample)) = 0;
  NamingInput input;
  input.samples = &samples;
  input.parts = parts;
  input.num_parts = 1;
  check(input, options);
  const NamingRows rows(input);
  std::vector<PartLabel> labels =
      internal::leading_labels(internal::sum_evidence(input, rows, nullptr), rows, 0, options);
  for (PartLabel& label : labels) {
    int64_t lower = 0;
    for (const int64_t row : rows.loose) {
      const auto own = samples.labels_of(row);
      const auto found = std::lower_bound(own.begin(), own.end(), label.label);
      const bool has = found != own.end() && *found == label.label;
      const double value =
          has ? samples.values_of(row)[static_cast<size_t>(found - own.begin())] : 0.0;
      lower += value < label.mean;
    }
    label.sure = static_cast<double>(lower) / static_cast<double>(rows.loose.size());
  }
  return labels;
}

}  // namespace milieu
