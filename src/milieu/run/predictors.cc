// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/predictors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/data/printable.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/exemplar/learn/learned_distance.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/store/predictors_internal.h"

namespace milieu {

namespace {

// Planes over coordinates, or over the kernel with the training samples: the columns that count are
// not those of the planes.
std::vector<int> predict_dcp(const ModelFile& file, FloatView points, int num_threads,
                             const std::string& source) {
  const DcpModel model = from_model_file<DcpModel>(file, source);
  internal::check_centers(model.coefficients.view(), source);
  const bool has_samples = !model.samples.empty();
  if (has_samples) internal::check_centers(model.samples.view(), source);
  if (static_cast<int64_t>(model.offsets.size()) != model.coefficients.rows() ||
      (has_samples && model.samples.rows() != model.coefficients.cols()))
    throw DataError(source + " holds planes, offsets and samples that do not fit together");
  for (const double offset : model.offsets)
    if (!std::isfinite(offset))
      throw DataError(fmt::format("{} holds a plane with the offset {}", source, offset));
  return predict(model, points, num_threads);
}

// The class of the nearest training sample.
std::vector<int> predict_learned(const ModelFile& file, FloatView points, int num_threads,
                                 const std::string& source) {
  const LearnedDistance model = from_model_file<LearnedDistance>(file, source);
  check_learned_distance(model, source);
  return classify_learned(model, points, num_threads);
}

// A kind that predicts has one line here.
const std::vector<internal::Predictor>& predictors() {
  static const std::vector<internal::Predictor> table = {
      internal::predictor<&BagsModel::centers>(),
      internal::predictor<&CacModel::prototypes>(),
      {DcpModel::kKind, predict_dcp},
      internal::predictor<&DlgmmModel::words>(),
      internal::predictor<&ExemplarModel::exemplars>(),
      internal::predictor<&GmmModel::means>(),
      internal::predictor<&IccModel::axes>(),
      internal::predictor<&IccClassifierModel::axes>(),
      internal::predictor<&JsomModel::words>(),
      internal::predictor<&KMeansModel::centers>(),
      internal::predictor<&KMedoidsModel::medoids>(),
      internal::predictor<&KModesModel::modes>(),
      {LearnedDistance::kKind, predict_learned},
      internal::predictor<&MeanShiftModel::modes>(),
      internal::predictor<&MultinomialsModel::words>(),
      internal::predictor<&TopicsModel::words>(),
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
