// SPDX-License-Identifier: Apache-2.0
// The experiments of [Komodakis11, section 6].
#pragma once

#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_exemplar_synthetic(ReproduceRun& run);
void reproduce_exemplar_curves(ReproduceRun& run);
void reproduce_exemplar_regularizers(ReproduceRun& run);
void reproduce_exemplar_outex(ReproduceRun& run);
void reproduce_exemplar_figure3(ReproduceRun& run);
void reproduce_exemplar_raw(ReproduceRun& run);
void reproduce_exemplar_sizes(ReproduceRun& run);
void reproduce_exemplar_brodatz(ReproduceRun& run);
void reproduce_exemplar_uiuc(ReproduceRun& run);
void reproduce_exemplar_scenes(ReproduceRun& run);
void reproduce_exemplar_pyramids(ReproduceRun& run);
void reproduce_exemplar_held_out(ReproduceRun& run);

}  // namespace milieu::cli
