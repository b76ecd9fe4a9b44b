// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_separation_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace milieu::internal {
namespace {

constexpr int kMaxIterations = 60;
constexpr double kSureShare = 0.95;      // of a sample in the part where it begins
constexpr double kLeastVariance = 0.01;  // of the variance of all: two normals never shrink below
constexpr double kSmallGain = 1e-6;      // nats per sample
constexpr double kFewSamples = 2;        // weight that a normal must keep

constexpr double kTrust = 4;

// Values on a line with their weights.
struct Line {
  std::vector<double> values;
  std::span<const double> weights;
  double weight(size_t i) const { return weights.empty() ? 1 : weights[i]; }
};

struct TwoNormals {
  double gain = 0;    // over one normal, nats per sample
  double middle = 0;  // between the two means
};

// Two normals of one variance by EM, from a first share of the second one for every value.
TwoNormals fit_two_normals(const Line& line, std::vector<double> shares) {
  double total = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < line.values.size(); ++i) {
    total += line.weight(i);
    sum += line.weight(i) * line.values[i];
  }
  const double mean = sum / total;
  for (size_t i = 0; i < line.values.size(); ++i)
    squares += line.weight(i) * (line.values[i] - mean) * (line.values[i] - mean);
  const double variance = squares / total;
  if (!(variance > 0)) return {0, mean};
  const double one = -0.5 * (std::log(variance) + 1);
  double before = -std::numeric_limits<double>::infinity();
  TwoNormals found{0, mean};
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    double weight[2] = {0, 0}, means[2] = {0, 0}, spread = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      const double second = line.weight(i) * shares[i], first = line.weight(i) - second;
      weight[0] += first;
      weight[1] += second;
      means[0] += first * line.values[i];
      means[1] += second * line.values[i];
    }
    if (std::min(weight[0], weight[1]) < kFewSamples) return {0, mean};
    for (int k = 0; k < 2; ++k) means[k] /= weight[k];
    for (size_t i = 0; i < shares.size(); ++i)
      for (int k = 0; k < 2; ++k) {
        const double away = line.values[i] - means[k];
        spread += line.weight(i) * (k == 1 ? shares[i] : 1 - shares[i]) * away * away;
      }
    const double v = std::max(spread / total, kLeastVariance * variance);
    double likelihood = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      double logs[2];
      for (int k = 0; k < 2; ++k) {
        const double away = line.values[i] - means[k];
        logs[k] = std::log(weight[k] / total) - 0.5 * away * away / v;
      }
      const double most = std::max(logs[0], logs[1]);
      const double both = most + std::log(std::exp(logs[0] - most) + std::exp(logs[1] - most));
      likelihood += line.weight(i) * (both - 0.5 * std::log(v)) / total;
      shares[i] = std::exp(logs[1] - both);
    }
    found = {std::max(0.0, likelihood - one), 0.5 * (means[0] + means[1])};
    if (likelihood - before < kSmallGain) break;
    before = likelihood;
  }
  return found;
}

// f_k minus the mean of the other f.
Line line_of(const Matrix<double>& values, int64_t k, std::span<const double> weights) {
  Line line{std::vector<double>(static_cast<size_t>(values.rows())), weights};
  for (int64_t i = 0; i < values.rows(); ++i) {
    double others = 0;
    for (int64_t j = 0; j < values.cols(); ++j)
      if (j != k) others += values(i, j);
    line.values[static_cast<size_t>(i)] =
        values(i, k) - others / static_cast<double>(values.cols() - 1);
  }
  return line;
}

}  // namespace

double confidence_of(double separation) {
  return 1 - 0.5 * std::exp(-kTrust * std::max(0.0, separation));
}

double measure_separation(const Matrix<double>& values, const std::vector<int>& labels,
                          const Matrix<double>& context_values, std::span<const double> weights,
                          std::span<const double> context_weights) {
  const int64_t num_parts = values.cols();
  if (num_parts < 2) return 0;
  double sum = 0;
  // With two parts both directions are the same line.
  const int64_t num_lines = num_parts == 2 ? 1 : num_parts;
  for (int64_t k = 0; k < num_lines; ++k) {
    std::vector<double> shares;
    for (const int label : labels) shares.push_back(label == k ? kSureShare : 1 - kSureShare);
    const TwoNormals of_samples = fit_two_normals(line_of(values, k, weights), std::move(shares));
    const Line context = line_of(context_values, k, context_weights);
    std::vector<double> sides;
    for (const double value : context.values)
      sides.push_back(value > of_samples.middle ? kSureShare : 1 - kSureShare);
    sum += of_samples.gain - fit_two_normals(context, std::move(sides)).gain;
  }
  return sum / static_cast<double>(num_lines);
}

}  // namespace milieu::internal
