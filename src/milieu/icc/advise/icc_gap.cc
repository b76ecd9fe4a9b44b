// SPDX-License-Identifier: Apache-2.0
// Problem: is there a direction along which the samples of a class have two modes?
// Find: in a few spaces (the class's own principal axes, all and half of them, and the axes that
//   distinguish the other classes; the smallest p counts, times their number) a cut into two and
//   the discriminant direction of its sides, alternately until neither changes; of several initial
//   cuts the direction with the largest dip. Cross-fitted: each fold is projected along the
//   direction that the other folds chose, and the dip test sees only these projections, aligned by
//   mean and deviation of the samples that chose the direction. A class with one mode along every
//   direction passes at most as often as the level says; choosing costs nothing, because the tested
//   samples did not choose.
// See: [Hartigan85], docs/algorithms/icc.md.
#include "milieu/icc/advise/icc_gap_internal.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace milieu::internal {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kFolds = 5;
constexpr int kRandomCuts = 8;
constexpr int kMostRounds = 15;
constexpr double kRidge = 0.02;      // of the mean variance, in the covariance inside the sides
constexpr double kLeastShare = 0.1;  // of the samples on either side of a cut
constexpr int64_t kRowsPerDim = 6;

struct Cut {
  Eigen::VectorXd direction;  // m
  double mean = 0, deviation = 1, place = 0;
  double dip = -1;

  double project(const Eigen::VectorXd& x) const { return (direction.dot(x) - mean) / deviation; }
};

// The place between sorted values that leaves the least sum of squares on both sides.
double best_place(const Eigen::VectorXd& values) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const auto least = static_cast<size_t>(std::max(1.0, kLeastShare * n));
  double left = 0, best = -1, place = sorted[sorted.size() / 2];
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    left += sorted[i];
    const auto count = static_cast<double>(i + 1);
    if (i + 1 < least || sorted.size() - i - 1 < least) continue;
    const double apart = left / count - (total - left) / (n - count);
    const double between = count * (n - count) * apart * apart;
    if (between > best) {
      best = between;
      place = (sorted[i] + sorted[i + 1]) / 2;
    }
  }
  return place;
}

// The discriminant direction of two sides.
Eigen::VectorXd direction_of(const RowMatrix& x, const std::vector<char>& is_right) {
  const Eigen::Index q = x.cols();
  Eigen::VectorXd means[2] = {Eigen::VectorXd::Zero(q), Eigen::VectorXd::Zero(q)};
  double counts[2] = {0, 0};
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    means[static_cast<int>(is_right[i])] += x.row(i).transpose();
    ++counts[static_cast<int>(is_right[i])];
  }
  for (int side = 0; side < 2; ++side) means[side] /= std::max(1.0, counts[side]);
  RowMatrix centred = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    centred.row(i) -= means[static_cast<int>(is_right[i])].transpose();
  Eigen::MatrixXd within = centred.transpose() * centred / static_cast<double>(x.rows());
  within.diagonal().array() += kRidge * within.trace() / static_cast<double>(q) + 1e-12;
  return within.llt().solve(means[1] - means[0]);
}

Cut climb(const RowMatrix& x, Eigen::VectorXd direction) {
  std::vector<char> is_right(x.rows()), before;
  Eigen::VectorXd values;
  double place = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    values = x * direction;
    place = best_place(values);
    before = is_right;
    for (Eigen::Index i = 0; i < x.rows(); ++i) is_right[i] = values[i] > place;
    if (round > 0 && is_right == before) break;
    direction = direction_of(x, is_right);
  }
  values = x * direction;
  Cut cut;
  cut.direction = direction;
  cut.mean = values.mean();
  cut.deviation =
      std::sqrt((values.array() - cut.mean).square().mean()) + 1e-300;  // of a constant class
  cut.place = (best_place(values) - cut.mean) / cut.deviation;
  cut.dip = dip_of({values.data(), static_cast<size_t>(values.size())});
  return cut;
}

// The leading principal axes of the rows, as columns.
Eigen::MatrixXd own_axes(const RowMatrix& x, Eigen::Index q) {
  const RowMatrix centred = x.rowwise() - x.colwise().mean();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(centred.transpose() * centred);
  return solver.eigenvectors().rightCols(q).rowwise().reverse();
}

// Best cut in the space of the columns of `axes`, as a direction of the whole space.
Cut cut_in(const RowMatrix& x, const Eigen::MatrixXd& axes, Random random) {
  const RowMatrix z = x * axes;
  Cut best;
  const auto try_from = [&](const Eigen::VectorXd& initial) {
    if (!(initial.norm() > 0)) return;
    Cut cut = climb(z, initial);
    if (cut.dip > best.dip) best = std::move(cut);
  };
  for (Eigen::Index a = 0; a < std::min<Eigen::Index>(z.cols(), 4); ++a)
    try_from(Eigen::VectorXd::Unit(z.cols(), a));
  for (int r = 0; r < kRandomCuts; ++r)  // between two samples
    try_from((z.row(random.uniform_index(z.rows())) - z.row(random.uniform_index(z.rows())))
                 .transpose());
  if (best.dip >= 0) best.direction = axes * best.direction;
  return best;
}

