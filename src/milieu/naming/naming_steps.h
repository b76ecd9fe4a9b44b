// SPDX-License-Identifier: Apache-2.0
// The steps of naming parts, for naming.cc and its tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/naming/naming.h"

namespace milieu::internal {

// What a part is compared with.
enum class Contrast { Siblings, Others, Context };
inline constexpr int kNumContrasts = 3;

// Rows of the samples by part and by class, and those that belong to no part.
struct NamingRows {
  explicit NamingRows(const NamingInput& input);

  std::vector<std::vector<int64_t>> part;        // rows of each part
  std::vector<int> class_of;                     // of each part
  std::vector<std::vector<int64_t>> class_rows;  // rows of the parts of each class
  std::vector<int64_t> loose;                    // in no part: siblings of all, or others
  int64_t num_context = 0;

  bool has_classes() const { return class_rows.size() > 1; }
  int64_t num_rows() const;  // in any part or loose
  // How many samples a part is compared with; 0: there is no such contrast.
  int64_t reference_size(size_t part_index, Contrast contrast) const;
};

// Sums of evidence by label over some rows: dense, for one thread.
class LabelSums {
 public:
  explicit LabelSums(int64_t num_labels) : sums_(static_cast<size_t>(num_labels)) {}
  void add(const LabelEvidence& evidence, int64_t row);
  void clear();
  double operator[](int32_t label) const { return sums_[static_cast<size_t>(label)]; }
  const std::vector<int32_t>& touched() const { return touched_; }

 private:
  std::vector<double> sums_;
  std::vector<int32_t> touched_;
};

// Sums of every part (sparse, labels ascending), of every class, of the loose rows and the context.
struct EvidenceSums {
  struct Entry {
    int32_t label = 0;
    double sum = 0;
  };
  std::vector<std::vector<Entry>> part;
  std::vector<std::vector<double>> class_sum;  // class x label
  std::vector<double> loose, context;          // by label
};

// Which rows are summed: as they are, or drawn again with replacement within each part, the loose
// rows and the context.
EvidenceSums sum_evidence(const NamingInput& input, const NamingRows& rows, Random* resample);

// The difference of means of a label between a part and what it is compared with.
double contrast_lead(const EvidenceSums& sums, const NamingRows& rows, size_t part,
                     const EvidenceSums::Entry& entry, Contrast contrast);

// The labels with the largest leads over all contrasts, at most max_labels, none below min_lead of
// the largest; `mean` and `lead` are set.
std::vector<PartLabel> leading_labels(const EvidenceSums& sums, const NamingRows& rows, size_t part,
                                      const NamingOptions& options);

// What a lead of sizes n1 and n2 is divided by, so that parts of all sizes have one null
// distribution: sqrt(1 / n1 + 1 / n2).
double lead_scale(int64_t n1, int64_t n2);

// The largest scaled lead of any label and part, for each of num_permutations random draws of every
// part from itself and what it is compared with. Empty when the monitor was cancelled.
std::vector<double> null_leads(const NamingInput& input, const NamingRows& rows, Contrast contrast,
                               const NamingOptions& options, Monitor& monitor);

}  // namespace milieu::internal
