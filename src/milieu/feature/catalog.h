// SPDX-License-Identifier: Apache-2.0
// The one table of features: name, kind, options and function of each. The command line, the cache,
// the docs and the benches all read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

enum class FeatureKind {
  Whole,  // one vector per image
  Local,  // many descriptors per image; a bag of words (words.h) makes one vector of them
};

// An image as features see it: decoded, upright, scaled down.
struct SourceImage {
  const Image& image;
  const std::string& path;  // relative to the folder, "/" between names
};

// One feature with its options. After prepare() and open() the const functions may be called from
// any thread.
class Feature {
 public:
  virtual ~Feature() = default;
  // The options; they refer to this object.
  virtual std::vector<Field> fields() = 0;
  // Called once the options are set: checks them and reads files they name. Throws InvalidArgument,
  // IoError or DataError.
  virtual void prepare() { validate_fields(fields()); }
  // Called before the first image is described, if any is: loads what that needs. The monitor may
  // stop it, and images that are being described; it must outlive both. Throws as prepare() does.
  virtual void open(const Monitor&) {}
  // Pixels on the shorter side of an image that are enough, where the feature scales images to a
  // few hundred pixels itself: large JPEGs are then decoded at a fraction of their size. 0: it
  // looks at all that max_side leaves. Called after prepare().
  virtual int least_side() const { return 0; }
  // What the result depends on beside the options: the content of files.
  virtual std::string fingerprint() const { return ""; }
  virtual std::vector<float> whole(const SourceImage& source) const;
  virtual LocalDescriptors local(const SourceImage& source) const;
};

struct FeatureEntry {
  std::string name;
  FeatureKind kind = FeatureKind::Whole;
  int version = 1;        // raised when the same options give other numbers: caches notice
  std::string summary;    // one line
  std::string file = {};  // what follows the colon in `name:FILE`; "": no file
  std::unique_ptr<Feature> (*make)(const std::string& file) = nullptr;
};

const std::vector<FeatureEntry>& feature_catalog();

// Null when there is no such feature.
const FeatureEntry* find_feature(std::string_view name);

}  // namespace milieu
