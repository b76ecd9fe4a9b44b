// SPDX-License-Identifier: Apache-2.0
// What every local descriptor gives: many vectors per image, each with its position.
#pragma once

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct LocalDescriptors {
  Matrix<float> descriptors;  // m x d; 0 x d where the image is too small for any
  // m x 4: x, y (pixel centres are whole numbers, y downwards), scale, angle. The scale is the
  // standard deviation of a keypoint, the side in pixels of a patch or cell of a grid. The angle is
  // in radians, from x towards y (clockwise as seen), 0 where descriptors are upright.
  Matrix<float> frames;
  // Where the frames are one grid: m = grid_rows * grid_cols, row by row. Else 0.
  int grid_rows = 0;
  int grid_cols = 0;
};

}  // namespace milieu
