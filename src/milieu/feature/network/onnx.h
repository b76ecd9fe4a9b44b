// SPDX-License-Identifier: Apache-2.0
// Any network in ONNX as a feature, run by ONNX Runtime: the image goes in as the network was
// trained on it, one of its tensors comes out.
#pragma once

#include <memory>
#include <string>

#include "milieu/base/export.h"
#include "milieu/feature/catalog.h"

namespace MILIEU_API milieu {

// One vector per image. Options: how images are prepared (preset, size, resize, interpolation,
// crop, scale, mean, std, bgr, layout), layer, pool, normalize. A model that cannot be run is a
// DataError that names the operator.
std::unique_ptr<Feature> make_onnx(const std::string& path);
// A local feature with the same options, pool aside: every position of a map, or every token of a
// transformer but the class token, is a descriptor on a grid. Another output is a DataError.
std::unique_ptr<Feature> make_onnx_patches(const std::string& path);

// "ONNX Runtime 1.29.0", or why networks cannot be run here.
std::string describe_network_runtime();

}  // namespace milieu
