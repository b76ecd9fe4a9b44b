// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/learn_loops.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"

namespace milieu::internal {

namespace {

class JoinedFeatures : public PairFeatures {
 public:
  JoinedFeatures(std::shared_ptr<PairFeatures> base, std::vector<Matrix<float>> matrices)
      : base_(std::move(base)), matrices_(std::move(matrices)) {}

  int64_t num_samples() const override { return base_->num_samples(); }
  int64_t num_features() const override { return base_->num_features() + std::ssize(matrices_); }

  void set_weights(std::span<const double> w) override {
    const size_t count = static_cast<size_t>(base_->num_features());
    base_->set_weights(w.first(count));
    w_.assign(w.begin() + static_cast<int64_t>(count), w.end());
  }

  bool is_symmetric() const override { return base_->is_symmetric(); }
  void rows(int64_t begin, MatrixView<float> out) const override {
    base_->rows(begin, out);
    add_matrices(0, begin, out);
  }
  void upper_rows(int64_t begin, MatrixView<float> out) const override {
    base_->upper_rows(begin, out);
    add_matrices(base_->is_symmetric() ? begin : 0, begin, out);
  }
  void rows(int64_t begin, MatrixView<double> out) const override {
    base_->rows(begin, out);
    for (size_t t = 0; t < matrices_.size(); ++t)
      for (int64_t i = 0; i < out.rows(); ++i)
        for (int64_t q = 0; q < num_samples(); ++q) out(i, q) += w_[t] * matrices_[t](begin + i, q);
  }

  void add_pair(int64_t p, int64_t q, double factor, std::span<double> sum) const override {
    const size_t count = static_cast<size_t>(base_->num_features());
    base_->add_pair(p, q, factor, sum.first(count));
    for (size_t t = 0; t < matrices_.size(); ++t) sum[count + t] += factor * matrices_[t](p, q);
  }

  std::vector<double> sums(int num_threads) const override {
    std::vector<double> all = base_->sums(num_threads);
    for (const Matrix<float>& matrix : matrices_) {
      double sum = 0;
      for (int64_t i = 0; i < matrix.size(); ++i) sum += matrix.data()[i];
      all.push_back(sum);
    }
    return all;
  }

 private:
  // Columns `first` and on; the diagonals are 0.
  void add_matrices(int64_t first, int64_t begin, MatrixView<float> out) const {
    const auto add = MILIEU_SELECT_ISA(add_scaled);
    for (size_t t = 0; t < matrices_.size(); ++t)
      for (int64_t i = 0; w_[t] != 0 && i < out.rows(); ++i)
        add(matrices_[t].row(begin + i) + first, static_cast<float>(w_[t]), num_samples() - first,
            out.row(i) + first);
  }

  std::shared_ptr<PairFeatures> base_;
  std::vector<Matrix<float>> matrices_;
  std::vector<double> w_;
};

}  // namespace

std::shared_ptr<PairFeatures> make_joined_features(std::shared_ptr<PairFeatures> base,
                                                   std::vector<Matrix<float>> matrices) {
  return std::make_shared<JoinedFeatures>(std::move(base), std::move(matrices));
}

}  // namespace milieu::internal
