// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/naming_steps.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "milieu/base/parallel.h"

namespace milieu::internal {

namespace {

constexpr int64_t kBlockDraws = 32;

// A row of the samples, or of the context: -1 - row.
using PoolRow = int64_t;

// A part's own rows, then those it is compared with.
std::vector<PoolRow> pool_of(const NamingRows& rows, size_t part, Contrast contrast) {
  std::vector<PoolRow> pool = rows.part[part];
  const auto own_class = static_cast<size_t>(rows.class_of[part]);
  if (contrast == Contrast::Context) {
    for (int64_t i = 0; i < rows.num_context; ++i) pool.push_back(-1 - i);
    return pool;
  }
  const auto add = [&](const std::vector<int64_t>& more) {
    pool.insert(pool.end(), more.begin(), more.end());
  };
  if (contrast == Contrast::Siblings) {
    for (size_t k = 0; k < rows.part.size(); ++k)
      if (k != part && rows.class_of[k] == rows.class_of[part]) add(rows.part[k]);
  } else {
    for (size_t c = 0; c < rows.class_rows.size(); ++c)
      if (c != own_class) add(rows.class_rows[c]);
  }
  if (rows.has_classes() == (contrast == Contrast::Others)) add(rows.loose);
  return pool;
}

std::vector<double> dense_sums(const LabelEvidence& evidence, const std::vector<int64_t>& rows,
                               Random* resample) {
  std::vector<double> sums(static_cast<size_t>(evidence.num_labels));
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t row =
        resample ? rows[static_cast<size_t>(resample->uniform_index(std::ssize(rows)))] : rows[i];
    const auto labels = evidence.labels_of(row);
    const auto values = evidence.values_of(row);
    for (size_t e = 0; e < labels.size(); ++e) sums[static_cast<size_t>(labels[e])] += values[e];
  }
  return sums;
}

// Draws of one part for one contrast; `best[b]` rises to the largest scaled lead of draw b.
void draw_part(const NamingInput& input, const NamingRows& rows, size_t part, Contrast contrast,
               const NamingOptions& options, const std::atomic<bool>& is_cancelled,
               const std::function<bool()>& ask, std::vector<double>& best) {
  const std::vector<PoolRow> pool = pool_of(rows, part, contrast);
  const auto n = std::ssize(pool), n1 = std::ssize(rows.part[part]), n2 = n - n1;
  const auto add = [&](LabelSums& sums, PoolRow row) {
    row >= 0 ? sums.add(*input.samples, row) : sums.add(*input.context, -1 - row);
  };
  LabelSums all(input.samples->num_labels);
  for (const PoolRow row : pool) add(all, row);
  const Random stream = Random(options.seed)
                            .child(static_cast<uint64_t>(contrast))
                            .child(static_cast<uint64_t>(part));
  const double first = static_cast<double>(n1), second = static_cast<double>(n2);
  parallel_for(std::ssize(best), kBlockDraws, options.num_threads, [&](const Block& block) {
    LabelSums drawn(input.samples->num_labels);
    for (int64_t b = block.begin; b < block.end && !is_cancelled; ++b) {
      if (ask()) return;
      Random random = stream.child(static_cast<uint64_t>(b));
      for (const int64_t place : random.sample_without_replacement(n, n1))
        add(drawn, pool[static_cast<size_t>(place)]);
      double& most = best[static_cast<size_t>(b)];
      for (const int32_t label : drawn.touched()) {
        const double lead = drawn[label] / first - (all[label] - drawn[label]) / second;
        most = std::max(most, lead / lead_scale(n1, n2));
      }
      drawn.clear();
    }
  });
}

}  // namespace

NamingRows::NamingRows(const NamingInput& input) {
  part.resize(static_cast<size_t>(input.num_parts));
  class_of.assign(part.size(), 0);
  if (!input.classes.empty()) class_of.assign(input.classes.begin(), input.classes.end());
  int num_classes = 1;
  for (const int c : class_of) num_classes = std::max(num_classes, c + 1);
  class_rows.resize(static_cast<size_t>(num_classes));
  for (size_t i = 0; i < input.parts.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const int k = input.parts[i];
    if (k == NamingInput::kLeftOut) continue;
    if (k == NamingInput::kNoPart) {
      loose.push_back(row);
      continue;
    }
    part[static_cast<size_t>(k)].push_back(row);
    class_rows[static_cast<size_t>(class_of[static_cast<size_t>(k)])].push_back(row);
  }
  if (input.context) num_context = input.context->num_samples();
}

int64_t NamingRows::num_rows() const {
  auto count = static_cast<int64_t>(loose.size());
  for (const auto& rows : class_rows) count += std::ssize(rows);
  return count;
}

int64_t NamingRows::reference_size(size_t part_index, Contrast contrast) const {
  const auto& own_class = class_rows[static_cast<size_t>(class_of[part_index])];
  if (contrast == Contrast::Context) return num_context;
  if (contrast == Contrast::Others) return has_classes() ? num_rows() - std::ssize(own_class) : 0;
  const auto siblings = std::ssize(own_class) - std::ssize(part[part_index]);
  return siblings + (has_classes() ? 0 : std::ssize(loose));
}

