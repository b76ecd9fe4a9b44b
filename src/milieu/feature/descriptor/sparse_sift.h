// SPDX-License-Identifier: Apache-2.0
// SIFT at keypoints: extrema of the difference of Gaussians over space and scale, each with its own
// scale and orientation [Lowe04]. Detection and description are OpenCV's.
//
// An image is taken as smoothed by 0.5 pixels and doubled first; the finest keypoints have a scale
// of about 1. The descriptor is turned by the keypoint's angle and covers 4 x 4 bins of 3 scales
// each, with a Gaussian window; it has norm 1, in steps of 1/512. A point with several strong
// orientations counts several times.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct SparseSiftOptions {
  // Scales (standard deviations in pixels) outside [min_scale, max_scale] are left out; max_scale 0
  // means no limit. [Yuan08, section 3.2] takes 1 to 2.
  double min_scale = 0;
  double max_scale = 0;
  int max_num_keypoints = 0;         // the strongest; 0: all
  double contrast_threshold = 0.04;  // weaker extrema are left out; smaller: more keypoints
  double edge_threshold = 10;        // longer edges are left out; larger: more keypoints
  bool upright = false;              // all angles 0: rotated patches get different descriptors
  bool root = false;                 // RootSIFT [Arandjelovic12]
};

template <class Visitor>
void visit_fields(SparseSiftOptions& o, Visitor&& v) {
  v("min_scale", o.min_scale, at_least(0), "smallest scale of a keypoint in pixels");
  v("max_scale", o.max_scale, at_least(0), "largest scale of a keypoint in pixels; 0: no limit");
  v("max_num_keypoints", o.max_num_keypoints, at_least(0), "keep the strongest; 0: all");
  v("contrast_threshold", o.contrast_threshold, between(0, 1), "weaker keypoints are dropped");
  v("edge_threshold", o.edge_threshold, at_least(1), "keypoints on longer edges are dropped");
  v("upright", o.upright, anything(), "do not rotate descriptors by the keypoint's angle");
  v("root", o.root, anything(), "RootSIFT: square roots of the descriptor's L1-normalised values");
}

// m x 128, from the strongest keypoint to the weakest where max_num_keypoints cuts, else in
// OpenCV's order; frames hold x, y, scale, angle.
LocalDescriptors sparse_sift(const Image& image, const SparseSiftOptions& options = {});

}  // namespace milieu
