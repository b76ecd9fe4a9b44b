// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/spatial_words.h"

#include <array>
#include <cmath>
#include <numbers>

namespace milieu {
namespace {

// x <- 16807 x mod 2147483647.
class Generator {
 public:
  explicit Generator(int64_t start) : x_(start) {}
  double uniform() {
    x_ = 16807 * x_ % 2147483647;
    return static_cast<double>(x_) / 2147483647.0;
  }
  double normal() {
    const double u = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  int64_t x_;
};

struct Class {
  double x, y, deviation;
};
constexpr std::array<Class, 5> kClasses = {
    {{150, 160, 54}, {300, 100, 40}, {95, 110, 48}, {205, 210, 48}, {60, 310, 40}}};

// Rows while their number is not known.
struct Rows {
  std::vector<float> features, positions;
  std::vector<int> words, phrases;
};

void add_primitive(Generator& generator, int word, double x, double y, Rows& rows) {
  const Class& c = kClasses[word];
  for (const double mean : {c.x, c.y})
    rows.features.push_back(static_cast<float>(mean + c.deviation * generator.normal()));
  for (const double center : {x, y})
    rows.positions.push_back(static_cast<float>(std::round(center + 30 * generator.normal())));
  rows.words.push_back(word);
  rows.phrases.push_back(word < 2 ? 0 : 1);
}

void add_site(Generator& generator, int site, Rows& rows) {
  const double x = 100 + 220 * (site % 15) + std::round(110 * (generator.uniform() - 0.5));
  const double y = 100 + 220 * (site / 15) + std::round(110 * (generator.uniform() - 0.5));
  const bool is_first = generator.uniform() < 0.55;
  for (int word = is_first ? 0 : 2; word < (is_first ? 2 : 5); ++word) {
    const bool is_skipped = generator.uniform() < 0.1;
    const bool is_doubled = generator.uniform() < 0.3 && (word == 1 || word == 4);
    if (is_skipped) continue;
    for (int copy = 0; copy < (is_doubled ? 2 : 1); ++copy)
      add_primitive(generator, word, x, y, rows);
  }
}

Matrix<float> two_columns(const std::vector<float>& values) {
  Matrix<float> matrix(static_cast<int64_t>(values.size() / 2), 2);
  for (size_t i = 0; i < values.size(); ++i) matrix.data()[i] = values[i];
  return matrix;
}

}  // namespace

SpatialWords make_spatial_words(int64_t start) {
  Generator generator(start);
  Rows rows;
  for (int site = 0; site < 15 * 15; ++site) add_site(generator, site, rows);
  return {two_columns(rows.features), two_columns(rows.positions), std::move(rows.words),
          std::move(rows.phrases)};
}

}  // namespace milieu
