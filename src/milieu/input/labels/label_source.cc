// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/labels/label_source.h"

#include <fmt/format.h>

#include <unordered_map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/row_names.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/vectors/vector_file.h"
#include "milieu/naming/part_names.h"

namespace milieu {

namespace {

std::vector<std::string> read_names(const std::string& path) {
  std::vector<std::string> lines = lines_of(MappedFile::open(path)->text());
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find_first_not_of(" \t") == std::string::npos)
      throw DataError(
          fmt::format("{}: line {} is empty, must be the name of a label", path, i + 1));
  return lines;
}

// "onnx:FILE", with options; one network.
void check_classifier(const std::string& text) {
  std::vector<FeatureSpec> specs = parse_features(text);
  if (specs.size() != 1 || specs[0].entry->name != "onnx")
    throw InvalidArgument(fmt::format(
        "describe is {}, must be one classifier, onnx:FILE, or a file of label vectors", text));
}

// `known` with empty entries for the samples in between; `place` is that of each of `known`.
LabelEvidence spread(const LabelEvidence& known, const std::vector<bool>& is_known) {
  LabelEvidence all = known;
  all.offsets = {0};
  int64_t next = 0;
  for (const bool is : is_known) {
    if (is) ++next;
    all.offsets.push_back(known.offsets[static_cast<size_t>(next)]);
  }
  return all;
}

}  // namespace

LabelSource::LabelSource(const DescribeSpec& spec, int num_threads)
    : spec_(spec), num_threads_(num_threads) {
  if (spec_.describe.empty())
    throw InvalidArgument(
        fmt::format("label_names is {}, but nothing gives the labels: add --describe onnx:FILE, or "
                    "--describe with a file of label vectors",
                    spec_.label_names));
  if (!spec_.label_names.empty()) lines_ = read_names(spec_.label_names);
  if (is_classifier()) {
    check_classifier(spec_.describe);
  } else {
    VectorFile file = read_vector_file(spec_.describe, num_threads_);
    vectors_ = std::move(file.points);
    if (lines_.empty()) lines_ = std::move(file.names);
  }
  if (lines_.empty())
    throw InvalidArgument(fmt::format(
        "describe is {}, but its labels have no names: add --label-names FILE, one name per line",
        spec_.describe));
  if (!is_classifier()) take_names(vectors_.rows());
}

void LabelSource::take_names(int64_t num_scores) {
  const std::string& path = spec_.label_names.empty() ? spec_.describe : spec_.label_names;
  shown_ = shown_names(match_label_names(lines_, num_scores, path, spec_.describe));
}

void LabelSource::require_images(const std::string& root, const std::string& source) const {
  if (root.empty())
    throw InvalidArgument(
        fmt::format("describe is {}, a classifier of images, but {} is not an image folder: give "
                    "label vectors in the samples' own space instead, --describe FILE",
                    spec_.describe, source));
}

LabelEvidence LabelSource::of_points(FloatView points, const std::string& source) const {
  if (points.cols() != vectors_.cols())
    throw InvalidArgument(fmt::format(
        "{} has {}, {} has {}: label vectors must be in the samples' own space, such as text and "
        "image vectors of one CLIP model; for images, a classifier is --describe onnx:FILE",
        spec_.describe, counted(vectors_.cols(), "column"), source, points.cols()));
  return evidence_from_vectors(points, vectors_.view(), num_threads_);
}

ImageEvidence LabelSource::of_images(const std::string& path, const std::string& max_side,
                                     const std::vector<std::string>& names, Monitor& monitor) {
  ImageOptions images;
  images.feature = spec_.describe;
  images.max_side = max_side;
  LoadOptions load;
  load.num_threads = num_threads_;
  const Dataset all = open_rows(path, images, load, monitor).rows.take();
  take_names(all.points.cols());
  std::unordered_map<std::string, int64_t> row_of;
  for (size_t i = 0; i < all.sample_names.size(); ++i)
    row_of.emplace(all.sample_names[i], static_cast<int64_t>(i));
  ImageEvidence found;
  std::vector<int64_t> rows;
  for (const std::string& name : names) {
    const auto place = row_of.find(name);
    found.is_known.push_back(place != row_of.end());
    if (place != row_of.end()) rows.push_back(place->second);
  }
  const Points scores = all.points.gather(rows, num_threads_);
  found.evidence = spread(evidence_from_scores(scores.view(), num_threads_), found.is_known);
  return found;
}

}  // namespace milieu
