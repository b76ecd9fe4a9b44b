// SPDX-License-Identifier: Apache-2.0
// A figure is a signed distance to its outline (negative inside) in its own coordinates, where it
// is about 2 units across; a pixel is as white as the figure covers it, taken from the distance of
// its centre in pixels. Every sample has its own random stream.
#include "milieu/data/builtin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

struct Vec {
  double x = 0;
  double y = 0;

  friend Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
  friend Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
  friend Vec operator*(double s, Vec a) { return {s * a.x, s * a.y}; }
};

double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y; }
double length(Vec a) { return std::sqrt(dot(a, a)); }

// A turn by some angle, as the sine and cosine of it.
struct Turn {
  double cosine = 1;
  double sine = 0;

  // By the angle whose half has the tangent t: no trigonometric function needed.
  static Turn from_half_tangent(double t) {
    return {(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)};
  }
  // Any direction, all equally likely.
  static Turn random(Random& random) {
    for (;;) {
      const Vec v{random.uniform(-1, 1), random.uniform(-1, 1)};
      const double r = length(v);
      if (r > 0.01 && r <= 1) return {v.x / r, v.y / r};
    }
  }
  Vec operator()(Vec v) const { return {cosine * v.x - sine * v.y, sine * v.x + cosine * v.y}; }
};

double distance_to_segment(Vec p, Vec a, Vec b) {
  const Vec along = b - a;
  const double share = std::clamp(dot(p - a, along) / dot(along, along), 0.0, 1.0);
  return length(p - a - share * along);
}

// Signed distance to a closed polygon; inside by the even-odd rule.
double distance_to_polygon(Vec p, std::span<const Vec> corners) {
  double nearest = INFINITY;
  bool is_inside = false;
  for (size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
    const Vec a = corners[i], b = corners[j];
    nearest = std::min(nearest, distance_to_segment(p, a, b));
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x))
      is_inside = !is_inside;
  }
  return is_inside ? -nearest : nearest;
}

constexpr std::array<Vec, 4> kBar = {{{-1.1, -0.28}, {1.1, -0.28}, {1.1, 0.28}, {-1.1, 0.28}}};
constexpr std::array<Vec, 4> kSquare = {
    {{-0.82, -0.82}, {0.82, -0.82}, {0.82, 0.82}, {-0.82, 0.82}}};
constexpr std::array<Vec, 3> kTriangle = {{{0, -1.1}, {0.98, 0.75}, {-0.98, 0.75}}};
constexpr std::array<Vec, 12> kCross = {{{-0.28, -1},
                                         {0.28, -1},
                                         {0.28, -0.28},
                                         {1, -0.28},
                                         {1, 0.28},
                                         {0.28, 0.28},
                                         {0.28, 1},
                                         {-0.28, 1},
                                         {-0.28, 0.28},
                                         {-1, 0.28},
                                         {-1, -0.28},
                                         {-0.28, -0.28}}};
// Five points on the circle of radius 1.15, five between them on that of radius 0.46.
constexpr std::array<Vec, 10> kStar = {{{0, -1.15},
                                        {0.2704, -0.3721},
                                        {1.0937, -0.3554},
                                        {0.4375, 0.1421},
                                        {0.6760, 0.9304},
                                        {0, 0.46},
                                        {-0.6760, 0.9304},
                                        {-0.4375, 0.1421},
                                        {-1.0937, -0.3554},
                                        {-0.2704, -0.3721}}};

double bar(Vec p) { return distance_to_polygon(p, kBar); }
double crescent(Vec p) { return std::max(length(p) - 1, 0.85 - length(p - Vec{0.5, 0})); }
double cross(Vec p) { return distance_to_polygon(p, kCross); }
double disc(Vec p) { return length(p) - 0.9; }
double ring(Vec p) { return std::abs(length(p) - 0.78) - 0.2; }
double square(Vec p) { return distance_to_polygon(p, kSquare); }
double star(Vec p) { return distance_to_polygon(p, kStar); }
double triangle(Vec p) { return distance_to_polygon(p, kTriangle); }

struct Shape {
  const char* name;
  double (*distance)(Vec);
  double max_half_tangent;  // rotation is at most 2 atan(this); 1 is a quarter turn either way
};

// Sorted by name, as Labels requires.
constexpr std::array<Shape, 8> kShapes = {{{"bar", bar, 1},
                                           {"crescent", crescent, 0.15},
                                           {"cross", cross, 0.15},
                                           {"disc", disc, 0.15},
                                           {"ring", ring, 0.15},
                                           {"square", square, 0.15},
                                           {"star", star, 0.15},
                                           {"triangle", triangle, 0.15}}};

