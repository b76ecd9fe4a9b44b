// SPDX-License-Identifier: Apache-2.0
// The model: the names in its files, its checks, its correlated words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/dlgmm/word_full_internal.h"

namespace milieu {

namespace {

void require_model(bool holds, const char* rule) {
  if (!holds) throw DataError(fmt::format("dlgmm model: {}", rule));
}

template <class T>
bool all_of(const T* data, int64_t count, bool must_be_positive) {
  return std::all_of(data, data + count,
                     [&](double x) { return std::isfinite(x) && (!must_be_positive || x > 0); });
}

bool are_finite(const Matrix<double>& values) {
  return all_of(values.data(), values.size(), false);
}

void check_factors(const DlgmmModel& m) {
  const auto size = static_cast<int64_t>(m.factor_variances.size());
  if (!m.is_low_rank()) {
    require_model(m.factors.empty() && m.origin.empty() && m.factor_means.empty() && size == 0,
                  "factors belong to low-rank covariances");
    return;
  }
  require_model(size > 0 && m.factors.rows() == m.means.cols() && m.factors.cols() == size &&
                    m.origin.rows() == 1 && m.origin.cols() == m.means.cols() &&
                    m.factor_means.rows() == m.num_clusters() && m.factor_means.cols() == size,
                "the shapes of the factors do not match");
  require_model(are_finite(m.factors) && are_finite(m.origin) && are_finite(m.factor_means),
                "factors must be finite");
  require_model(all_of(m.factor_variances.data(), size, true), "factor_variances must be above 0");
}

void check_vectors(const DlgmmModel& m) {
  const auto size = static_cast<int64_t>(m.image_variances.size());
  if (!m.has_image_vectors()) {
    require_model(m.image_means.empty() && size == 0 && m.image_weight.empty(),
                  "image_means need an image_projection");
    return;
  }
  require_model(size > 0 && m.image_projection.rows() == size + 1 &&
                    m.image_means.rows() == m.num_clusters() && m.image_means.cols() == size &&
                    m.image_weight.size() == 1,
                "the shapes of the image vectors' arrays do not match");
  require_model(all_of(m.image_projection.data(), m.image_projection.size(), false) &&
                    are_finite(m.image_means) && std::isfinite(m.image_weight[0]) &&
                    m.image_weight[0] >= 0,
                "arrays of image vectors must be finite");
  require_model(all_of(m.image_variances.data(), size, true), "image_variances must be above 0");
}

}  // namespace

const char* to_string(DlgmmPosterior posterior) {
  return posterior == DlgmmPosterior::Structured ? "structured" : "mean-field";
}

const char* to_string(DlgmmCovariance covariance) {
  switch (covariance) {
    case DlgmmCovariance::Diagonal:
      return "diagonal";
    case DlgmmCovariance::TiedDiagonal:
      return "tied-diagonal";
    case DlgmmCovariance::Full:
      return "full";
    case DlgmmCovariance::Tied:
      return "tied";
    case DlgmmCovariance::LowRank:
      return "low-rank";
    case DlgmmCovariance::Auto:
      return "auto";
  }
  return "";
}

DlgmmPosterior dlgmm_posterior_from(std::string_view word) {
  for (const DlgmmPosterior p : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField})
    if (word == to_string(p)) return p;
  throw DataError(
      fmt::format("dlgmm model: posterior is '{}', must be structured or mean-field", word));
}

DlgmmCovariance dlgmm_covariance_from(std::string_view word) {
  for (const DlgmmCovariance c :
       {DlgmmCovariance::Diagonal, DlgmmCovariance::TiedDiagonal, DlgmmCovariance::Full,
        DlgmmCovariance::Tied, DlgmmCovariance::LowRank})
    if (word == to_string(c)) return c;
  throw DataError(fmt::format(
      "dlgmm model: covariance is '{}', must be diagonal, tied-diagonal, full, tied or low-rank",
      word));
}

void internal::check_model(const DlgmmModel& m) {
  const int64_t num_words = m.num_words();
  const int64_t num_clusters = m.num_clusters();
  require_model(num_words > 0 && m.words.cols() > 0, "it has no words");
  require_model(num_clusters > 0, "it has no clusters");
  require_model(m.num_bands >= 1 && m.num_bands <= 64, "num_bands must be between 1 and 64");
  const int64_t width = m.num_bands * num_words;
  require_model(m.means.rows() == num_clusters && m.means.cols() == width,
                "means must be clusters x (bands words)");
  const bool full = m.covariance == DlgmmCovariance::Full || m.covariance == DlgmmCovariance::Tied;
  const bool tied = m.covariance == DlgmmCovariance::TiedDiagonal ||
                    m.covariance == DlgmmCovariance::Tied || m.is_low_rank();
  const int64_t rows = (tied ? 1 : num_clusters) * (full ? m.num_bands : 1);
  require_model(m.covariances.rows() == rows &&
                    m.covariances.cols() == (full ? num_words * num_words : width),
                "the shape of covariances does not match");
  require_model((m.word_variances.rows() == 1 || m.word_variances.rows() == num_words) &&
                    (m.word_variances.cols() == 1 || m.word_variances.cols() == m.words.cols() ||
                     m.has_full_words()),
                "the shape of word_variances does not match");
  require_model(
      all_of(m.weights.data(), num_clusters, false) && *std::ranges::min_element(m.weights) >= 0,
      "weights must be at least 0");
  require_model(all_of(m.means.data(), m.means.size(), false), "means must be finite");
  require_model(all_of(m.words.data(), m.words.size(), false), "words must be finite");
  require_model(all_of(m.covariances.data(), m.covariances.size(), !full),
                "covariances must be finite and above 0");
  require_model(all_of(m.word_variances.data(), m.word_variances.size(), !m.has_full_words()),
                "word_variances must be above 0");
  require_model(!m.has_full_words() || are_full_words_valid(m),
                "word_variances must be positive definite");
  require_model(
      m.gamma >= 0 && m.beta > 0 && m.kappa > 0 && std::isfinite(m.gamma + m.beta + m.kappa),
      "gamma, beta and kappa must be in their ranges");
  check_factors(m);
  check_vectors(m);
}

std::vector<WordPair> correlated_words(const DlgmmModel& m, int max_num_pairs) {
  std::vector<WordPair> pairs;
  if (m.covariance != DlgmmCovariance::Full && m.covariance != DlgmmCovariance::Tied) return pairs;
  const int64_t num_words = m.num_words();
  const auto is_stronger = [](const WordPair& a, const WordPair& b) {
    return std::abs(a.correlation) > std::abs(b.correlation);
  };
  for (int64_t row = 0; row < m.covariances.rows(); ++row) {
    const DoubleView sigma(m.covariances.row(row), num_words, num_words);
    const auto band = static_cast<int>(row % m.num_bands);
    const int cluster =
        m.covariance == DlgmmCovariance::Full ? static_cast<int>(row / m.num_bands) : -1;
    for (int v = 0; v < num_words; ++v)
      for (int u = v + 1; u < num_words; ++u)
        pairs.push_back({v, u, band, cluster, sigma(v, u) / std::sqrt(sigma(v, v) * sigma(u, u))});
    std::stable_sort(pairs.begin(), pairs.end(), is_stronger);
    if (pairs.size() > static_cast<size_t>(max_num_pairs)) pairs.resize(max_num_pairs);
  }
  return pairs;
}

}  // namespace milieu
