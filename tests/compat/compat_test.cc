// SPDX-License-Identifier: Apache-2.0
// Files of older releases stay readable: every kept file is read, predicts the labels that follow
// from its numbers, and holds what today's writer writes as long as the format version is the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "milieu/run/predictor.h"
#include "milieu/store/model_file.h"
#include "models.h"

namespace milieu {
namespace {

using compat::plane_points;
using testing::ElementsAre;

std::string path_of(const std::string& name) {
  return std::string(MILIEU_COMPAT_DIR) + "/" + name + ".safetensors";
}

std::vector<int> predict_from(const std::string& name, const Matrix<float>& points) {
  return predict_with(read_model_file(path_of(name)), points, 1, name);
}

TEST(Compat, KMeansV1) {
  EXPECT_THAT(predict_from("kmeans_v1", plane_points()), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(load_model<KMeansModel>(path_of("kmeans_v1")).centers, compat::kmeans_v1().centers);
  EXPECT_EQ(load_model<KMeansModel>(path_of("kmeans_v1")).distance, KMeansDistance::Euclidean);
}

TEST(Compat, KMeansV2) {
  EXPECT_THAT(predict_from("kmeans_v2", plane_points()), ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(load_model<KMeansModel>(path_of("kmeans_v2")).distance, KMeansDistance::Cosine);
}

// Version 1 has phrases by counts; in version 2 the evidence decides, here with phrases swapped.
TEST(Compat, CacV1AndV2) {
  const Matrix<float> points = plane_points();
  CacInput input;
  input.views = {points};
  input.positions = points;
  EXPECT_THAT(predict_from("cac_v1", points), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(predict_groups(load_model<CacModel>(path_of("cac_v1")), input).words,
              ElementsAre(0, 1, 0, 1));
  const auto model = load_model<CacModel>(path_of("cac_v2"));
  EXPECT_EQ(model.evidence.phrases, compat::cac_v2().evidence.phrases);
  EXPECT_THAT(predict_groups(model, input).labels, ElementsAre(1, 0, 1, 0));
}

TEST(Compat, KModesV1) {
  EXPECT_THAT(predict_from("kmodes_v1", compat::bit_points()), ElementsAre(0, 1, 0));
}

TEST(Compat, GmmV1) {
  for (const char* name : {"gmm_diagonal_v1", "gmm_full_v1"})
    EXPECT_THAT(predict_from(name, plane_points()), ElementsAre(0, 1, 0, 0)) << name;
}

TEST(Compat, MeanShiftV1) {
  EXPECT_THAT(predict_from("meanshift_v1", plane_points()), ElementsAre(0, 1, -1, -1));
}

TEST(Compat, ExemplarAndKMedoidsV1) {
  EXPECT_THAT(predict_from("exemplar_v1", plane_points()), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(predict_from("kmedoids_v1", plane_points()), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(load_model<ExemplarModel>(path_of("exemplar_v1")).rows, ElementsAre(3, 17));
  EXPECT_THAT(load_model<KMedoidsModel>(path_of("kmedoids_v1")).rows, ElementsAre(3, 17));
}

TEST(Compat, IccV1) {
  EXPECT_THAT(predict_from("icc_v1", plane_points()), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(predict_from("icc_classifier_v1", plane_points()), ElementsAre(1, 1, 0, 1));
}

TEST(Compat, LearnedDistanceV1) {
  EXPECT_THAT(predict_from("learned_distance_v1", plane_points()), ElementsAre(1, 0, 1, 1));
  EXPECT_EQ(load_model<LearnedDistance>(path_of("learned_distance_v1")).penalty, 2.5);
  // At (8, 3) the metric of version 2 decides: 40 + 36 to (10, 0), 90 + 16 to (11, 5).
  Matrix<float> between(1, 2);
  between(0, 0) = 8;
  between(0, 1) = 3;
  EXPECT_THAT(predict_from("learned_distance_v1", between), ElementsAre(1));
  EXPECT_THAT(predict_from("learned_distance_v2", between), ElementsAre(0));
  EXPECT_EQ(load_model<LearnedDistance>(path_of("learned_distance_v2")).grouping, "cut");
}

TEST(Compat, AgglomerativeV1) {
  const auto model = load_model<AgglomerativeModel>(path_of("agglomerative_v1"));
  EXPECT_EQ(model.tree, compat::agglomerative_v1().tree);
  EXPECT_THAT(model.labels, ElementsAre(0, 0, 1));
}

TEST(Compat, DcpV1) {
  // 3000 against (10 x + 1)^2.
  EXPECT_THAT(predict(load_model<DcpModel>(path_of("dcp_v1")), compat::plane_points()),
              ElementsAre(0, 1, 0, 1));
}

TEST(Compat, MethodsOfCountsV1) {
  for (const char* name : {"bags_v1", "multinomials_v1", "jsom_v1", "topics_v1"})
    EXPECT_THAT(predict_from(name, compat::count_points()), ElementsAre(0, 1, 0)) << name;
}

TEST(Compat, DlgmmV1) {
  EXPECT_THAT(predict_from("dlgmm_v1", plane_points()), ElementsAre(0, 1, 0, 1));
}

TEST(Compat, DlgmmV2) {
  EXPECT_THAT(predict_from("dlgmm_v2", plane_points()), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(load_model<DlgmmModel>(path_of("dlgmm_v2")).projection, compat::dlgmm_v2().projection);
}

// A vector far on the side of the other cluster outweighs one patch.
TEST(Compat, DlgmmV3) {
  const auto model = load_model<DlgmmModel>(path_of("dlgmm_v3"));
  EXPECT_EQ(model.factors, compat::dlgmm_v3().factors);
  EXPECT_EQ(model.image_projection, compat::dlgmm_v3().image_projection);
  const Matrix<float> points = plane_points();
  Matrix<float> vectors(points.rows(), 2);
  vectors(0, 1) = 10, vectors(1, 1) = 1, vectors(2, 1) = 1, vectors(3, 1) = 10;
  DlgmmImages images;
  images.patches = points;
  images.vectors = vectors;
  EXPECT_THAT(infer_images(model, images).labels, ElementsAre(1, 0, 0, 1));
}

TEST(Compat, NcutV1) {
  const auto model = load_model<NcutModel>(path_of("ncut_v1"));
  EXPECT_EQ(model.embedding, compat::ncut_v1().embedding);
  EXPECT_THAT(model.labels, ElementsAre(0, 0, 1));
}

// An array that is renamed, dropped or stored in another type needs a new format version.
template <class Model>
void expect_written_the_same(const std::string& name, const Model& model) {
  SCOPED_TRACE(name);
  const ModelFile kept = read_model_file(path_of(name));
  const ModelFile now = to_model_file(model, compat::kOptions);
  ASSERT_EQ(kept.format_version, Model::kFormatVersion) << "keep a file of the new version, too";
  EXPECT_EQ(kept.kind, now.kind);
  EXPECT_EQ(kept.options_json, now.options_json);
  using Scalars = std::set<std::pair<std::string, std::string>>;
  EXPECT_EQ(Scalars(kept.scalars.begin(), kept.scalars.end()),
            Scalars(now.scalars.begin(), now.scalars.end()));
  ASSERT_EQ(kept.arrays.size(), now.arrays.size());
  for (const auto& [array_name, array] : now.arrays) {
    const auto found = std::find_if(kept.arrays.begin(), kept.arrays.end(),
                                    [&](const auto& other) { return other.first == array_name; });
    ASSERT_NE(found, kept.arrays.end()) << array_name;
    EXPECT_EQ(found->second.dtype, array.dtype) << array_name;
    EXPECT_EQ(found->second.shape, array.shape) << array_name;
    EXPECT_EQ(found->second.bytes, array.bytes) << array_name;
  }
}

TEST(Compat, SameVersionIsWrittenTheSame) {
  expect_written_the_same("agglomerative_v1", compat::agglomerative_v1());
  expect_written_the_same("dcp_v1", compat::dcp_v1());
  expect_written_the_same("exemplar_v1", compat::exemplar_v1());
  expect_written_the_same("gmm_diagonal_v1", compat::gmm_diagonal_v1());
  expect_written_the_same("gmm_full_v1", compat::gmm_full_v1());
  expect_written_the_same("cac_v2", compat::cac_v2());
  expect_written_the_same("icc_v1", compat::icc_v1());
  expect_written_the_same("icc_classifier_v1", compat::icc_classifier_v1());
  expect_written_the_same("kmeans_v2", compat::kmeans_v2());
  expect_written_the_same("kmedoids_v1", compat::kmedoids_v1());
  expect_written_the_same("kmodes_v1", compat::kmodes_v1());
  expect_written_the_same("learned_distance_v2", compat::learned_distance_v2());
  expect_written_the_same("meanshift_v1", compat::meanshift_v1());
  expect_written_the_same("ncut_v1", compat::ncut_v1());
  expect_written_the_same("bags_v1", compat::bags_v1());
  expect_written_the_same("dlgmm_v3", compat::dlgmm_v3());
  expect_written_the_same("jsom_v1", compat::jsom_v1());
  expect_written_the_same("multinomials_v1", compat::multinomials_v1());
  expect_written_the_same("topics_v1", compat::topics_v1());
}

TEST(Compat, EveryKindThatPredictsHasAFile) {
  std::set<std::string> kept;
  for (const auto& entry : std::filesystem::directory_iterator(MILIEU_COMPAT_DIR))
    if (entry.path().extension() == ".safetensors") {
      EXPECT_LT(entry.file_size(), 4096u) << entry.path();
      kept.insert(read_model_file(entry.path().string()).kind);
    }
  for (const std::string& kind : predicting_kinds()) EXPECT_TRUE(kept.contains(kind)) << kind;
}

}  // namespace
}  // namespace milieu
