// SPDX-License-Identifier: Apache-2.0
// The experiments of [Yuan08]; one file each, and what they share.
#pragma once

#include <string>
#include <vector>

#include "milieu/cac/cac.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_cac_simulation(ReproduceRun& run);  // Sec. 3.1
void reproduce_cac_textons(ReproduceRun& run);     // Sec. 3.2
void reproduce_cac_digits(ReproduceRun& run);      // Sec. 3.3
void reproduce_cac_held_out(ReproduceRun& run);    // views beside the baselines
void reproduce_cac_mosaics(ReproduceRun& run);     // mosaics beside the baselines

// The paper's settings, as far as it prints them: k-means words, phrases by k-modes, raw distances,
// lambda at once.
CacOptions published_cac_options(const ReproduceRun& run);

// ".123": an error as the paper writes it.
std::string share_text(double share);
double median_of(std::vector<double> values);

}  // namespace milieu::cli
