// SPDX-License-Identifier: Apache-2.0
// dlgmm over ranks gives the bits of dlgmm on one: labels, model, bound, states.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "milieu/dlgmm/test_images.h"
#include "milieu/testing/teams.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int images = 40;
  int uneven = 0;  // every third image has so many patches less; 0: all are alike
  DlgmmOptions options = small_options();
  bool has_vectors = false;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"one image per shard", 16},
                           {"uneven images", 301, 9},
                           {"many blocks", 700, 9},
                           {"mean field", 65, 3},
                           {"lda and full covariances", 50, 5},
                           {"random and a random field", 40},
                           {"learned gamma", 40},
                           {"mini-batches", 130, 7},
                           {"auto clusters", 33, 3},
                           {"word moves", 60, 9},
                           {"vectors and low rank", 66, 5},
                           {"low rank, mini-batches", 130, 7},
                           {"low rank, auto clusters", 40, 3}};
  for (Case& c : all) c.options.max_iterations = 4;
  all[3].options.posterior = DlgmmPosterior::MeanField;
  all[4].options.init = DlgmmInit::Lda;
  all[4].options.covariance = DlgmmCovariance::Full;
  all[5].options.init = DlgmmInit::Random;
  all[5].options.gamma = 0.4;
  all[6].options.gamma = -1;
  all[7].options.batch_images = 32;
  all[8].options.num_clusters = -1;
  all[9].options.word_moves = 2;
  for (const size_t c : {10, 11, 12}) {
    all[c].has_vectors = true;
    all[c].options.num_factors = 4;
    all[c].options.covariance = DlgmmCovariance::LowRank;
  }
  all[11].options.batch_images = 32;
  all[12].options.num_clusters = -1;
  for (const size_t c : {1, 2, 7}) all[c].options.word_moves = 0;
  return all;
}

// Drops patches of some images, one image has none.
Drawn images_of(const Case& c) {
  Drawn data = draw({.D = c.images});
  if (c.uneven == 0) return data;
  std::vector<int64_t> rows, offsets = {0};
  for (int d = 0; d < c.images; ++d) {
    int64_t count = data.offsets[d + 1] - data.offsets[d];
    if (d % 3 == 1) count -= c.uneven;
    if (d == 7) count = 0;
    for (int64_t i = 0; i < count; ++i) rows.push_back(data.offsets[d] + i);
    offsets.push_back(std::ssize(rows));
  }
  Matrix<float> patches(std::ssize(rows), data.patches.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(data.patches.row_span(rows[i]), patches.row(static_cast<int64_t>(i)));
  data.patches = std::move(patches);
  data.offsets = std::move(offsets);
  data.grid = Matrix<int32_t>();
  return data;
}

// Numbers that depend on the class, one row per image.
Matrix<float> vectors_of(const Case& c, const Drawn& data) {
  if (!c.has_vectors) return {};
  Random random(9);
  Matrix<float> vectors(std::ssize(data.labels), 6);
  for (int64_t d = 0; d < vectors.rows(); ++d)
    for (int64_t i = 0; i < vectors.cols(); ++i)
      vectors(d, i) = static_cast<float>(random.normal() + (i == data.labels[d] ? 2 : 0));
  return vectors;
}

DlgmmInput input_of(const Case& c, const Drawn& data, const Matrix<float>& vectors) {
  DlgmmInput input = data.input();
  input.images.vectors = vectors;
  if (c.uneven > 0) input.images.grid = {};
  return input;
}

void expect_same_run(const DlgmmResult& shared, const DlgmmResult& alone, int rank) {
  EXPECT_EQ(shared.summary.trace, alone.summary.trace);
  EXPECT_TRUE(shared.model.means == alone.model.means);
  EXPECT_TRUE(shared.bound_terms == alone.bound_terms);
  if (rank > 0) return;
  expect_same(shared, alone);
  EXPECT_TRUE(shared.prediction.alpha == alone.prediction.alpha);
  EXPECT_EQ(shared.summary.extra, alone.summary.extra);
  EXPECT_EQ(shared.summary.warnings, alone.summary.warnings);
  EXPECT_EQ(shared.summary.sizes, alone.summary.sizes);
}

TEST(DlgmmRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  for (const Case& c : cases()) {
    const Drawn data = images_of(c);
    const Matrix<float> vectors = vectors_of(c, data);
    const DlgmmResult alone = fit_dlgmm(input_of(c, data, vectors), c.options);
    const std::vector<int> sizes = c.images > 100 ? std::vector<int>{3} : std::vector<int>{2, 7};
    run_as_teams(c.name, sizes, [&](const Team& team) {
      DlgmmInput input = input_of(c, data, vectors);
      input.team = &team;
      expect_same_run(fit_dlgmm(input, c.options, team.monitor()), alone, team.rank());
    });
  }
}

TEST(DlgmmRanks, AStateIsThatOfOneRankAndResumesOnAnyNumber) {
  const Drawn data = draw({.D = 70});
  DlgmmOptions options = small_options();
  options.max_iterations = 5;
  std::vector<DlgmmState> states;
  DlgmmInput watched = data.input();
  watched.on_pass = [&](const DlgmmState& state) { states.push_back(state); };
  const DlgmmResult alone = fit_dlgmm(watched, options);
  ASSERT_EQ(states.size(), 5u);
  for (const int size : {2, 5})
    run_as_ranks(size, [&](Communicator& ranks) {
      Monitor monitor;
      const Team team(ranks, monitor);
      DlgmmInput input = data.input();
      input.team = &team;
      input.resume = &states[2];
      int pass = 3;
      input.on_pass = [&](const DlgmmState& state) {
        const DlgmmState all = gather_state(state, team);
        if (ranks.rank() == 0) {
          EXPECT_TRUE(all.alpha == states[pass].alpha);
          EXPECT_TRUE(all.probabilities == states[pass].probabilities);
          EXPECT_EQ(all.fingerprint, states[pass].fingerprint);
        }
        ++pass;
      };
      expect_same_run(fit_dlgmm(input, options, team.monitor()), alone, ranks.rank());
      EXPECT_EQ(pass, 5);
    });
}

}  // namespace
}  // namespace milieu