// The spaces in which a gap is looked for, each with its own test: all principal axes of the class
// that its samples allow, half of them, and axes that distinguish the other classes.
enum class Where { Own, FewOwn, Context };

Cut best_cut(const RowMatrix& x, Where where, const Matrix<double>& context_axes, int num_dims,
             const Random& random) {
  const Eigen::Index most = std::max<Eigen::Index>(
      1, std::min<Eigen::Index>({num_dims, x.cols(), x.rows() / kRowsPerDim}));
  if (where == Where::Own) return cut_in(x, own_axes(x, most), random);
  if (where == Where::FewOwn) return cut_in(x, own_axes(x, (most + 1) / 2), random);
  const Eigen::Map<const RowMatrix> axes(context_axes.data(), context_axes.rows(),
                                         context_axes.cols());
  return cut_in(x, axes.topRows(std::min<Eigen::Index>(most, axes.rows())).transpose(), random);
}

RowMatrix rows_where(const RowMatrix& x, const std::vector<int>& folds, int fold, bool is_equal) {
  RowMatrix out(x.rows(), x.cols());
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if ((folds[i] == fold) == is_equal) out.row(count++) = x.row(i);
  return out.topRows(count);
}

struct Repeat {
  double p_value = 1, agreement = 0;
};

// One cross-fitting: the test on all held-out projections, and how many of them lie on the side of
// `whole`, the cut of all samples.
Repeat cross_fit(const RowMatrix& x, Where where, const Matrix<double>& context_axes,
                 const Cut& whole, int num_dims, Random random, DipTest& test) {
  std::vector<int> folds(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) folds[i] = static_cast<int>(i % kFolds);
  random.shuffle(std::span<int>(folds));
  std::vector<double> held_out;
  double agreement = 0;
  for (int f = 0; f < kFolds; ++f) {
    const RowMatrix train = rows_where(x, folds, f, false);
    const Cut cut =
        best_cut(train, where, context_axes, num_dims, random.child(static_cast<uint64_t>(f)));
    const Eigen::VectorXd own = train * cut.direction, other = train * whole.direction;
    const double turn =
        ((own.array() - own.mean()) * (other.array() - other.mean())).sum() < 0 ? -1 : 1;
    int64_t agreeing = 0, count = 0;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (folds[i] != f) continue;
      const double z = cut.project(x.row(i).transpose());
      held_out.push_back(turn * z);
      agreeing +=
          (turn * (z - cut.place) > 0) == (whole.project(x.row(i).transpose()) > whole.place);
      ++count;
    }
    agreement += static_cast<double>(std::max(agreeing, count - agreeing));
  }
  const auto n = static_cast<int64_t>(held_out.size());
  return {test.p_value(dip_of(held_out), n), agreement / static_cast<double>(n)};
}

Gap gap_in(const RowMatrix& x, Where where, const Matrix<double>& context_axes,
           const IccAdviseOptions& options, const Random& random, DipTest& test,
           const Monitor& monitor) {
  const Cut whole = best_cut(x, where, context_axes, options.num_dims, random.child(0));
  Gap gap;
  gap.sides.assign(x.rows(), 0);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    gap.sides[i] = whole.project(x.row(i).transpose()) > whole.place;
  const auto right = std::ranges::count(gap.sides, 1);
  const bool is_balanced = std::min<int64_t>(right, x.rows() - right) >= options.min_size;
  std::vector<double> p_values;
  gap.stability = 0;
  for (int r = 0; r < options.repeats && !monitor.should_stop(); ++r) {
    const Repeat repeat = cross_fit(x, where, context_axes, whole, options.num_dims,
                                    random.child(static_cast<uint64_t>(r + 1)), test);
    p_values.push_back(repeat.p_value);
    gap.stability += repeat.agreement / options.repeats;
  }
  std::ranges::sort(p_values);
  gap.p_value = is_balanced && !p_values.empty() ? p_values[p_values.size() / 2] : 1;
  return gap;
}

}  // namespace

Gap find_gap(const Matrix<float>& rows, const Matrix<double>& context_axes,
             const IccAdviseOptions& options, const Random& random, DipTest& test,
             const Monitor& monitor) {
  RowMatrix x(rows.rows(), rows.cols());
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t j = 0; j < rows.cols(); ++j) x(i, j) = rows(i, j);
  std::vector<Where> spaces = {Where::Own};
  if (std::min<int64_t>({rows.cols(), options.num_dims, rows.rows() / kRowsPerDim}) > 1)
    spaces.push_back(Where::FewOwn);
  if (!context_axes.empty()) spaces.push_back(Where::Context);
  Gap best;
  best.p_value = 2;
  for (size_t s = 0; s < spaces.size(); ++s) {
    Gap gap = gap_in(x, spaces[s], context_axes, options, random.child(s), test, monitor);
    if (gap.p_value < best.p_value) best = std::move(gap);
  }
  best.p_value = std::min(1.0, best.p_value * static_cast<double>(spaces.size()));
  if (best.p_value > options.level) best.sides.assign(best.sides.size(), 0);
  return best;
}

}  // namespace milieu::internal
