// SPDX-License-Identifier: Apache-2.0
// The generated data of [Komodakis11, section 6]: points of M Gaussians in D dimensions, the last
// share rho of which is corrupted.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "milieu/exemplar/learn/learn.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

inline constexpr int kMadeSets = 10;  // to learn from; as many others to be clustered

struct MadeSetting {
  int num_columns = 100;
  int num_samples = 500;
  int num_clusters = 10;
  double rho = 0.5;
  bool normalize = true;
  int rounds = 200;
  uint64_t seed = 1;

  int num_good() const { return num_columns - static_cast<int>(std::lround(rho * num_columns)); }
  std::string key() const {
    return fmt::format("D{} N{} M{} rho{} normalize{} rounds{} seed{}", num_columns, num_samples,
                       num_clusters, rho, normalize, rounds, seed);
  }
};

struct MadeSet {
  Matrix<float> points;
  std::vector<int> labels;
};

// Set number `index` of a setting: one with new centres.
MadeSet draw_made(const MadeSetting& s, uint64_t index);

// Learned from sets 0 to kMadeSets - 1, by these options but for the setting's own.
ExemplarLearnResult train_made(const MadeSetting& s, ReproduceRun& run,
                               ExemplarLearnOptions options = {});

}  // namespace milieu::cli
