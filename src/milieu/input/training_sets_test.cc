// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/training_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class TrainingSetsTest : public ::testing::Test {
 protected:
  TrainingSetsTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}
  TrainingInput load() { return load_training_sets(request_, silent_monitor()); }
  template <class Error>
  void expect_fault(const std::string& message) {
    EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr(message)));
  }

  TempDir dir_;
  ScopedVariable cache_;
  const std::string x_ = dir_.write("X.csv", "1,2\n3,4\n5,6\n");
  const std::string y_ = dir_.write("y.csv", "u\nv\nu\n");
  TrainingRequest request_;
};

TEST_F(TrainingSetsTest, FilesCarryTheirClustersBehindAColon) {
  const std::string w = dir_.write("W.csv", "7,8\n9,10\n");
  request_.sets = {x_ + ":" + y_, w + ":" + dir_.write("z.csv", "v\nt\n")};
  const TrainingInput input = load();
  ASSERT_EQ(input.sets.size(), 2u);
  EXPECT_EQ(input.sets[0].name, request_.sets[0]);
  EXPECT_THAT(input.sets[0].clusters, ElementsAre(0, 1, 0));
  EXPECT_THAT(input.class_names, ElementsAre("u", "v", "t"));
  EXPECT_THAT(input.sets[1].classes, ElementsAre(1, 2));
  EXPECT_THAT(input.sets[1].clusters, ElementsAre(0, 1));  // none empty in this set
  EXPECT_FALSE(input.has_images);
}

TEST_F(TrainingSetsTest, ColumnsMayHoldTheClusters) {
  request_.sets = {dir_.write("T.csv", "a,kind\n1,p\n2,q\n")};
  request_.label_column = "kind";
  EXPECT_THAT(load().class_names, ElementsAre("p", "q"));
}

TEST_F(TrainingSetsTest, ViewsStandSideBySide) {
  request_.sets = {x_ + "," + dir_.write("V.csv", "1\n2\n3\n") + ":" + y_};
  const TrainingInput input = load();
  EXPECT_EQ(input.sets[0].points.cols(), 3);
  ASSERT_EQ(input.views.size(), 2u);
  EXPECT_EQ(input.views[1].name, "V");
  EXPECT_EQ(input.views[1].first, 2);
}

TEST_F(TrainingSetsTest, RowsWithoutAClassAreLeftOut) {
  request_.sets = {x_ + ":" + dir_.write("some.csv", "class\nu\n-1\nv\n")};
  const TrainingInput input = load();
  EXPECT_EQ(input.sets[0].points.rows(), 2);
  EXPECT_THAT(input.warnings, ElementsAre(HasSubstr("1 row without a class was left out")));
}

TEST_F(TrainingSetsTest, MatricesAreDistancesOfEveryPair) {
  const std::string d = dir_.write("D.csv", "0,1,2\n1,0,3\n2,3,0\n");
  request_.is_precomputed = true;
  request_.sets = {d + ":" + y_};
  const TrainingInput input = load();
  ASSERT_EQ(input.sets[0].matrices.size(), 1u);
  EXPECT_EQ(input.sets[0].points.rows(), 0);
  EXPECT_EQ(input.views[0].name, "D");
  request_.sets = {d + ":" + dir_.write("some.csv", "class\nu\n-1\nv\n")};
  expect_fault<DataError>("1 row has no class; leave them out of the matrices");
  request_.sets = {x_ + ":" + y_};
  expect_fault<DataError>("holds a matrix of 3 x 2, must be square");
}

TEST_F(TrainingSetsTest, OneFileMayHoldSeveralMatrices) {
  Matrix<float> pages(2, 9);
  for (int64_t i = 0; i < pages.size(); ++i) pages.data()[i] = static_cast<float>(i);
  const int64_t shape[] = {2, 3, 3};
  std::string bytes = npy_float_header(shape);
  bytes.append(reinterpret_cast<const char*>(pages.data()), 18 * sizeof(float));
  const std::string path = dir_.write("pages.npy", bytes);
  std::vector<std::string> names;
  const std::vector<Points> matrices = load_matrices(path, 1, &names);
  ASSERT_EQ(matrices.size(), 2u);
  EXPECT_EQ(matrices[1].view()(0, 2), 11);
  EXPECT_THAT(names, ElementsAre("pages 0", "pages 1"));
}

TEST_F(TrainingSetsTest, WrongSetsAreNamed) {
  request_.sets = {dir_.file("missing.npy")};
  expect_fault<IoError>("missing.npy: no such file or folder");
  request_.sets = {x_};
  expect_fault<InvalidArgument>("X.csv:labels.npy");
  request_.sets = {x_ + ":" + dir_.write("few.csv", "u\nv\n")};
  expect_fault<DataError>("few.csv has 2 rows");
  request_.sets = {x_ + ":" + dir_.write("none.csv", "class\n-1\n-1\n-1\n")};
  expect_fault<DataError>("no row has a class");
}

