// SPDX-License-Identifier: Apache-2.0
// Names for the parts of a run, from the labels that --describe gives (naming/naming.h).
#pragma once

#include <optional>
#include <string>

#include "milieu/base/export.h"
#include "milieu/input/input.h"
#include "milieu/input/labels/label_source.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

class PartNaming {
 public:
  // `path` is INPUT. Reads the labels and what they say about every sample of `input`, and of
  // `context` (null: none), so that a wrong file is found before the fit. Throws InvalidArgument
  // where the samples cannot be described: a classifier needs images, label vectors need rows.
  PartNaming(const DescribeSpec& spec, const std::string& path, const Input& input,
             const Dataset* context, int num_threads, Monitor& monitor);

  // Names the parts of `outcome`: its part_names, part_names.csv and a table in its text.
  void apply(RunOutcome& outcome, Monitor& monitor);

 private:
  ImageEvidence evidence_of(const Input& input, Monitor& monitor);
  ImageEvidence evidence_of_context(const Dataset& context, Monitor& monitor);
  void add_exemplars(RunOutcome& outcome, const NamingOptions& options) const;

  LabelSource labels_;
  std::string folder_;  // the image folder of INPUT, or the list of images; "": no images
  std::string source_;  // of the samples
  std::string max_side_;
  int num_threads_ = 0;
  ImageEvidence samples_;
  std::optional<ImageEvidence> context_;
};

}  // namespace milieu
