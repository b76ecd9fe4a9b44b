// SPDX-License-Identifier: Apache-2.0
// What users write after --feature: names from the catalog, separated by commas, with options after
// colons.
//
//   lbp
//   dense-sift:step=4:words=400,color
//   onnx:resnet.onnx:size=224:layer=avgpool
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/feature/catalog.h"
#include "milieu/feature/words.h"

namespace MILIEU_API milieu {

// One feature that was asked for. Move-only.
struct FeatureSpec {
  const FeatureEntry* entry = nullptr;
  std::string id;    // names files: "dense-sift"; "onnx-resnet" for onnx:resnet.onnx
  std::string file;  // of onnx:FILE and npy:FILE
  std::unique_ptr<Feature> feature;
  WordOptions words;  // of local features

  bool is_local() const { return entry->kind == FeatureKind::Local; }
  // The feature's own options, then those of the bag of words. They refer to this object.
  std::vector<Field> fields();
};

// Throws InvalidArgument that names the unknown feature or option and what there is. Options are
// not checked against their ranges before Feature::prepare.
FeatureSpec parse_feature(std::string_view text);
std::vector<FeatureSpec> parse_features(std::string_view list);

// The text that parse_feature reads back: the name and the options that differ from their defaults.
std::string to_text(FeatureSpec& spec);

}  // namespace milieu