TEST_F(TrainingSetsTest, ImageFoldersAreDescribedLikeTheFirst) {
  request_.images.feature = "dense-sift:words=4";
  request_.sets = {make_image_folder(dir_, "a", 3), make_image_folder(dir_, "b", 2, 20)};
  const TrainingInput input = load();
  EXPECT_TRUE(input.has_images);
  EXPECT_THAT(input.class_names, ElementsAre("blobs", "stripes"));
  EXPECT_EQ(input.sets[1].points.cols(), 4);
  ASSERT_EQ(input.images.vocabulary.size(), 1u);
  // The words of the second folder are those of the first: in the other order all is different.
  std::swap(request_.sets[0], request_.sets[1]);
  const TrainingInput swapped = load();
  bool is_same = true;
  for (int64_t j = 0; j < 4; ++j)
    is_same = is_same && swapped.sets[0].points.view()(0, j) == input.sets[1].points.view()(0, j);
  EXPECT_FALSE(is_same);
  request_.sets.push_back(x_ + ":" + y_);
  expect_fault<InvalidArgument>("TRAIN mixes image folders with files of numbers");
  request_.sets = {x_ + ":" + y_};
  expect_fault<InvalidArgument>("feature is dense-sift:words=4, but TRAIN is not an image folder");
}

TEST_F(TrainingSetsTest, FolderWithoutClassesIsNamed) {
  dir_.write("loose/a.ppm", blob_image(1));
  request_.images.feature = "tiny";
  request_.sets = {dir_.file("loose")};
  expect_fault<InvalidArgument>("which has no classes");
}

// Vectors computed elsewhere: one file per folder.
TEST_F(TrainingSetsTest, VectorsBelongToTheirFolders) {
  request_.sets = {make_image_folder(dir_, "a", 1), make_image_folder(dir_, "b", 1)};
  request_.vectors = {dir_.write("v.csv", "1,2\n3,4\n"), dir_.write("w.csv", "5,6\n7,8\n")};
  const TrainingInput input = load();
  EXPECT_EQ(input.sets[1].points.view()(1, 1), 8);
  ASSERT_EQ(input.views.size(), 1u);
  EXPECT_EQ(input.views[0].name, "vectors");
  request_.vector_names = {dir_.write("n.txt", "stripes/0.ppm\nblobs/0.ppm\n"),
                           dir_.write("m.txt", "blobs/0.ppm\nstripes/0.ppm\n")};
  EXPECT_EQ(load().sets[0].points.view()(0, 0), 3);
}

TEST_F(TrainingSetsTest, VectorsThatDoNotFitAreNamed) {
  request_.sets = {make_image_folder(dir_, "a", 1), make_image_folder(dir_, "b", 1)};
  const std::string v = dir_.write("v.csv", "1,2\n3,4\n"), narrow = dir_.write("w.csv", "5\n7\n");
  request_.vectors = {v};
  expect_fault<InvalidArgument>(
      "--vectors is given 1 time for 2 training sets: give it once per TRAIN, in the same order");
  request_.vectors = {v, v};
  request_.vector_names = {v};
  expect_fault<InvalidArgument>("--vector-names is given 1 time");
  request_.vector_names.clear();
  request_.vectors = {v, narrow};
  expect_fault<DataError>("b has 1 column");
  request_.sets = {x_ + ":" + y_};
  request_.vectors = {v};
  expect_fault<InvalidArgument>("give the vectors themselves as TRAIN");
}

TEST_F(TrainingSetsTest, EveryViewHasEveryDistanceThatItsValuesAllow) {
  request_.sets = {x_ + "," + dir_.write("minus.csv", "-1\n2\n3\n") + ":" + y_};
  const TrainingInput input = load();
  std::vector<std::string> warnings, names;
  for (const CandidateDistance& each :
       make_candidates(input, parse_distance_list("chi-squared,l1"), warnings))
    names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("X chi-squared", "X l1", "minus l1"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("chi-squared was left out for minus")));
}

TEST_F(TrainingSetsTest, ViewsHaveDistancesOfTheirOwn_issue30) {
  request_.sets = {x_ + "," + dir_.write("minus.csv", "-1\n2\n3\n") + ":" + y_};
  const TrainingInput input = load();
  std::vector<std::string> warnings;
  const auto candidates =
      make_candidates(input, parse_distance_list("minus:l1+rbf=0.5,X:chi-squared"), warnings);
  ASSERT_EQ(candidates.size(), 3u);
  EXPECT_EQ(candidates[0].name, "X chi-squared");
  EXPECT_EQ(candidates[2].name, "minus rbf=0.5");
  EXPECT_EQ(candidates[2].gamma, 0.5);
  EXPECT_EQ(candidates[2].first_column, input.views[1].first);
  EXPECT_THAT([&] { make_candidates(input, parse_distance_list("minus:l1"), warnings); },
              ThrowsMessage<InvalidArgument>(HasSubstr("but not for X: add X:NAME")));
  EXPECT_THAT([&] { make_candidates(input, parse_distance_list("Y:l1,l2"), warnings); },
              ThrowsMessage<InvalidArgument>(HasSubstr("must be for one of X, minus")));
}

// Footnote 3 of the paper, by hand; and what is no kernel.
TEST_F(TrainingSetsTest, KernelsBecomeDistances_issue30) {
  const std::string k = dir_.write("K.csv", "4,1,0\n1,9,3\n0,3,1\n");
  request_.sets = {k + ":" + y_};
  request_.is_precomputed = request_.is_kernel = true;
  const TrainingInput input = load();
  const FloatView d = input.sets[0].matrices[0].view();
  EXPECT_FLOAT_EQ(d(0, 1), std::sqrt(11.0f));
  EXPECT_FLOAT_EQ(d(2, 0), std::sqrt(5.0f));
  EXPECT_FLOAT_EQ(d(1, 2), 2);
  EXPECT_EQ(d(1, 1), 0);
  request_.sets = {dir_.write("N.csv", "1,2,0\n2,1,0\n0,0,1\n") + ":" + y_};
  expect_fault<DataError>("is no kernel: at row 0, column 1");
}

}  // namespace
}  // namespace milieu
