// SPDX-License-Identifier: Apache-2.0
// Images for the tests of descriptors: noise, gratings, checkerboards, blobs; turned and shifted.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/base/random.h"
#include "milieu/feature/image.h"

namespace milieu::test_images {

// value(x, y) in [0, 255], rounded.
template <class Value>
Image from_function(int width, int height, Value&& value) {
  Matrix<float> gray(height, width);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) gray(y, x) = static_cast<float>(value(x, y));
  return image_from_gray(gray);
}

inline Image constant(int width, int height, double value) {
  return from_function(width, height, [&](int, int) { return value; });
}

// Every channel of every pixel at random.
inline Image noise(int width, int height, uint64_t seed) {
  Random random(seed);
  Image image = make_image(width, height);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random.uniform() * 256);
  return image;
}

// Waves whose crests are perpendicular to `angle` (radians, from x towards y).
inline Image grating(int width, int height, double period, double angle, double contrast = 100) {
  return from_function(width, height, [&](int x, int y) {
    const double along = x * std::cos(angle) + y * std::sin(angle);
    return 128 + contrast * std::sin(2 * std::numbers::pi * along / period);
  });
}

inline Image checkerboard(int width, int height, int side) {
  return from_function(width, height,
                       [&](int x, int y) { return (x / side + y / side) % 2 ? 200 : 50; });
}

// Bright and dark round blobs of several sizes at random places: smooth, rich in keypoints.
inline Image blobs(int width, int height, int count, uint64_t seed) {
  Random random(seed);
  Matrix<float> gray(height, width);
  std::fill_n(gray.data(), gray.size(), 128.0f);
  for (int i = 0; i < count; ++i) {
    const double cx = random.uniform() * width;
    const double cy = random.uniform() * height;
    const double sigma = 1.5 + 4 * random.uniform();
    const double height_of_blob = (random.uniform() < 0.5 ? -1 : 1) * (40 + 60 * random.uniform());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double squared = (x - cx) * (x - cx) + (y - cy) * (y - cy);
        gray(y, x) += static_cast<float>(height_of_blob * std::exp(-0.5 * squared / sigma / sigma));
      }
  }
  return image_from_gray(gray);
}

// A quarter turn, clockwise as seen: pixel (x, y) goes to (height - 1 - y, x).
inline Image quarter_turn(const Image& image) {
  Image out = make_image(image.height, image.width);
  out.is_gray = image.is_gray;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      std::copy_n(image.pixel(x, y), 3, out.pixel(image.height - 1 - y, x));
  return out;
}

// The part [left, left + width) x [top, top + height).
inline Image crop(const Image& image, int left, int top, int width, int height) {
  Image out = make_image(width, height);
  out.is_gray = image.is_gray;
  for (int y = 0; y < height; ++y)
    std::copy_n(image.pixel(left, top + y), 3 * static_cast<size_t>(width), out.pixel(0, y));
  return out;
}

}  // namespace milieu::test_images
