// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/part_naming.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/naming/naming.h"

namespace milieu {

namespace {

// The image folder of INPUT, or INPUT itself where it lists images: a list may name images far
// apart, below a folder with many others.
std::string folder_of(const std::string& path, const Input& input) {
  const std::string& root = input.kind == SampleKind::Patches     ? input.patches.root
                            : input.kind == SampleKind::Keypoints ? input.places.root
                                                                  : input.images.root;
  return !root.empty() && path.ends_with(".txt") ? path : root;
}

ImageEvidence all_known(LabelEvidence evidence) {
  ImageEvidence out;
  out.is_known.assign(static_cast<size_t>(evidence.num_samples()), true);
  out.evidence = std::move(evidence);
  return out;
}

// Only the samples that are known.
LabelEvidence known_only(const ImageEvidence& images) {
  LabelEvidence known = images.evidence;
  known.offsets = {0};
  for (size_t i = 0; i < images.is_known.size(); ++i)
    if (images.is_known[i]) known.offsets.push_back(images.evidence.offsets[i + 1]);
  return known;
}

// A list of the summary; empty where there is none.
std::vector<int64_t> list_of(const RunSummary& summary, std::string_view name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name)
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list;
  return {};
}

}  // namespace

PartNaming::PartNaming(const DescribeSpec& spec, const std::string& path, const Input& input,
                       const Dataset* context, int num_threads, Monitor& monitor)
    : labels_(spec, num_threads),
      folder_(folder_of(path, input)),
      source_(input.data.source),
      max_side_(input.images.max_side),
      num_threads_(num_threads) {
  samples_ = evidence_of(input, monitor);
  if (context) context_ = evidence_of_context(*context, monitor);
}

ImageEvidence PartNaming::evidence_of(const Input& input, Monitor& monitor) {
  if (labels_.is_classifier()) {
    labels_.require_images(folder_, source_);
    const bool has_keypoints = input.kind == SampleKind::Keypoints;
    return labels_.of_images(folder_, max_side_,
                             has_keypoints ? input.places.paths : input.data.sample_names, monitor);
  }
  if (input.kind != SampleKind::Points)
    throw InvalidArgument(fmt::format(
        "describe is {}, label vectors, but the samples here are {}: {}", labels_.text(),
        input.kind == SampleKind::Views ? "several views" : "patches of images",
        input.kind == SampleKind::Views
            ? "leave it out, and name the parts in Python with milieu.describe"
            : "give a classifier of images instead, --describe onnx:FILE"));
  return all_known(labels_.of_points(input.data.points.view(), source_));
}

// Rows of INPUT, or those of another file or folder.
ImageEvidence PartNaming::evidence_of_context(const Dataset& context, Monitor& monitor) {
  if (!labels_.is_classifier())
    return all_known(labels_.of_points(context.points.view(), context.source));
  std::string folder = folder_;
  if (context.source != source_)
    folder = is_feature_input(context.source) ? open_feature_folder(context.source).found_source()
                                              : context.source;
  if (!is_image_folder(folder) && !folder.ends_with(".txt"))
    throw InvalidArgument(
        fmt::format("describe is {}, a classifier of images, but the context {} is not an image "
                    "folder: give label vectors instead, or an image folder as context",
                    labels_.text(), context.source));
  return labels_.of_images(folder, max_side_, context.sample_names, monitor);
}

void PartNaming::apply(RunOutcome& outcome, Monitor& monitor) {
  std::vector<int> parts = outcome.row_labels.empty() ? outcome.labels : outcome.row_labels;
  if (parts.size() != samples_.is_known.size()) {
    outcome.summary.warnings.push_back(
        "the parts were not named: the labels are not those of the described samples");
    return;
  }
  auto num_parts = static_cast<int>(outcome.summary.sizes.size());
  for (const int part : parts) num_parts = std::max(num_parts, part + 1);
  int64_t num_unknown = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (samples_.is_known[i]) continue;
    parts[i] = NamingInput::kLeftOut;
    ++num_unknown;
  }
  if (!context_ && outcome.context) context_ = evidence_of_context(*outcome.context, monitor);
  NamingInput input;
  input.samples = &samples_.evidence;
  input.parts = parts;
  input.num_parts = num_parts;
  if (std::ssize(outcome.part_classes) == num_parts) input.classes = outcome.part_classes;
  const LabelEvidence context = context_ ? known_only(*context_) : LabelEvidence();
  if (context.num_samples() > 0) input.context = &context;
  NamingOptions options;
  options.seed = outcome.summary.seed;
  options.num_threads = num_threads_;
  for (const auto& labels : name_parts(input, options, monitor))
    outcome.part_names.push_back({with_names(labels, labels_.names()), {}});
  add_exemplars(outcome, options);
  if (num_unknown > 0)
    outcome.summary.warnings.push_back(
        fmt::format("{} could not be classified by {}: the names of the parts do not count them",
                    counted(num_unknown, "image"), labels_.text()));
  if (monitor.stop_reason() == StopReason::Cancelled)
    outcome.summary.warnings.push_back("the parts were not named: the run was cancelled");
  outcome.text += part_names_text(outcome.part_names);
  outcome.files.push_back({"part_names.csv", part_names_csv(outcome.part_names)});
}

// What sets the exemplar itself apart, beside its cluster.
void PartNaming::add_exemplars(RunOutcome& outcome, const NamingOptions& options) const {
  const std::vector<int64_t> exemplars = list_of(outcome.summary, "exemplars");
  for (size_t k = 0; k < std::min(exemplars.size(), outcome.part_names.size()); ++k) {
    const auto row = static_cast<size_t>(exemplars[k]);
    if (row < samples_.is_known.size() && samples_.is_known[row])
      outcome.part_names[k].exemplar =
          with_names(name_sample(samples_.evidence, exemplars[k], options), labels_.names());
  }
}

}  // namespace milieu
