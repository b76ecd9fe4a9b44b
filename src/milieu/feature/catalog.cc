// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/catalog.h"

#include <algorithm>

#include "milieu/base/assert.h"
#include "milieu/feature/cache/npy_rows.h"
#include "milieu/feature/descriptor/color.h"
#include "milieu/feature/descriptor/dense_sift.h"
#include "milieu/feature/descriptor/filter_bank.h"
#include "milieu/feature/descriptor/gist.h"
#include "milieu/feature/descriptor/hessian_affine.h"
#include "milieu/feature/descriptor/hog.h"
#include "milieu/feature/descriptor/lbp.h"
#include "milieu/feature/descriptor/local_color.h"
#include "milieu/feature/descriptor/sparse_sift.h"
#include "milieu/feature/descriptor/tiny.h"
#include "milieu/feature/network/onnx.h"

namespace milieu {
namespace {

// Ranges, and what the function itself asks of its options: a wrong combination must be reported
// before the first image, not for each of them.
template <class Function, class Options>
void check_options(const std::vector<Field>& fields, Function* function, const Options& options) {
  validate_fields(fields);
  function(make_image(1, 1), options);
}

// What a feature that scales images to `side` pixels needs of them: enough to average over, and
// never less than small images have.
int enough_for(int side) { return std::max(256, 2 * side); }

template <class Options>
int least_side_of(const Options&) {
  return 0;
}
int least_side_of(const GistOptions& options) { return enough_for(options.side); }
int least_side_of(const TinyOptions& options) { return enough_for(options.size); }

// A feature from a plain function of image and options.
template <class Options, std::vector<float> (*function)(const Image&, const Options&)>
class WholeFeature : public Feature {
 public:
  std::vector<Field> fields() override { return fields_of(options_); }
  void prepare() override { check_options(fields(), function, options_); }
  std::vector<float> whole(const SourceImage& source) const override {
    return function(source.image, options_);
  }
  int least_side() const override { return least_side_of(options_); }

 private:
  Options options_;
};

template <class Options, LocalDescriptors (*function)(const Image&, const Options&)>
class LocalFeature : public Feature {
 public:
  std::vector<Field> fields() override { return fields_of(options_); }
  void prepare() override { check_options(fields(), function, options_); }
  LocalDescriptors local(const SourceImage& source) const override {
    return function(source.image, options_);
  }

 private:
  Options options_;
};

template <class Options, std::vector<float> (*function)(const Image&, const Options&)>
FeatureEntry whole(std::string name, std::string summary) {
  return {.name = std::move(name),
          .kind = FeatureKind::Whole,
          .summary = std::move(summary),
          .make = [](const std::string&) -> std::unique_ptr<Feature> {
            return std::make_unique<WholeFeature<Options, function>>();
          }};
}

template <class Options, LocalDescriptors (*function)(const Image&, const Options&)>
FeatureEntry local(std::string name, std::string summary) {
  return {.name = std::move(name),
          .kind = FeatureKind::Local,
          .summary = std::move(summary),
          .make = [](const std::string&) -> std::unique_ptr<Feature> {
            return std::make_unique<LocalFeature<Options, function>>();
          }};
}

FeatureEntry from_file(std::string name, FeatureKind kind, std::string file, std::string summary,
                       std::unique_ptr<Feature> (*make)(const std::string&), int version = 1) {
  return {.name = std::move(name),
          .kind = kind,
          .version = version,
          .summary = std::move(summary),
          .file = std::move(file),
          .make = make};
}

}  // namespace

std::vector<float> Feature::whole(const SourceImage&) const {
  MILIEU_ASSERT(false);  // the kind says what may be called
  return {};
}

LocalDescriptors Feature::local(const SourceImage&) const {
  MILIEU_ASSERT(false);
  return {};
}

const std::vector<FeatureEntry>& feature_catalog() {
  static const std::vector<FeatureEntry> catalog = {
      local<DenseSiftOptions, dense_sift>("dense-sift", "SIFT descriptors on a regular grid"),
      local<SparseSiftOptions, sparse_sift>("sparse-sift", "SIFT at keypoints"),
      local<HessianAffineOptions, hessian_affine>("hessian-affine",
                                                  "SIFT at Hessian-affine points"),
      local<LocalColorOptions, local_color>("local-color",
                                            "colour histograms of patches on a regular grid"),
      whole<GistOptions, gist>("gist", "energies of oriented filters in blocks of the image"),
      local<HogOptions, hog>("hog", "histograms of oriented gradients on a grid of cells"),
      whole<LbpOptions, lbp>("lbp", "histogram of local binary patterns"),
      whole<LbpOptions, rot_lbp>("rot-lbp",
                                 "rotation-invariant histogram of local binary patterns"),
      local<FilterBankOptions, texton_responses>("textons", "responses of 48 filters"),
      local<FilterBankOptions, mr8_responses>(
          "mr8", "responses of 8 filters, the strongest over all directions"),
      whole<ColorOptions, color_histogram>("color", "joint histogram of hue, saturation and value"),
      whole<TinyOptions, tiny>("tiny", "the pixels of the image scaled to a small square"),
      from_file("onnx", FeatureKind::Whole, "MODEL.onnx", "output of a network that you provide",
                make_onnx, 2),
      from_file("onnx-patches", FeatureKind::Local, "MODEL.onnx",
                "every position of a network's feature map", make_onnx_patches, 2),
      from_file("npy", FeatureKind::Whole, "ROWS.npy",
                "vectors computed elsewhere, joined by file name", make_npy_rows),
  };
  return catalog;
}

const FeatureEntry* find_feature(std::string_view name) {
  for (const FeatureEntry& entry : feature_catalog())
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace milieu
