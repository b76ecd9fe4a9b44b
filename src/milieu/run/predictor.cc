// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/predictor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/run/methods.h"

namespace milieu {

namespace {

const Predictor* find_predictor(std::string_view kind) {
  for (const MethodEntry& method : methods())
    for (const Predictor& predictor : method.predictors)
      if (predictor.kind == kind) return &predictor;
  return nullptr;
}

}  // namespace

std::vector<int> predict_with(const ModelFile& file, FloatView points, int num_threads,
                              const std::string& source) {
  if (const Predictor* predictor = find_predictor(file.kind))
    return predictor->predict(file, points, num_threads, source);
  throw InvalidArgument(fmt::format(
      "{} holds a model of kind {}, which does not predict for new samples; these do: {}", source,
      printable(file.kind), fmt::join(predicting_kinds(), ", ")));
}

Matrix<double> probabilities_with(const ModelFile& file, FloatView points, int num_threads,
                                  const std::string& source) {
  const Predictor* predictor = find_predictor(file.kind);
  if (predictor && predictor->probabilities)
    return predictor->probabilities(file, points, num_threads, source);
  std::vector<std::string_view> kinds = {"dlgmm"};  // predicts images, not rows
  for (const MethodEntry& method : methods())
    for (const Predictor& each : method.predictors)
      if (each.probabilities) kinds.push_back(each.kind);
  std::ranges::sort(kinds);
  throw InvalidArgument(
      fmt::format("{} holds a model of kind {}, which has no probabilities; these have: {}", source,
                  printable(file.kind), fmt::join(kinds, ", ")));
}

std::vector<std::string> predicting_kinds() {
  std::vector<std::string> kinds;
  for (const MethodEntry& method : methods())
    for (const Predictor& predictor : method.predictors) kinds.emplace_back(predictor.kind);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

bool predicts(std::string_view kind) { return find_predictor(kind) != nullptr; }

}  // namespace milieu
