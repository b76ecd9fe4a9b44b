// SPDX-License-Identifier: Apache-2.0
// The experiments of [Yu13].
#pragma once

#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_icc_table1(ReproduceRun& run);
void reproduce_icc_figures(ReproduceRun& run);
void reproduce_icc_figure7(ReproduceRun& run);
void reproduce_icc_vowels(ReproduceRun& run);
void reproduce_icc_gas(ReproduceRun& run);
void reproduce_icc_grid(ReproduceRun& run);
void reproduce_icc_time(ReproduceRun& run);
void reproduce_icc_where(ReproduceRun& run);
void reproduce_icc_talkers(ReproduceRun& run);
void reproduce_icc_held_out(ReproduceRun& run);
void reproduce_icc_advise(ReproduceRun& run);

}  // namespace milieu::cli
