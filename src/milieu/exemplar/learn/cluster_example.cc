// SPDX-License-Identifier: Apache-2.0
// Symbols and equations: learn_steps.h. A round is one pass over the n x n pairs of a set: the dual
// of x_qq in the slave of p is kept as dual_pq - shift_q, where dual_pq grows by the step whenever
// that slave opens q and shift_q by the step times the share of all slaves that do. So the
// projection [Komodakis11, Eq. 31] costs n operations, and each entry is read and written once.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/cluster_example_internal.h"
#include "milieu/exemplar/learn/learn_loops.h"
#include "milieu/exemplar/learn/learn_steps.h"

namespace milieu::internal {

namespace {

constexpr int64_t kRowsPerBlock = 32;     // of slaves
constexpr int64_t kRowsPerProduct = 128;  // of distances: products of few rows pack too often
constexpr int64_t kTile = 32;             // divides kRowsPerProduct
constexpr float kNever = 1e38f;           // a distance that is never chosen

// Shared by both forms: labels, weights, latent exemplars, the gradient.
template <class Real>
class ClusterExampleBase : public CrfExample {
 public:
  ClusterExampleBase(std::shared_ptr<PairFeatures> features, std::vector<int> labels,
                     std::vector<double> scale, const ClusterExampleOptions& options,
                     Monitor& monitor)
      : features_(std::move(features)),
        labels_(std::move(labels)),
        scale_(std::move(scale)),
        options_(options),
        monitor_(monitor),
        members_(1 + *std::max_element(labels_.begin(), labels_.end())),
        distances_(n(), row_length()) {
    for (int p = 0; p < static_cast<int>(n()); ++p) members_[labels_[p]].push_back(p);
  }

  int64_t size() const override { return n(); }

  void complete(std::span<const double> w) override {
    update_distances(w);
    best_ = best_members(MatrixView<const Real>(distances()), members_);
  }

 protected:
  int64_t n() const { return static_cast<int64_t>(labels_.size()); }
  // Of n x n matrices: whole vectors, whose loads then never cross a line of the cache.
  int64_t row_length() const { return num_blocks(n(), kSlaveLanes) * kSlaveLanes; }
  MatrixView<Real> distances() { return {distances_.data(), n(), n(), row_length()}; }

  double penalty(std::span<const double> w) const {
    return options_.learn_penalty ? w.back() : options_.penalty;
  }

  // What every slave pays for exemplar q, before its duals: its cost is shared by all of them.
  double shared_cost(int64_t q) const {
    return (own_[q] + options_.beta) / static_cast<double>(n() + 1);
  }

  // The diagonal holds the costs of exemplars.
  void update_distances(std::span<const double> w) {
    if (w_.size() == w.size() && std::equal(w.begin(), w.end(), w_.begin())) return;
    w_.assign(w.begin(), w.end());
    std::vector<double> scaled(scale_.size());
    for (size_t t = 0; t < scaled.size(); ++t) scaled[t] = w[t] * scale_[t];
    features_->set_weights(scaled);
    own_.assign(static_cast<size_t>(n()), penalty(w));
    features_->add_own(own_);
    parallel_for(n(), kRowsPerProduct, options_.num_threads, [&](const Block& block) {
      if (monitor_.should_stop()) return;
      features_->upper_rows(block.begin, distances().rows_between(block.begin, block.end));
      for (int64_t p = block.begin; p < block.end; ++p)
        distances_(p, p) = static_cast<Real>(own_[p]);
    });
    if (features_->is_symmetric()) mirror_distances();
  }

  // The columns before each block of rows, from the rows above it; tile by tile, for the cache.
  void mirror_distances() {
    parallel_for(n(), kRowsPerProduct, options_.num_threads, [&](const Block& block) {
      for (int64_t left = 0; left < block.begin; left += kTile)
        for (int64_t top = block.begin; top < block.end; top += kTile)
          mirror_tile(left, top, std::min(kTile, block.end - top));
    });
  }

  // Columns left .. of `count` rows from `top` on.
  void mirror_tile(int64_t left, int64_t top, int64_t count) {
    const Real* in = distances_.row(left) + top;
    Real* out = distances_.row(top) + left;
    if constexpr (std::is_same_v<Real, float>) {
      MILIEU_SELECT_ISA(transpose)(in, kTile, count, row_length(), out);
    } else {
      for (int64_t p = 0; p < count; ++p)
        for (int64_t q = 0; q < kTile; ++q) out[p * row_length() + q] = in[q * row_length() + p];
    }
  }

