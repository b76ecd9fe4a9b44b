// SPDX-License-Identifier: Apache-2.0
// The experiments of [Xie15].
#pragma once

#include "reproduce.h"

namespace milieu::cli {

// Tables 1 and 3: 15-Scenes. Tables 2 and 4: Caltech-101.
void reproduce_dlgmm_scenes(ReproduceRun& run);
void reproduce_dlgmm_caltech(ReproduceRun& run);

}  // namespace milieu::cli
