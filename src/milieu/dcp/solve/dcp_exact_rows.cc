// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "milieu/base/parallel.h"
#include "milieu/dcp/solve/dcp_loops.h"
#include "milieu/dcp/solve/dcp_svm_internal.h"
#include "milieu/linalg/isa.h"

namespace milieu::internal {
namespace {

// Up to half a gigabyte of doubles is kept.
constexpr int64_t kMaxCopy = int64_t{1} << 26;
constexpr int64_t kMomentRows = 1024;

void add_to(std::vector<double>& total, const std::vector<double>& part) {
  for (size_t i = 0; i < total.size(); ++i) total[i] += part[i];
}

}  // namespace

ExactRows::ExactRows(const DcpProblem& problem, const Monitor& monitor)
    : problem_(problem), monitor_(monitor) {
  if (problem.num_rows() * problem.d > kMaxCopy) return;
  copy_ = Matrix<double>(problem.num_rows(), problem.d);
  // The own rows of all passes, which are cut in two ways.
  const Rows own = problem.team->rows(rows(), problem.block_size());
  const Rows wide = problem.team->rows(rows(), moment_rows());
  const int64_t begin = std::min(own.begin(), wide.begin());
  const int64_t count = std::max(own.end(), wide.end()) - begin;
  parallel_for(count, problem.block_size(), problem.num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    problem.source->fill(begin + block.begin, begin + block.end, copy_.row(begin + block.begin));
  });
}

int64_t ExactRows::moment_rows() const { return std::max(kMomentRows, problem_.block_size()); }

std::vector<double> ExactRows::products(std::span<const double> v) const {
  std::vector<double> out(rows());
  const int64_t size = problem_.block_size();
  problem_.team->parallel_for(rows(), size, problem_.num_threads, [&](const Block& block) {
    if (monitor_.should_stop()) return;
    std::vector<double> made;
    const double* source = copy_.empty() ? nullptr : copy_.row(block.begin);
    if (source == nullptr) {
      made.resize(block.size() * cols());
      problem_.source->fill(block.begin, block.end, made.data());
      source = made.data();
    }
    MILIEU_SELECT_ISA(row_products)
    (source, block.size(), cols(), v.data(), out.data() + block.begin);
  });
  problem_.team->complete<double>(rows(), size, out);
  return out;
}

ExactRows::Gathered ExactRows::gather(int64_t begin, int64_t end,
                                      std::span<const double> coefficients) const {
  Gathered gathered;
  const auto part = coefficients.subspan(begin, end - begin);
  const int64_t count = end - begin - std::count(part.begin(), part.end(), 0.0);
  gathered.rows.reserve(count * cols());
  gathered.coefficients.reserve(count);
  std::vector<double> made;
  const double* source = copy_.empty() ? nullptr : copy_.row(begin);
  for (int64_t i = begin; i < end; ++i) {
    if (coefficients[i] == 0) continue;
    if (source == nullptr) {
      made.resize((end - begin) * cols());
      problem_.source->fill(begin, end, made.data());
      source = made.data();
    }
    const double* row = source + (i - begin) * cols();
    gathered.rows.insert(gathered.rows.end(), row, row + cols());
    gathered.coefficients.push_back(coefficients[i]);
  }
  return gathered;
}

std::vector<double> ExactRows::combination(std::span<const double> coefficients) const {
  return problem_.team->parallel_reduce(
      rows(), problem_.block_size(), problem_.num_threads, std::vector<double>(cols()),
      [&](const Block& block, std::vector<double>& sum) {
        if (monitor_.should_stop()) return;
        const Gathered g = gather(block.begin, block.end, coefficients);
        MILIEU_SELECT_ISA(add_scaled_rows)
        (g.rows.data(), g.count(), cols(), g.coefficients.data(), sum.data());
      },
      add_to);
}

std::vector<double> ExactRows::second_moment(std::span<const double> weights) const {
  return problem_.team->parallel_reduce(
      rows(), moment_rows(), problem_.num_threads,
      std::vector<double>(static_cast<size_t>(cols() * cols())),
      [&](const Block& block, std::vector<double>& sum) {
        if (monitor_.should_stop()) return;
        const Gathered g = gather(block.begin, block.end, weights);
        MILIEU_SELECT_ISA(add_weighted_outer)
        (g.rows.data(), g.count(), cols(), g.coefficients.data(), sum.data());
      },
      add_to);
}

}  // namespace milieu::internal
