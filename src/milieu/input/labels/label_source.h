// SPDX-License-Identifier: Apache-2.0
// Labels that describe samples: a classifier of images, or label vectors in the samples' own space.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/data/points.h"
#include "milieu/naming/evidence.h"

namespace MILIEU_API milieu {

// What parts get their names from. Empty texts mean "not given".
struct DescribeSpec {
  std::string describe = {};
  std::string label_names = {};

  bool is_classifier() const { return describe.starts_with("onnx:"); }
};

template <class Visitor>
void visit_fields(DescribeSpec& o, Visitor&& v) {
  v("describe", o.describe, anything(),
    "name the parts: onnx:FILE, a classifier of images with one score per label, or a file of "
    "label vectors in the samples' own space (.npy, .npz, .safetensors)");
  v("label_names", o.label_names, anything(),
    "the names of the labels of --describe, one per line");
}

// The evidence of images, and which of them have any: an image that cannot be decoded has not.
struct ImageEvidence {
  LabelEvidence evidence;
  std::vector<bool> is_known;
};

class LabelSource {
 public:
  // Reads names and label vectors; a classifier is run by of_images. Throws InvalidArgument,
  // DataError or IoError.
  LabelSource(const DescribeSpec& spec, int num_threads);

  bool is_classifier() const { return spec_.is_classifier(); }
  // A classifier needs images: throws InvalidArgument when `root` is empty. `source` is INPUT.
  void require_images(const std::string& root, const std::string& source) const;
  const std::string& text() const { return spec_.describe; }  // --describe, for messages
  // As they are shown; a classifier's are known once it was run.
  const std::vector<std::string>& names() const { return shown_; }

  // Of rows in the space of the label vectors; `source` names them in messages.
  LabelEvidence of_points(FloatView points, const std::string& source) const;
  // Of images, by their names below the image folder (or those in the list) `path`. The classifier
  // runs on all images of the folder, through the feature cache.
  ImageEvidence of_images(const std::string& path, const std::string& max_side,
                          const std::vector<std::string>& names, Monitor& monitor);

 private:
  void take_names(int64_t num_scores);

  DescribeSpec spec_;
  int num_threads_ = 0;
  std::vector<std::string> lines_;  // of --label-names, or of the vectors' own names
  std::vector<std::string> shown_;
  Points vectors_;
};

}  // namespace milieu