  // Adds the subgradient [Komodakis11, Lemma 1] and returns the energy of x^k. num_open[q] is the
  // number of slaves that open q.
  template <class Count>
  double add_gradient(const std::vector<int>& chosen, std::span<const Count> num_open,
                      std::span<double> gradient) const {
    double energy = 0, all_open = 0;
    std::vector<double> sum(scale_.size(), 0.0);
    for (int64_t p = 0; p < n(); ++p) {
      const int q = best_[labels_[p]];
      energy += distances_(p, q);
      if (q == chosen[p]) continue;
      if (q != p) features_->add_pair(p, q, 1, sum);
      if (chosen[p] != p) features_->add_pair(p, chosen[p], -1, sum);
    }
    const double slaves = static_cast<double>(n() + 1);
    for (int64_t q = 0; q < n(); ++q) {
      all_open += num_open[q];
      features_->add_own_gradient(q, (best_[labels_[q]] == q) - num_open[q] / slaves, sum);
    }
    for (size_t t = 0; t < sum.size(); ++t) gradient[t] += sum[t] * scale_[t];
    if (options_.learn_penalty)
      gradient[scale_.size()] += static_cast<double>(members_.size()) - all_open / slaves;
    return energy;
  }

  std::shared_ptr<PairFeatures> features_;
  std::vector<int> labels_;
  std::vector<double> scale_;
  ClusterExampleOptions options_;
  Monitor& monitor_;
  std::vector<std::vector<int>> members_;  // of each true cluster
  Matrix<Real> distances_;                 // n x row_length, under w_
  std::vector<double> w_;
  std::vector<double> own_;  // n: d_qq under w_
  std::vector<int> best_;    // the exemplar of each true cluster
};

// Statistics of a block of sample slaves.
struct SlaveSums {
  double bound = 0;
  std::vector<int32_t> count;  // row_length: slaves of the block that open q
};

class ClusterExample : public ClusterExampleBase<float> {
 public:
  template <class... Arguments>
  explicit ClusterExample(Arguments&&... arguments)
      : ClusterExampleBase(std::forward<Arguments>(arguments)...),
        dual_(n(), row_length()),
        cluster_dual_(n(), 0.0),
        shift_(n(), 0.0),
        charge_(row_length(), 1.0f),
        padded_labels_(labels_),
        chosen_(n()) {
    // What fills the rows up is neither open nor cheap.
    padded_labels_.resize(row_length(), -1);
    for (int64_t p = 0; p < n(); ++p)
      std::fill(distances_.row(p) + n(), distances_.row(p) + row_length(), kNever);
  }

  CrfParts descend(std::span<const double> w, double dual_step,
                   std::span<double> gradient) override {
    update_distances(w);
    for (int64_t q = 0; q < n(); ++q) charge_[q] = static_cast<float>(shared_cost(q) - shift_[q]);
    CrfParts parts;
    SlaveSums sums = minimise_samples(static_cast<float>(dual_step));
    if (monitor_.should_stop()) return parts;
    parts.bound = sums.bound + minimise_clusters(dual_step, sums.count);
    for (int64_t q = 0; q < n(); ++q)
      shift_[q] += dual_step * sums.count[q] / static_cast<double>(n() + 1);
    parts.energy = add_gradient(chosen_, std::span<const int32_t>(sums.count), gradient);
    return parts;
  }

 private:
  SlaveSums minimise_samples(float step) {
    const SlaveSums zero{0, std::vector<int32_t>(row_length(), 0)};
    return parallel_reduce(
        n(), kRowsPerBlock, options_.num_threads, zero,
        [&](const Block& block, SlaveSums& sums) {
          if (monitor_.should_stop()) return;
          for (int64_t p = block.begin; p < block.end; ++p)
            sums.bound += minimise_sample(p, step, sums.count);
        },
        [](SlaveSums& total, const SlaveSums& part) {
          total.bound += part.bound;
          for (size_t q = 0; q < total.count.size(); ++q) total.count[q] += part.count[q];
        });
  }

  // minimise_sample_slave of learn_steps.h in one pass: the sample itself is taken out before and
  // put back after it.
  double minimise_sample(int64_t p, float step, std::vector<int32_t>& count) {
    float* dual = dual_.row(p);
    float* distance = distances_.row(p);
    const float own_dual = dual[p], own_theta = charge_[p] + own_dual, own_distance = distance[p];
    dual[p] = -charge_[p] + 1;  // neither open nor cheap
    distance[p] = kNever;
    double gained = 0;
    int64_t first = 0;
    bool is_open = false;
    const float least = MILIEU_SELECT_ISA(slave_row)(
        distance, charge_.data(), padded_labels_.data(), row_length(), labels_[p],
        static_cast<float>(options_.beta), step, dual, count.data(), &gained, &first, &is_open);
    dual[p] = own_dual;
    distance[p] = own_distance;
    const bool is_own = own_theta < least || (own_theta == least && p < first) || n() == 1;
    const int64_t chosen = is_own ? p : first;
    if (is_own || !is_open) {  // else slave_row has opened it already
      ++count[chosen];
      dual[chosen] += step;
    }
    chosen_[p] = static_cast<int>(chosen);
    return (is_own ? own_theta : least) + gained - options_.beta;
  }

