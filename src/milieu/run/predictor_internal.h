// SPDX-License-Identifier: Apache-2.0
// Predictors from a model type.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/linalg/matrix.h"
#include "milieu/run/model_shares.h"
#include "milieu/run/predictor.h"
#include "milieu/store/model_file.h"

namespace milieu::internal {

template <class MemberPointer>
struct ClassOfMember;
template <class Class, class Member>
struct ClassOfMember<Member Class::*> {
  using type = Class;
};

// A file with the right checksum may still hold nonsense.
template <class T>
void check_centers(MatrixView<const T> centers, const std::string& source) {
  if (centers.rows() == 0)
    throw DataError(source + " holds a model without clusters to compare new samples with");
  for (int64_t i = 0; i < centers.rows(); ++i)
    for (T value : centers.row_span(i))
      if (!std::isfinite(value))
        throw DataError(fmt::format("{} holds a model with {} in cluster {}", source, value, i));
}

// A model from a file, checked against the points.
template <auto kCenters>
auto checked_model(const ModelFile& file, FloatView points, const std::string& source) {
  auto model = from_model_file<typename ClassOfMember<decltype(kCenters)>::type>(file, source);
  const auto& centers = model.*kCenters;
  check_centers(centers.view(), source);
  require(points.cols() == centers.cols(), [&] {
    return fmt::format("points have {}, the model was fitted on {}",
                       counted(points.cols(), "column"), centers.cols());
  });
  return model;
}

// The predictor of the model whose matrix `kCenters` (&KMeansModel::centers) has one row per
// cluster and one column per feature.
template <auto kCenters>
Predictor predictor() {
  using Model = typename ClassOfMember<decltype(kCenters)>::type;
  Predictor predictor{
      Model::kKind,
      [](const ModelFile& file, FloatView points, int num_threads, const std::string& source) {
        return predict(checked_model<kCenters>(file, points, source), points, num_threads);
      }};
  if constexpr (HasShares<Model>)
    predictor.probabilities = [](const ModelFile& file, FloatView points, int num_threads,
                                 const std::string& source) {
      return shares_of(checked_model<kCenters>(file, points, source), points, num_threads);
    };
  return predictor;
}

}  // namespace milieu::internal
