// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/solve/dcp_objective_internal.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/dcp/solve/dcp_loops.h"
#include "milieu/dcp/solve/dcp_pass_loops.h"
#include "milieu/dcp/solve/dcp_product_loops.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/isa.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {
namespace {

// Each block has its own gradient for all planes: where there are many, they are twice as
// large as elsewhere.
constexpr int64_t kManyBlocks = 12;
constexpr int64_t kSparseShare = 4;  // at most a quarter of the slopes: they are added one by one

int loss_number(const LossShape& loss) {
  switch (loss.loss) {
    case DcpLoss::Hinge:
      return 0;
    case DcpLoss::SquaredHinge:
      return 1;
    case DcpLoss::Huber:
      return 2;
    case DcpLoss::Logistic:
      break;
  }
  return 3;
}

// A window of one lane's values: K rows of `count` samples, `stride` apart.
struct Values {
  float* f;
  int64_t stride;
  int num_parts;
  int64_t begin, count;  // samples [begin, begin + count) of the problem
};

// The log of a sum of exponentials of one column, and its shares.
double log_sum_shares(std::vector<double>& column) {
  const double total = log_sum_exp(column);
  for (double& value : column) value = std::exp(value - total);
  return total;
}

// [Lampert08, section 3.2.2]: the maximum replaced by tau^-1 log sum exp(tau f).
double soft_max_block(const DcpProblem& problem, const Lane& lane, const Values& v) {
  std::vector<double> shares(v.num_parts);
  double sum = 0;
  for (int64_t i = 0; i < v.count; ++i) {
    for (int k = 0; k < v.num_parts; ++k) shares[k] = lane.level * v.f[k * v.stride + i];
    const double violation = 1 - log_sum_shares(shares) / lane.level;
    const double weight = lane.cost * problem.weight(v.begin + i);
    sum += weight * lane.loss.value(violation);
    const double slope = weight * lane.loss.slope(violation);
    for (int k = 0; k < v.num_parts; ++k)
      v.f[k * v.stride + i] = static_cast<float>(-slope * shares[k]);
  }
  return sum;
}

// The free energy of [Lampert08, section 3.2.1]: the least of expected loss minus T times entropy.
double free_energy_block(const DcpProblem& problem, const Lane& lane, const Values& v) {
  std::vector<double> shares(v.num_parts);
  double sum = 0;
  for (int64_t i = 0; i < v.count; ++i) {
    for (int k = 0; k < v.num_parts; ++k)
      shares[k] = -lane.cost * lane.loss.value(1 - v.f[k * v.stride + i]) / lane.level;
    const double weight = problem.weight(v.begin + i);
    sum -= weight * lane.level * log_sum_shares(shares);
    for (int k = 0; k < v.num_parts; ++k) {
      float& f = v.f[k * v.stride + i];
      f = static_cast<float>(-weight * shares[k] * lane.cost * lane.loss.slope(1 - f));
    }
  }
  return sum;
}

double shared_block(const DcpProblem& problem, const Lane& lane, const Values& v) {
  double sum = 0;
  for (int k = 0; k < v.num_parts; ++k) {
    const float* shares = lane.shares->row(k) + v.begin;
    float* f = v.f + k * v.stride;
    for (int64_t i = 0; i < v.count; ++i) {
      const double weight = lane.cost * shares[i] * problem.weight(v.begin + i);
      sum += weight * lane.loss.value(1 - f[i]);
      f[i] = static_cast<float>(-weight * lane.loss.slope(1 - f[i]));
    }
  }
  return sum;
}

double sample_block(const DcpProblem& problem, const Lane& lane, const Values& v) {
  const float* weights = problem.weights.empty() ? nullptr : problem.weights.data() + v.begin;
  const int loss = loss_number(lane.loss);
  const float width = static_cast<float>(lane.loss.width), cost = static_cast<float>(lane.cost);
  switch (lane.rule) {
    case PartRule::HardMax:
      return lane.cost * MILIEU_SELECT_ISA(hard_max_block)(v.f, v.stride, v.num_parts, v.count,
                                                           weights, loss, width, cost);
    case PartRule::Given:
      return lane.cost * MILIEU_SELECT_ISA(given_part_block)(v.f, v.stride, v.num_parts, v.count,
                                                             weights, lane.labels + v.begin, loss,
                                                             width, cost);
    case PartRule::SoftMax:
      return soft_max_block(problem, lane, v);
    case PartRule::FreeEnergy:
      return free_energy_block(problem, lane, v);
    case PartRule::Shared:
      return shared_block(problem, lane, v);
  }
  return 0;
}

// Losses and their derivatives for rows [block.begin, block.end): samples, then context.
double charge_block(const DcpProblem& problem, const Lane& lane, const Block& block, float* f) {
  const int64_t stride = block.size();
  const int64_t num_samples = std::clamp<int64_t>(problem.n - block.begin, 0, block.size());
  double sum = 0;
  if (num_samples > 0)
    sum += sample_block(problem, lane, {f, stride, problem.num_parts, block.begin, num_samples});
  if (num_samples < block.size()) {
    const float* weights =
        problem.weights.empty() ? nullptr : problem.weights.data() + block.begin + num_samples;
    sum += lane.cost * MILIEU_SELECT_ISA(context_block)(
                           f + num_samples, stride, problem.num_parts, stride - num_samples,
                           weights, loss_number(lane.loss), static_cast<float>(lane.loss.width),
                           static_cast<float>(lane.cost));
  }
  return sum;
}

// The planes of many lanes below each other, ready for products with rows of the problem.
class PlaneStack {
 public:
  PlaneStack(const DcpProblem& problem, const std::vector<std::span<const double>>& planes)
      : is_packed_(problem.d >= kPlaneLanes),
        stacked_(static_cast<int64_t>(planes.size()) * problem.num_parts,
                 is_packed_ ? packed_size(problem.d) : problem.d) {
    for (int64_t p = 0; p < stacked_.rows(); ++p) {
      const double* plane =
          planes[p / problem.num_parts].data() + p % problem.num_parts * problem.d;
      if (is_packed_) {
        MILIEU_SELECT_ISA(pack_plane)(plane, problem.d, stacked_.row(p));
      } else {
        std::transform(plane, plane + problem.d, stacked_.row(p),
                       [](double value) { return static_cast<float>(value); });
      }
    }
  }

