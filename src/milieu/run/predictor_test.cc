// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/run/predictor_internal.h"

namespace milieu {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

Matrix<float> matrix(int64_t rows, int64_t cols, std::vector<float> values) {
  Matrix<float> m(rows, cols);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

template <class Exception>
std::string refusal(const ModelFile& file, const Matrix<float>& points) {
  try {
    predict_with(file, points, 1, "m.safetensors");
  } catch (const Exception& error) {
    return error.what();
  }
  return "not refused";
}

// Centres at 0 and 10 on a line.
ModelFile line_model() {
  KMeansModel model;
  model.centers = matrix(2, 1, {0, 10});
  return to_model_file(model);
}

TEST(Predictors, KnowTheKindsThatPredict) {
  EXPECT_THAT(predicting_kinds(),
              ElementsAre("bags", "cac", "dcp", "dlgmm", "exemplar", "gmm", "icc", "icc_classifier",
                          "jsom", "kmeans", "kmedoids", "kmodes", "learned_distance", "meanshift",
                          "multinomials", "topics"));
}

TEST(Predictors, KMeansGivesTheNearestCentre) {
  EXPECT_THAT(predict_with(line_model(), matrix(3, 1, {1, 9, 4}), 1, "m"), ElementsAre(0, 1, 0));
}

TEST(Predictors, KModesGivesTheNearestMode) {
  KModesModel model;
  model.modes = matrix(2, 3, {0, 0, 0, 1, 1, 1});
  const ModelFile file = to_model_file(model);
  EXPECT_THAT(predict_with(file, matrix(2, 3, {1, 1, 0, 0, 0, 1}), 1, "m"), ElementsAre(1, 0));
}

TEST(Predictors, GmmWeighsByVariance) {
  GmmModel model;
  model.covariance = GmmCovariance::Spherical;
  model.weights = {0.5, 0.5};
  model.means = Matrix<double>(2, 1);
  model.means(1, 0) = 10;
  model.covariances = Matrix<double>(2, 1);
  model.covariances(0, 0) = 100;  // wide: takes what lies beyond the narrow one
  model.covariances(1, 0) = 1;
  const ModelFile file = to_model_file(model);
  EXPECT_THAT(predict_with(file, matrix(3, 1, {0, 10, 20}), 1, "m"), ElementsAre(0, 1, 0));
}

TEST(Predictors, MeanShiftLeavesFarSamplesOut) {
  MeanShiftModel model;
  model.modes = matrix(2, 1, {0, 10});
  model.bandwidth = 2;
  model.cluster_all = 0;
  const ModelFile file = to_model_file(model);
  EXPECT_THAT(predict_with(file, matrix(3, 1, {1, 9, 5}), 1, "m"), ElementsAre(0, 1, -1));
}

TEST(Predictors, ExemplarsAndMedoidsGiveTheNearest) {
  ExemplarModel exemplar;
  exemplar.rows = {4, 7};
  exemplar.exemplars = matrix(2, 1, {0, 10});
  exemplar.distance = "euclidean";
  KMedoidsModel medoids;
  medoids.rows = {4, 7};
  medoids.medoids = matrix(2, 1, {0, 10});
  medoids.distance = "euclidean";
  for (const ModelFile& file : {to_model_file(exemplar), to_model_file(medoids)})
    EXPECT_THAT(predict_with(file, matrix(3, 1, {1, 9, 4}), 1, "m"), ElementsAre(0, 1, 0));
}

TEST(Predictors, OtherWidthIsRefusedWithBothNumbers) {
  KMeansModel model;
  model.centers = Matrix<float>(2, 4);
  EXPECT_EQ(refusal<InvalidArgument>(to_model_file(model), Matrix<float>(5, 3)),
            "points have 3 columns, the model was fitted on 4");
}

TEST(Predictors, KindWithoutPredictionIsRefused) {
  EXPECT_EQ(refusal<InvalidArgument>(to_model_file(AgglomerativeModel()), Matrix<float>(1, 1)),
            "m.safetensors holds a model of kind agglomerative, which does not predict for new "
            "samples; these do: bags, cac, dcp, dlgmm, exemplar, gmm, icc, icc_classifier, jsom, "
            "kmeans, kmedoids, kmodes, learned_distance, meanshift, multinomials, topics");
}

TEST(Predictors, NewerVersionIsRefused) {
  ModelFile file = line_model();
  file.format_version = 99;
  EXPECT_THAT(refusal<DataError>(file, Matrix<float>(1, 1)),
              StartsWith("m.safetensors has format version 99 of kmeans models"));
}

TEST(Predictors, ModelWithoutClustersIsRefused) {
  KMeansModel model;
  model.centers = Matrix<float>(0, 1);
  EXPECT_EQ(refusal<DataError>(to_model_file(model), Matrix<float>(1, 1)),
            "m.safetensors holds a model without clusters to compare new samples with");
}

TEST(Predictors, ModelWithNanIsRefused) {
  KMeansModel model;
  model.centers = matrix(2, 1, {0, std::nanf("")});
  EXPECT_EQ(refusal<DataError>(to_model_file(model), Matrix<float>(1, 1)),
            "m.safetensors holds a model with nan in cluster 1");
}

}  // namespace
}  // namespace milieu