void draw_image(const Shape& shape, Random random, std::span<float> pixels) {
  constexpr double kMiddle = (kBuiltinImageSide - 1) / 2.0;
  const double x = kMiddle + random.uniform(-1.5, 1.5);
  const double y = kMiddle + random.uniform(-1.5, 1.5);
  const Vec centre{x, y};
  const double scale = random.uniform(6.5, 9.0);  // pixels per unit
  const Turn turn =
      Turn::from_half_tangent(random.uniform(-shape.max_half_tangent, shape.max_half_tangent));
  const double dark = random.uniform(0.02, 0.15);
  const double bright = random.uniform(0.65, 1.0);
  for (int i = 0; i < kBuiltinImageSide * kBuiltinImageSide; ++i) {
    const Vec pixel{static_cast<double>(i % kBuiltinImageSide),
                    static_cast<double>(i / kBuiltinImageSide)};
    const double outside = scale * shape.distance((1 / scale) * turn(pixel - centre));
    const double cover = std::clamp(0.5 - outside, 0.0, 1.0);
    const double value = dark + (bright - dark) * cover + 0.06 * random.normal();
    pixels[i] = static_cast<float>(std::clamp(value, 0.0, 1.0));
  }
}

// Classes 0 to num_classes - 1, `num_per_class` of each, in mixed order.
std::vector<int> mixed_classes(int num_classes, int num_per_class, Random random) {
  require(num_per_class >= 1,
          [&] { return fmt::format("num_per_class is {}, must be at least 1", num_per_class); });
  std::vector<int> classes;
  for (int c = 0; c < num_classes; ++c) classes.insert(classes.end(), num_per_class, c);
  random.shuffle(std::span(classes));
  return classes;
}

Vec noise(Random& random, double size) {
  const double x = random.normal();
  const double y = random.normal();
  return {size * x, size * y};
}

Vec draw_core(Random& random) { return noise(random, 0.28); }

// Draws are put in order by statements: the operands of + may be evaluated in any order.
Vec draw_ring(Random& random) {
  const Vec v = Turn::random(random)(Vec{2.0, 0});
  return v + noise(random, 0.11);
}

// The half circle above (or below) a centre.
Vec draw_moon(Random& random, Vec centre, bool is_upper) {
  Vec v = Turn::random(random)(Vec{1.6, 0});
  v.y = is_upper ? std::abs(v.y) : -std::abs(v.y);
  v = v + noise(random, 0.11);
  return centre + v;
}

Vec draw_lower_moon(Random& random) { return draw_moon(random, {6.2, 0.35}, false); }
Vec draw_upper_moon(Random& random) { return draw_moon(random, {4.6, -0.35}, true); }

}  // namespace

Dataset make_builtin_shapes(uint64_t seed, int num_per_class) {
  const Random random(seed);
  Dataset data;
  data.source = "built-in shapes";
  for (const Shape& shape : kShapes) data.labels.names.push_back(shape.name);
  data.labels.indices = mixed_classes(kShapes.size(), num_per_class, random.child(0));
  const auto n = static_cast<int64_t>(data.labels.indices.size());
  Matrix<float> images(n, kBuiltinImageSide * kBuiltinImageSide);
  for (int64_t i = 0; i < n; ++i)
    draw_image(kShapes[data.labels.indices[i]], random.child(i + 1), images.row_span(i));
  data.points = Points(std::move(images));
  return data;
}

Dataset make_builtin_rings(uint64_t seed, int num_per_class) {
  constexpr std::array<Vec (*)(Random&), 4> kDraw = {draw_core, draw_lower_moon, draw_ring,
                                                     draw_upper_moon};
  const Random random(seed);
  Dataset data;
  data.source = "built-in rings";
  data.labels.names = {"core", "lower-moon", "ring", "upper-moon"};
  data.labels.indices = mixed_classes(kDraw.size(), num_per_class, random.child(0));
  const auto n = static_cast<int64_t>(data.labels.indices.size());
  Matrix<float> points(n, 2);
  for (int64_t i = 0; i < n; ++i) {
    Random stream = random.child(i + 1);
    const Vec v = kDraw[data.labels.indices[i]](stream);
    points(i, 0) = static_cast<float>(v.x);
    points(i, 1) = static_cast<float>(v.y);
  }
  data.points = Points(std::move(points));
  return data;
}

}  // namespace milieu