void LabelSums::add(const LabelEvidence& evidence, int64_t row) {
  const auto labels = evidence.labels_of(row);
  const auto values = evidence.values_of(row);
  for (size_t e = 0; e < labels.size(); ++e) {
    double& sum = sums_[static_cast<size_t>(labels[e])];
    if (sum == 0) touched_.push_back(labels[e]);
    sum += values[e];
  }
}

void LabelSums::clear() {
  for (const int32_t label : touched_) sums_[static_cast<size_t>(label)] = 0;
  touched_.clear();
}

EvidenceSums sum_evidence(const NamingInput& input, const NamingRows& rows, Random* resample) {
  const LabelEvidence& evidence = *input.samples;
  EvidenceSums sums;
  sums.class_sum.assign(rows.class_rows.size(),
                        std::vector<double>(static_cast<size_t>(evidence.num_labels)));
  LabelSums own(evidence.num_labels);
  for (size_t k = 0; k < rows.part.size(); ++k) {
    const std::vector<int64_t>& members = rows.part[k];
    for (size_t i = 0; i < members.size(); ++i)
      own.add(evidence,
              resample ? members[static_cast<size_t>(resample->uniform_index(std::ssize(members)))]
                       : members[i]);
    std::vector<EvidenceSums::Entry> entries;
    for (const int32_t label : own.touched()) {
      entries.push_back({label, own[label]});
      sums.class_sum[static_cast<size_t>(rows.class_of[k])][static_cast<size_t>(label)] +=
          own[label];
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
    sums.part.push_back(std::move(entries));
    own.clear();
  }
  sums.loose = dense_sums(evidence, rows.loose, resample);
  if (input.context) {
    std::vector<int64_t> all(static_cast<size_t>(rows.num_context));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    sums.context = dense_sums(*input.context, all, resample);
  }
  return sums;
}

double contrast_lead(const EvidenceSums& sums, const NamingRows& rows, size_t part,
                     const EvidenceSums::Entry& entry, Contrast contrast) {
  const auto label = static_cast<size_t>(entry.label);
  const auto own_class = static_cast<size_t>(rows.class_of[part]);
  double reference = 0;
  if (contrast == Contrast::Context) {
    reference = sums.context[label];
  } else if (contrast == Contrast::Siblings) {
    reference = sums.class_sum[own_class][label] - entry.sum;
    if (!rows.has_classes()) reference += sums.loose[label];
  } else {
    reference = sums.loose[label];
    for (size_t c = 0; c < sums.class_sum.size(); ++c)
      if (c != own_class) reference += sums.class_sum[c][label];
  }
  return entry.sum / static_cast<double>(rows.part[part].size()) -
         reference / static_cast<double>(rows.reference_size(part, contrast));
}

std::vector<PartLabel> leading_labels(const EvidenceSums& sums, const NamingRows& rows, size_t part,
                                      const NamingOptions& options) {
  std::vector<PartLabel> labels;
  for (const EvidenceSums::Entry& entry : sums.part[part]) {
    double lead = std::numeric_limits<double>::infinity();
    for (int c = 0; c < kNumContrasts; ++c)
      if (rows.reference_size(part, Contrast{c}) > 0)
        lead = std::min(lead, contrast_lead(sums, rows, part, entry, Contrast{c}));
    if (!std::isfinite(lead) || lead <= 0) continue;
    PartLabel found;
    found.label = entry.label;
    found.mean = entry.sum / static_cast<double>(rows.part[part].size());
    found.lead = lead;
    labels.push_back(found);
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const PartLabel& a, const PartLabel& b) { return a.lead > b.lead; });
  if (std::ssize(labels) > options.max_labels)
    labels.resize(static_cast<size_t>(options.max_labels));
  std::erase_if(labels, [least = labels.empty() ? 0 : options.min_lead * labels[0].lead](
                            const PartLabel& label) { return label.lead < least; });
  return labels;
}

double lead_scale(int64_t n1, int64_t n2) {
  return std::sqrt(1 / static_cast<double>(n1) + 1 / static_cast<double>(n2));
}

std::vector<double> null_leads(const NamingInput& input, const NamingRows& rows, Contrast contrast,
                               const NamingOptions& options, Monitor& monitor) {
  std::vector<double> best(static_cast<size_t>(options.num_permutations));
  std::atomic<bool> is_cancelled = false;
  const auto ask = [&] {
    if (monitor.stop_reason() == StopReason::Cancelled) is_cancelled = true;
    return is_cancelled.load();
  };
  for (size_t part = 0; part < rows.part.size(); ++part)
    if (rows.part[part].size() >= 2 && rows.reference_size(part, contrast) > 0)
      draw_part(input, rows, part, contrast, options, is_cancelled, ask, best);
  if (is_cancelled) return {};
  return best;
}

}  // namespace milieu::internal
