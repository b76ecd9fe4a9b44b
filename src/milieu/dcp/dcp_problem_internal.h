// SPDX-License-Identifier: Apache-2.0
// A problem of discriminative context partitioning as the optimisers see it: rows of features, the
// samples first, then the context; planes through the origin, because the bias is a feature.
// Kernel, centring, scaling and bias have been dealt with by then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dcp/solve/dcp_loss_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Where rows of features come from, and how planes over features become a model.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual int64_t rows() const = 0;
  virtual int64_t cols() const = 0;  // D
  // Rows [begin, end) in double, row-major into `out`.
  virtual void fill(int64_t begin, int64_t end, double* out) const = 0;
  // `planes` is K x D.
  virtual DcpModel to_model(const Matrix<double>& planes) const = 0;
};

// Linear features: coordinates minus the mean, divided by the length, and the bias.
// Weights of samples and context in one list, scaled to sum to 1: what means are taken with. Empty
// when neither has weights.
std::vector<double> joined_shares(const DcpInput& input);

std::unique_ptr<FeatureSource> make_linear_features(const DcpInput& input,
                                                    const DcpOptions& options);
// Features whose products are the kernel's values. Null when the monitor stops it.
std::unique_ptr<FeatureSource> make_kernel_features(const DcpInput& input,
                                                    const DcpOptions& options, Monitor& monitor);

// Principal components of samples and context together, at most 60.
struct PrincipalRows {
  std::unique_ptr<const FeatureSource> source;  // what they are components of; without bias
  Matrix<double> axes;                          // q x D, orthonormal
  std::vector<double> variances;                // q mean squares, largest first
  Matrix<float> coordinates;                    // (n + m) x q
};
// Null when the monitor stops it.
std::shared_ptr<const PrincipalRows> find_principal_rows(
    std::unique_ptr<const FeatureSource> source, const std::vector<double>& shares, int num_threads,
    const Monitor& monitor, const Team& team = Team::alone());
// Component j divided by sqrt(v_j + floor * v), v the mean of the v_j weighted by themselves; and
// the bias.
std::unique_ptr<FeatureSource> make_whitened_features(std::shared_ptr<const PrincipalRows> rows,
                                                      double floor, double bias);

struct DcpProblem {
  int64_t n = 0;  // samples
  int64_t m = 0;  // context
  int64_t d = 0;  // D, features
  int num_parts = 0;
  std::unique_ptr<FeatureSource> source;
  Matrix<float> rows;          // (n + m) x D, rounded
  std::vector<float> weights;  // n + m, or empty: all 1
  LossShape loss;
  double cost = 0;
  double mean_square = 0;  // mean squared length of a row
  int num_threads = 0;
  const Team* team = &Team::alone();  // its ranks have all rows and divide the passes over them
  double floor = -1;                  // of the whitening; -1: none
  bool is_whitened() const { return floor >= 0; }

  int64_t num_rows() const { return n + m; }
  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  // Rows of a block of the parallel loops: about 256 kB of features.
  int64_t block_size() const;
};

// Floors from the text of the option: empty for "none". Throws InvalidArgument.
std::vector<double> parse_floors(const std::string& text);

// Throws InvalidArgument for options or input that cannot be used.
void validate_dcp(const DcpInput& input, const DcpOptions& options);

// Builds what the problems of all floors share, from valid input.
class DcpProblems {
 public:
  DcpProblems(const DcpInput& input, const DcpOptions& options, Monitor& monitor);
  size_t size() const { return floors_.empty() ? 1 : floors_.size(); }
  // The problem of one floor, or the only one; once without whitening. The source is null when the
  // monitor stopped it.
  DcpProblem make(size_t which);

 private:
  const DcpInput& input_;
  const DcpOptions& options_;
  std::vector<double> floors_;
  std::unique_ptr<FeatureSource> source_;           // without whitening
  std::shared_ptr<const PrincipalRows> principal_;  // with
};

// Checks options and input; the problem of the first floor, or the only one.
DcpProblem make_dcp_problem(const DcpInput& input, const DcpOptions& options, Monitor& monitor);

}  // namespace milieu::internal
