// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/pair_features.h"

namespace milieu {

namespace {

class OwnCostFeatures : public PairFeatures {
 public:
  OwnCostFeatures(std::shared_ptr<PairFeatures> base, Matrix<float> own, bool is_shared)
      : base_(std::move(base)),
        own_(std::move(own)),
        first_(is_shared ? 0 : static_cast<size_t>(base_->num_features())),
        num_features_(base_->num_features() + (is_shared ? 0 : own_.cols())) {}

  int64_t num_samples() const override { return base_->num_samples(); }
  int64_t num_features() const override { return num_features_; }

  void set_weights(std::span<const double> w) override {
    base_->set_weights(w.first(static_cast<size_t>(base_->num_features())));
    w_.assign(w.begin() + static_cast<int64_t>(first_), w.end());
  }

  bool is_symmetric() const override { return base_->is_symmetric(); }
  void rows(int64_t begin, MatrixView<float> out) const override { base_->rows(begin, out); }
  void rows(int64_t begin, MatrixView<double> out) const override { base_->rows(begin, out); }
  void upper_rows(int64_t begin, MatrixView<float> out) const override {
    base_->upper_rows(begin, out);
  }
  void upper_rows(int64_t begin, MatrixView<double> out) const override {
    base_->upper_rows(begin, out);
  }
  void add_pair(int64_t p, int64_t q, double factor, std::span<double> sum) const override {
    base_->add_pair(p, q, factor, sum.first(static_cast<size_t>(base_->num_features())));
  }
  std::vector<double> sums(int num_threads) const override {
    std::vector<double> all = base_->sums(num_threads);
    all.resize(static_cast<size_t>(num_features_), 0.0);
    return all;
  }

  void add_own(std::span<double> own) const override {
    for (int64_t q = 0; q < own_.rows(); ++q)
      for (int64_t t = 0; t < own_.cols(); ++t) own[q] += w_[t] * own_(q, t);
  }
  void add_own_gradient(int64_t q, double factor, std::span<double> sum) const override {
    for (int64_t t = 0; t < own_.cols(); ++t) sum[first_ + t] += factor * own_(q, t);
  }

 private:
  std::shared_ptr<PairFeatures> base_;
  Matrix<float> own_;  // n x G
  size_t first_;       // the weight of its first column
  int64_t num_features_;
  std::vector<double> w_;
};

}  // namespace

std::unique_ptr<PairFeatures> make_own_cost_features(std::shared_ptr<PairFeatures> base,
                                                     Matrix<float> own, bool is_shared) {
  return std::make_unique<OwnCostFeatures>(std::move(base), std::move(own), is_shared);
}

}  // namespace milieu
