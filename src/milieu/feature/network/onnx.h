// SPDX-License-Identifier: Apache-2.0
// Any network in ONNX that OpenCV's dnn module can read, as a feature: the image goes in as
// (pixel - mean) * scale in a 1 x 3 x size x size block, the output of a layer comes out flattened.
#pragma once

#include <memory>
#include <string>

#include "milieu/feature/catalog.h"

namespace milieu {

// Options size, scale, mean, std, layer, crop, bgr, normalize. A model that OpenCV cannot read is a
// DataError that names the operator.
std::unique_ptr<Feature> make_onnx(const std::string& path);
// A local feature with the same options: every place of the output, a map 1 x C x rows x columns,
// is a descriptor of C numbers on a grid. Another output is a DataError.
std::unique_ptr<Feature> make_onnx_patches(const std::string& path);

}  // namespace milieu
