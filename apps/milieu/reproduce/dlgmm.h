// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_dlgmm_scenes(ReproduceRun& run);
void reproduce_dlgmm_caltech(ReproduceRun& run);
void reproduce_dlgmm_gamma(ReproduceRun& run);
void reproduce_dlgmm_dense(ReproduceRun& run);
void reproduce_dlgmm_codebook(ReproduceRun& run);
void reproduce_dlgmm_joint(ReproduceRun& run);
void reproduce_dlgmm_held_out(ReproduceRun& run);

}  // namespace milieu::cli