  double minimise_clusters(double step, std::vector<int32_t>& count) {
    double bound = 0;
    for (const std::vector<int>& members : members_) {
      std::vector<double> theta;
      for (const int q : members) theta.push_back(shared_cost(q) - shift_[q] + cluster_dual_[q]);
      std::vector<char> is_open(members.size());
      bound += minimise_cluster_slave(theta, options_.alpha, is_open);
      for (size_t i = 0; i < members.size(); ++i) {
        if (is_open[i] == 0) continue;
        ++count[members[i]];
        cluster_dual_[members[i]] += step;
      }
    }
    return bound;
  }

  Matrix<float> dual_;                // n x row_length
  std::vector<double> cluster_dual_;  // n, of x_qq in the slave of q's cluster
  std::vector<double> shift_;         // n
  std::vector<float> charge_;         // row_length: what slaves pay for q, before their own duals
  std::vector<int> padded_labels_;    // row_length
  std::vector<int> chosen_;
};

class ExactClusterExample : public ClusterExampleBase<double> {
 public:
  template <class... Arguments>
  explicit ExactClusterExample(Arguments&&... arguments)
      : ClusterExampleBase(std::forward<Arguments>(arguments)...),
        lambda_(n(), n()),
        cluster_lambda_(n(), 0.0),
        is_open_(n(), n()),
        cluster_is_open_(n(), 0),
        chosen_(n()) {}

  CrfParts descend(std::span<const double> w, double dual_step,
                   std::span<double> gradient) override {
    update_distances(w);
    CrfParts parts;
    for (int p = 0; p < static_cast<int>(n()); ++p) {
      if (monitor_.should_stop()) return parts;
      parts.bound += minimise_sample(p);
    }
    for (const std::vector<int>& members : members_) parts.bound += minimise_cluster(members);
    std::vector<double> share(n(), 0.0);
    for (int64_t q = 0; q < n(); ++q) {
      share[q] = cluster_is_open_[q];
      for (int64_t p = 0; p < n(); ++p) share[q] += is_open_(p, q);
    }
    parts.energy = add_gradient(chosen_, std::span<const double>(share), gradient);
    for (double& each : share) each /= static_cast<double>(n() + 1);
    for (int64_t p = 0; p < n(); ++p)
      update_duals(is_open_.row_span(p), share, dual_step, lambda_.row_span(p));
    update_duals(cluster_is_open_, share, dual_step, cluster_lambda_);
    return parts;
  }

 private:
  double minimise_sample(int p) {
    std::vector<double> ubar(n()), theta(n());
    for (int64_t q = 0; q < n(); ++q) {
      ubar[q] = distances_(p, q) + (labels_[p] == labels_[q] ? options_.beta : 0.0);
      theta[q] = shared_cost(q) + lambda_(p, q);
    }
    const SlaveMinimum minimum =
        minimise_sample_slave(p, ubar, theta, options_.beta, is_open_.row_span(p));
    chosen_[p] = minimum.chosen;
    return minimum.value;
  }

  double minimise_cluster(const std::vector<int>& members) {
    std::vector<double> theta;
    for (const int q : members) theta.push_back(shared_cost(q) + cluster_lambda_[q]);
    std::vector<char> is_open(members.size());
    const double value = minimise_cluster_slave(theta, options_.alpha, is_open);
    for (size_t i = 0; i < members.size(); ++i) cluster_is_open_[members[i]] = is_open[i];
    return value;
  }

  Matrix<double> lambda_;               // n x n, [p, q]: dual of x_qq in the slave of p
  std::vector<double> cluster_lambda_;  // n
  Matrix<char> is_open_;                // n x n, row p: the choice of p's slave
  std::vector<char> cluster_is_open_;
  std::vector<int> chosen_;
};

}  // namespace

std::unique_ptr<CrfExample> make_cluster_example(std::shared_ptr<PairFeatures> features,
                                                 std::vector<int> labels, std::vector<double> scale,
                                                 const ClusterExampleOptions& options,
                                                 Monitor& monitor) {
  return std::make_unique<ClusterExample>(std::move(features), std::move(labels), std::move(scale),
                                          options, monitor);
}

std::unique_ptr<CrfExample> make_exact_cluster_example(std::shared_ptr<PairFeatures> features,
                                                       std::vector<int> labels,
                                                       std::vector<double> scale,
                                                       const ClusterExampleOptions& options,
                                                       Monitor& monitor) {
  return std::make_unique<ExactClusterExample>(std::move(features), std::move(labels),
                                               std::move(scale), options, monitor);
}

}  // namespace milieu::internal