  int64_t size() const { return stacked_.rows(); }
  // f_pi of every plane and row; `out` is size() x rows.
  void multiply(FloatView rows, MatrixView<float> out) const {
    if (!is_packed_) return gemm_nt(1, stacked_, rows, 0, out);
    MILIEU_SELECT_ISA(plane_products)
    (stacked_.data(), size(), rows.data(), rows.rows(), rows.cols(), out.data(), out.stride());
  }

 private:
  bool is_packed_;
  Matrix<float> stacked_;
};

// The gradient of the losses: a product of slopes and rows. Late in a search few samples lie inside
// the margin, and it is cheaper to add those alone.
void add_gradient(const Matrix<float>& slopes, FloatView rows, std::vector<double>& total) {
  const int64_t planes = slopes.rows(), count = slopes.cols();
  const int64_t filled = MILIEU_SELECT_ISA(count_slopes)(slopes.data(), count, planes, count);
  const bool is_sparse = filled * kSparseShare <= planes * count;
  if (!is_sparse && rows.cols() >= kPlaneLanes) {
    MILIEU_SELECT_ISA(add_dense_slopes)
    (slopes.data(), count, planes, rows.data(), count, rows.cols(), total.data());
    return;
  }
  Matrix<float> gradient(planes, rows.cols());
  if (is_sparse) MILIEU_SELECT_ISA(add_slopes)
  (slopes.data(), count, planes, rows.data(), count, rows.cols(), gradient.data());
  else gemm(1, slopes, rows, 0, gradient);
  for (int64_t j = 0; j < gradient.size(); ++j) total[j] += gradient.data()[j];
}

struct BatchSums {
  std::vector<double> losses;     // a lane
  std::vector<double> gradients;  // lanes x K x D
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(losses, gradients);
  }
};

}  // namespace

