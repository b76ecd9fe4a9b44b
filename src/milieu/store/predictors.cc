// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/predictors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/classic/gmm.h"
#include "milieu/classic/kmeans.h"
#include "milieu/classic/kmodes.h"
#include "milieu/classic/mean_shift.h"
#include "milieu/data/printable.h"
#include "milieu/exemplar/exemplar.h"
#include "milieu/exemplar/kmedoids.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/store/predictors_internal.h"

namespace milieu {

namespace {

// A kind that predicts has one line here.
const std::vector<internal::Predictor>& predictors() {
  static const std::vector<internal::Predictor> table = {
      internal::predictor<&CacModel::prototypes>(),
      internal::predictor<&ExemplarModel::exemplars>(),
      internal::predictor<&GmmModel::means>(),
      internal::predictor<&IccModel::axes>(),
      internal::predictor<&IccClassifierModel::axes>(),
      internal::predictor<&KMeansModel::centers>(),
      internal::predictor<&KMedoidsModel::medoids>(),
      internal::predictor<&KModesModel::modes>(),
      internal::predictor<&MeanShiftModel::modes>(),
  };
  return table;
}

}  // namespace

std::vector<int> predict_with(const ModelFile& file, FloatView points, int num_threads,
                              const std::string& source) {
  for (const internal::Predictor& predictor : predictors())
    if (predictor.kind == file.kind) return predictor.predict(file, points, num_threads, source);
  throw InvalidArgument(fmt::format(
      "{} holds a model of kind {}, which does not predict for new samples; these do: {}", source,
      printable(file.kind), fmt::join(predicting_kinds(), ", ")));
}

std::vector<std::string> predicting_kinds() {
  std::vector<std::string> kinds;
  for (const internal::Predictor& predictor : predictors()) kinds.emplace_back(predictor.kind);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

}  // namespace milieu
