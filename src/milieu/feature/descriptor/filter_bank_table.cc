// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/feature/descriptor/filter_bank_internal.h"

namespace milieu::internal {
namespace {

constexpr int kDirections = 6;
constexpr int kMaxRadius = 24;
constexpr double kElongation = 3;

int radius_of(double sigma) { return std::min(kMaxRadius, static_cast<int>(std::ceil(3 * sigma))); }

// Sum 0 if asked, then absolute sum 1.
std::vector<float> normalised(std::vector<double> values, bool zero_sum) {
  double mean = 0, total = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (double& value : values) {
    if (zero_sum) value -= mean;
    total += std::abs(value);
  }
  std::vector<float> out(values.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[i] / total);
  return out;
}

// value(x, y) at every pixel within `radius` of the centre, y downwards.
template <class Value>
std::vector<double> sampled(int radius, Value&& value) {
  std::vector<double> out;
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x) out.push_back(value(x, y));
  return out;
}

FilterGroup group_of(int radius, const std::vector<std::vector<float>>& filters) {
  FilterGroup group{radius, Matrix<float>(static_cast<int64_t>(filters.size()),
                                          static_cast<int64_t>(filters[0].size()))};
  for (size_t i = 0; i < filters.size(); ++i)
    std::copy(filters[i].begin(), filters[i].end(), group.filters.row(static_cast<int64_t>(i)));
  return group;
}

// Edges in all directions, then bars.
FilterGroup oriented_group(double sigma) {
  const int radius = radius_of(kElongation * sigma);
  std::vector<std::vector<float>> filters;
  for (const Derivative derivative : {Derivative::First, Derivative::Second})
    for (int d = 0; d < kDirections; ++d)
      filters.push_back(oriented_filter(sigma, kElongation * sigma,
                                        std::numbers::pi * d / kDirections, derivative, radius));
  return group_of(radius, filters);
}

}  // namespace

std::vector<float> oriented_filter(double along, double across, double angle, Derivative derivative,
                                   int radius) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const auto value = [&](int x, int y) {
    const double u = (x * cosine + y * sine) / along;
    const double v = (y * cosine - x * sine) / across;
    const double gaussian = std::exp(-0.5 * (u * u + v * v));
    if (derivative == Derivative::First) return -u * gaussian;
    if (derivative == Derivative::Second) return (u * u - 1) * gaussian;
    return gaussian;
  };
  return normalised(sampled(radius, value), derivative != Derivative::None);
}

std::vector<float> laplacian_filter(double sigma, int radius) {
  const auto value = [&](int x, int y) {
    const double squared = (x * x + y * y) / (sigma * sigma);
    return (squared - 2) * std::exp(-0.5 * squared);
  };
  return normalised(sampled(radius, value), true);
}

const std::vector<FilterGroup>& leung_malik_bank() {
  static const std::vector<FilterGroup> bank = [] {
    const double root = std::numbers::sqrt2;
    std::vector<FilterGroup> groups;
    for (const double sigma : {1.0, root, 2.0}) groups.push_back(oriented_group(sigma));
    std::vector<std::vector<float>> laplacians, gaussians;
    const int large = radius_of(6 * root), small = radius_of(2 * root);
    for (const double factor : {1.0, 3.0})
      for (const double sigma : {1.0, root, 2.0, 2 * root})
        laplacians.push_back(laplacian_filter(factor * sigma, large));
    for (const double sigma : {1.0, root, 2.0, 2 * root})
      gaussians.push_back(oriented_filter(sigma, sigma, 0, Derivative::None, small));
    groups.push_back(group_of(large, laplacians));
    groups.push_back(group_of(small, gaussians));
    return groups;
  }();
  return bank;
}

const std::vector<FilterGroup>& maximum_response_bank() {
  static const std::vector<FilterGroup> bank = [] {
    std::vector<FilterGroup> groups;
    for (const double sigma : {1.0, 2.0, 4.0}) groups.push_back(oriented_group(sigma));
    groups.push_back(group_of(kMaxRadius, {oriented_filter(10, 10, 0, Derivative::None, kMaxRadius),
                                           laplacian_filter(10, kMaxRadius)}));
    return groups;
  }();
  return bank;
}

}  // namespace milieu::internal
