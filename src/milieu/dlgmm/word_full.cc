// SPDX-License-Identifier: Apache-2.0
// Words with full covariances: what differs from word_steps.cc. Lambda = L L^T row-major in a row
// of word_variances; its inverse root L^-1 scores a patch as |L^-1 (o - omega)|^2.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "milieu/dlgmm/word_full_internal.h"

namespace milieu::internal {

namespace {

using Square = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Square covariance_of(const DlgmmModel& model, int64_t word) {
  const int64_t dim = model.words.cols();
  const double* row = model.word_variances.row(model.word_variances.rows() == 1 ? 0 : word);
  return Eigen::Map<const RowMajor>(row, dim, dim);
}

// sum phi (o - omega)(o - omega)^T about the new omega.
Square scatter_about(const WordStats& stats, DoubleView old_words, const DlgmmModel& model,
                     int64_t v) {
  const int64_t dim = model.words.cols();
  const Eigen::Map<const Eigen::VectorXd> first(stats.first.row(v), dim);
  const Eigen::VectorXd moved = Eigen::Map<const Eigen::VectorXd>(model.words.row(v), dim) -
                                Eigen::Map<const Eigen::VectorXd>(old_words.row(v), dim);
  return Square(Eigen::Map<const RowMajor>(stats.second.row(v), dim, dim)) -
         first * moved.transpose() - moved * first.transpose() +
         stats.mass[v] * moved * moved.transpose();
}

double log_constant(const Eigen::LLT<Square>& root) {
  const Square lower = root.matrixL();
  return -0.5 * static_cast<double>(lower.rows()) * std::log(2 * std::numbers::pi) -
         lower.diagonal().array().log().sum();
}

}  // namespace

void fill_full_scores(const DlgmmModel& model, int64_t v, bool is_free, WordScorer& s) {
  const int64_t dim = model.words.cols();
  const Eigen::LLT<Square> root(covariance_of(model, v));
  const Square inverse = root.matrixL().solve(Square::Identity(dim, dim));
  Eigen::Map<RowMajor>(s.inverse.row(v), dim, dim) = inverse;
  s.constants[v] = s.beta * log_constant(root);
  const Square precision = s.beta * inverse.transpose() * inverse;
  Eigen::VectorXd w(dim);
  for (int64_t r = 0; r < dim; ++r) w[r] = model.words(v, r) - static_cast<double>(s.center[r]);
  const Eigen::VectorXd linear = precision * w;
  float* factors = s.factors.row(v);
  for (int64_t r = 0; r < dim; ++r) *factors++ = static_cast<float>(linear[r]);
  for (int64_t r = 0; r < dim && is_free; ++r)
    for (int64_t c = r; c < dim; ++c)
      *factors++ = static_cast<float>((c == r ? -0.5 : -1) * precision(r, c));
  s.float_constants[v] = s.constants[v] - 0.5 * w.dot(linear);
}

double full_distance(const WordScorer& s, const float* patch, int64_t word) {
  const int64_t dim = s.words.cols();
  const double* w = s.words.row(word);
  const double* inverse = s.inverse.row(word);
  double sum = 0;
  for (int64_t r = 0; r < dim; ++r) {
    double part = 0;  // the inverse root is a lower triangle
    for (int64_t c = 0; c <= r; ++c)
      part += inverse[r * dim + c] * (static_cast<double>(patch[c]) - w[c]);
    sum += part * part;
  }
  return sum;
}

void add_products(double share, const float* patch, const double* word, int64_t dim,
                  double* second) {
  for (int64_t r = 0; r < dim; ++r) {
    const double left = share * (static_cast<double>(patch[r]) - word[r]);
    for (int64_t c = 0; c < dim; ++c)
      second[r * dim + c] += left * (static_cast<double>(patch[c]) - word[c]);
  }
}

double full_word_term(const WordStats& stats, DoubleView old_words, const DlgmmModel& model) {
  double sum = 0;
  for (int64_t v = 0; v < model.num_words(); ++v) {
    if (stats.mass[v] == 0) continue;
    const Eigen::LLT<Square> root(covariance_of(model, v));
    sum += stats.mass[v] * log_constant(root) -
           0.5 * root.solve(scatter_about(stats, old_words, model, v)).trace();
  }
  return model.kappa * model.beta * sum;
}

void update_full_variances(const WordStats& stats, DoubleView old_words, int64_t first,
                           int64_t last, double floor, DlgmmModel& model) {
  const int64_t dim = model.words.cols();
  double mass = 0;
  Square scatter = Square::Zero(dim, dim);
  for (int64_t w = first; w < last; ++w) {
    mass += stats.mass[w];
    scatter += scatter_about(stats, old_words, model, w);
  }
  if (mass < kLightWord) return;
  const Eigen::SelfAdjointEigenSolver<Square> axes(scatter / mass);
  const Square raised = axes.eigenvectors() * axes.eigenvalues().cwiseMax(floor).asDiagonal() *
                        axes.eigenvectors().transpose();
  double* row = model.word_variances.row(model.word_variances.rows() == 1 ? 0 : first);
  Eigen::Map<RowMajor>(row, dim, dim) = 0.5 * (raised + raised.transpose());
}

bool are_full_words_valid(const DlgmmModel& model) {
  for (int64_t v = 0; v < model.word_variances.rows(); ++v)
    if (Eigen::LLT<Square>(covariance_of(model, v)).info() != Eigen::Success) return false;
  return true;
}

Matrix<double> word_root(const DlgmmModel& model, int64_t row) {
  const int64_t dim = model.words.cols();
  Matrix<double> root(dim, dim);
  Eigen::Map<RowMajor>(root.data(), dim, dim) =
      Square(Eigen::LLT<Square>(covariance_of(model, row)).matrixL());
  return root;
}

}  // namespace milieu::internal
