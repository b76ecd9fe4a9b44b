// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/image_files.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace milieu {

namespace {

constexpr int kSide = 48;

template <class Gray>
std::string to_ppm(Gray&& gray) {
  std::string bytes = "P6\n48 48\n255\n";
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) bytes.append(3, static_cast<char>(gray(x, y)));
  return bytes;
}

}  // namespace

std::string striped_image(int seed) {
  return to_ppm(
      [&](int x, int) { return static_cast<unsigned char>(127 + 120 * std::sin(x / 1.3 + seed)); });
}

std::string blob_image(int seed) {
  return to_ppm([&](int x, int y) {
    double value = 40;
    for (int b = 0; b < 12; ++b) {
      const double cx = 6 + (seed * 7 + b * 13) % 36, cy = 6 + (seed * 11 + b * 17) % 36;
      const double width = 2 + b % 4 * 3;  // of several scales, so that keypoints are found
      value += 120 * std::exp(-((x - cx) * (x - cx) + (y - cy) * (y - cy)) / width);
    }
    return static_cast<unsigned char>(std::min(255.0, value));
  });
}

std::string make_image_folder(const TempDir& dir, const std::string& name, int count,
                              int first_seed) {
  for (const char* kind : {"stripes", "blobs"}) {
    std::filesystem::create_directories(dir.file(name + "/" + kind));
    for (int i = 0; i < count; ++i) {
      const int seed = first_seed + i;
      dir.write(name + "/" + kind + "/" + std::to_string(seed) + ".ppm",
                std::string(kind) == "stripes" ? striped_image(seed) : blob_image(seed));
    }
  }
  return dir.file(name);
}

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* old = std::getenv(name)) {
    old_ = old;
    had_value_ = true;
  }
  setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (had_value_)
    setenv(name_.c_str(), old_.c_str(), 1);
  else
    unsetenv(name_.c_str());
}

}  // namespace milieu
