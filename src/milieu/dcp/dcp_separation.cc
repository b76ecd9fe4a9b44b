// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_separation_internal.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace milieu::internal {
namespace {

constexpr int kMaxIterations = 60;
constexpr double kSureShare = 0.95;      // of a sample in the part where it begins
constexpr double kLeastVariance = 0.01;  // of the variance of all: two normals never shrink below
constexpr double kSmallGain = 1e-6;      // nats per sample
constexpr double kFewSamples = 2;        // weight that a normal must keep

// Measured on pairs of USPS digits, mixed 1:1 and 1:10, against one context or all together: mean
// share of right samples by separation; straight lines in between.
struct Trust {
  double separation, right;
};
constexpr Trust kTrust[] = {{0, 0.5},     {0.15, 0.69}, {0.23, 0.72}, {0.28, 0.76}, {0.32, 0.78},
                            {0.37, 0.82}, {0.44, 0.91}, {0.51, 0.98}, {0.65, 0.99}};

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

struct Moments {
  double total = 0, mean = 0, variance = 0;
};

Moments moments_of(const Line& line) {
  Moments m;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < line.values.size(); ++i) {
    m.total += line.weight(i);
    sum += line.weight(i) * line.values[i];
  }
  m.mean = sum / m.total;
  for (size_t i = 0; i < line.values.size(); ++i)
    squares += line.weight(i) * (line.values[i] - m.mean) * (line.values[i] - m.mean);
  m.variance = squares / m.total;
  return m;
}

struct Pair {
  double weight[2] = {0, 0}, means[2] = {0, 0}, variance = 0;
};

// Weights, means and the common variance for shares of the second normal.
Pair fit_to_shares(const Line& line, const std::vector<double>& shares, const Moments& all) {
  Pair pair;
  for (size_t i = 0; i < shares.size(); ++i)
    for (int k = 0; k < 2; ++k) {
      const double weight = line.weight(i) * (k == 1 ? shares[i] : 1 - shares[i]);
      pair.weight[k] += weight;
      pair.means[k] += weight * line.values[i];
    }
  for (int k = 0; k < 2; ++k) pair.means[k] /= std::max(pair.weight[k], 1e-300);
  for (size_t i = 0; i < shares.size(); ++i)
    for (int k = 0; k < 2; ++k) {
      const double away = line.values[i] - pair.means[k];
      pair.variance += line.weight(i) * (k == 1 ? shares[i] : 1 - shares[i]) * away * away;
    }
  pair.variance = std::max(pair.variance / all.total, kLeastVariance * all.variance);
  return pair;
}

// The shares that follow; returns the mean log-likelihood, without the constant.
double update_shares(const Line& line, const Pair& pair, double total,
                     std::vector<double>& shares) {
  double likelihood = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    double logs[2];
    for (int k = 0; k < 2; ++k) {
      const double away = line.values[i] - pair.means[k];
      logs[k] = std::log(pair.weight[k] / total) - 0.5 * away * away / pair.variance;
    }
    const double most = std::max(logs[0], logs[1]);
    const double both = most + std::log(std::exp(logs[0] - most) + std::exp(logs[1] - most));
    likelihood += line.weight(i) * (both - 0.5 * std::log(pair.variance)) / total;
    shares[i] = std::exp(logs[1] - both);
  }
  return likelihood;
}

// Two normals of one variance by EM, from a first share of the second one for every value.
TwoNormals fit_two_normals(const Line& line, std::vector<double> shares) {
  const Moments all = moments_of(line);
  if (!(all.variance > 0)) return {0, all.mean};
  const double one = -0.5 * (std::log(all.variance) + 1);
  double before = -std::numeric_limits<double>::infinity();
  TwoNormals found{0, all.mean};
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const Pair pair = fit_to_shares(line, shares, all);
    if (std::min(pair.weight[0], pair.weight[1]) < kFewSamples) return {0, all.mean};
    const double likelihood = update_shares(line, pair, all.total, shares);
    found = {std::max(0.0, likelihood - one), 0.5 * (pair.means[0] + pair.means[1])};
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
  const Trust* above = std::ranges::find_if(
      kTrust, [&](const Trust& knot) { return knot.separation >= separation; });
  if (above == std::end(kTrust)) return std::prev(above)->right;
  if (above == std::begin(kTrust)) return above->right;
  const Trust* below = std::prev(above);
  const double share = (separation - below->separation) / (above->separation - below->separation);
  return below->right + share * (above->right - below->right);
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
