// SPDX-License-Identifier: Apache-2.0
// Images made from images, the same on every machine: what the two-factor sets are drawn with.
#pragma once

#include "milieu/feature/image.h"
#include "milieu/linalg/matrix.h"

namespace milieu::cli {

// The largest central square, scaled to `side`.
Image square_of(const Image& image, int side);
// Gaussian blur of standard deviation `sigma` in pixels; 0 and below: as it is.
Image blurred(const Image& image, double sigma);
// A square image turned by `degrees` about its centre inside its largest disc; grey outside, also
// for 0 degrees, so that the border says nothing.
Image turned(const Image& image, double degrees);
// (1 - share) a + share b, two images of one size.
Image blended(const Image& a, const Image& b, double share);
// A stroke of ink (side x side, 0 to 255) that leans by `degrees` to the right.
Matrix<float> sheared(FloatView ink, double degrees);
// Ink over `ground` of the same side: white where the ink is 255.
Image inked(FloatView ink, const Image& ground);
// Ink in a colour on black.
Image coloured(FloatView ink, const double rgb[3]);

}  // namespace milieu::cli