bool evaluate(const DcpProblem& problem, std::span<Lane> lanes, const Monitor& monitor) {
  const int64_t usual = problem.block_size();
  const int64_t block_size =
      num_blocks(problem.num_rows(), usual) < kManyBlocks ? usual : 2 * usual;
  std::vector<std::span<const double>> planes;
  for (const Lane& lane : lanes) planes.push_back(lane.planes);
  const PlaneStack stack(problem, planes);
  const int64_t num_planes = stack.size(), d = problem.d;
  const BatchSums zero{std::vector<double>(lanes.size()),
                       std::vector<double>(static_cast<size_t>(num_planes * d))};
  const BatchSums sums = problem.team->parallel_reduce(
      problem.num_rows(), block_size, problem.num_threads, zero,
      [&](const Block& block, BatchSums& part) {
        if (monitor.should_stop()) return;
        const FloatView rows = problem.rows.view().rows_between(block.begin, block.end);
        Matrix<float> f(num_planes, block.size());
        stack.multiply(rows, f);
        for (size_t i = 0; i < lanes.size(); ++i)
          part.losses[i] += charge_block(problem, lanes[i], block,
                                         f.row(static_cast<int64_t>(i) * problem.num_parts));
        add_gradient(f, rows, part.gradients);
      },
      [](BatchSums& total, const BatchSums& part) {
        for (size_t i = 0; i < total.losses.size(); ++i) total.losses[i] += part.losses[i];
        for (size_t i = 0; i < total.gradients.size(); ++i) total.gradients[i] += part.gradients[i];
      });
  if (monitor.should_stop()) return false;
  const int64_t size = problem.num_parts * d;
  for (size_t i = 0; i < lanes.size(); ++i) {
    Lane& lane = lanes[i];
    lane.gradient.resize(size);
    double squared = 0;
    for (int64_t j = 0; j < size; ++j) {
      squared += lane.planes[j] * lane.planes[j];
      lane.gradient[j] = lane.planes[j] + sums.gradients[i * size + j];
    }
    lane.value = 0.5 * squared + sums.losses[i];
  }
  return true;
}

std::vector<std::vector<int>> label_samples(const DcpProblem& problem,
                                            const std::vector<std::span<const double>>& planes) {
  const PlaneStack stack(problem, planes);
  std::vector<std::vector<int>> labels(planes.size(), std::vector<int>(problem.n));
  const int64_t size = problem.block_size();
  problem.team->parallel_for(problem.n, size, problem.num_threads, [&](const Block& block) {
    Matrix<float> f(stack.size(), block.size());
    stack.multiply(problem.rows.view().rows_between(block.begin, block.end), f);
    for (size_t i = 0; i < planes.size(); ++i) MILIEU_SELECT_ISA(argmax_block)
    (f.row(static_cast<int64_t>(i) * problem.num_parts), block.size(), problem.num_parts,
     block.size(), labels[i].data() + block.begin);
  });
  for (std::vector<int>& all : labels) problem.team->complete<int>(problem.n, size, all);
  return labels;
}

Matrix<float> sample_values(const DcpProblem& problem, std::span<const double> planes) {
  const PlaneStack stack(problem, {planes});
  Matrix<float> values(problem.num_parts, problem.n);
  parallel_for(problem.n, problem.block_size(), problem.num_threads, [&](const Block& block) {
    stack.multiply(
        problem.rows.view().rows_between(block.begin, block.end),
        MatrixView<float>(values.data() + block.begin, problem.num_parts, block.size(), problem.n));
  });
  return values;
}

}  // namespace milieu::internal
