// SPDX-License-Identifier: Apache-2.0
// Small image files for tests: stripes and blobs, which every feature separates.
#pragma once

#include <string>

#include "milieu/testing/temp_dir.h"

namespace milieu {

// A .ppm of 48 x 48 pixels; images of one kind differ by `seed`.
std::string striped_image(int seed);
std::string blob_image(int seed);

// FOLDER/stripes/N.ppm and FOLDER/blobs/N.ppm, `count` of each; returns the folder's path.
std::string make_image_folder(const TempDir& dir, const std::string& name, int count,
                              int first_seed = 0);

// Sets an environment variable for the life of this object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_, old_;
  bool had_value_ = false;
};

}  // namespace milieu
