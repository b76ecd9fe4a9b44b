// SPDX-License-Identifier: Apache-2.0
// SIFT at Hessian-affine points: blobs and saddles where the determinant of the Hessian is extreme
// over space, at the scale where the Laplacian is extreme, with an ellipse fitted by the second
// moments of gradients [Mikolajczyk04]. Detection and fitting are VLFeat's [Vedaldi08].
//
// The descriptor is that of dense_sift on a patch of 31 x 31 samples, which shows the ellipse as a
// disc: 4 x 4 bins of 3 scales each, so samples are half a scale apart, smoothed by one scale, no
// further smoothing, Gaussian window, no floor; cut at 0.2, norm 1. The patch is turned so that the
// strongest gradient points always the same way; a point with several strong directions counts
// several times. Without that turn (`upright`) a fitted ellipse has no meaningful direction at all,
// and descriptors of turned images do not match.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct HessianAffineOptions {
  double peak_threshold = 0.003;  // of the determinant, white is 1; smaller: more points
  double edge_threshold = 10;     // points on longer edges are left out; larger: more points
  double min_scale = 0;           // scales outside [min_scale, max_scale] are left out
  double max_scale = 0;           // 0: no limit
  int max_num_keypoints = 0;      // the strongest; 0: all
  bool affine = true;             // fit ellipses; false: discs (Hessian-Laplace points)
  bool upright = false;           // do not turn patches
  bool root = false;              // RootSIFT [Arandjelovic12]
};

template <class Visitor>
void visit_fields(HessianAffineOptions& o, Visitor&& v) {
  v("peak_threshold", o.peak_threshold, at_least(0), "weaker points are dropped");
  v("edge_threshold", o.edge_threshold, at_least(1), "points on longer edges are dropped");
  v("min_scale", o.min_scale, at_least(0), "smallest scale of a point in pixels");
  v("max_scale", o.max_scale, at_least(0), "largest scale of a point in pixels; 0: no limit");
  v("max_num_keypoints", o.max_num_keypoints, at_least(0), "keep the strongest; 0: all");
  v("affine", o.affine, anything(), "fit ellipses to the points");
  v("upright", o.upright, anything(), "do not rotate patches to their dominant gradient");
  v("root", o.root, anything(), "RootSIFT: square roots of the descriptor's L1-normalised values");
}

// m x 128; frames hold x, y, scale (of the disc with the ellipse's area) and angle (of the patch's
// x axis). An image with a side of less than 16 pixels has none.
LocalDescriptors hessian_affine(const Image& image, const HessianAffineOptions& options = {});

}  // namespace milieu
