// SPDX-License-Identifier: Apache-2.0
// Numbers of a dlgmm run for its folder: counts, soft results, correlations of words.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

// counts.npy: images x (bands words), what the clusters were inferred from.
ResultFile counts_file(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                       int num_threads, Monitor& monitor);

// probabilities.npy (images x clusters), theta.npy (images x (bands words), posterior means) and
// word_shares.npy (patches x words). Throws InvalidArgument where the last one does not fit into
// memory.
std::vector<ResultFile> soft_files(const DlgmmModel& model, const DlgmmImages& images,
                                   const DlgmmPrediction& prediction, int num_threads,
                                   Monitor& monitor);

// word_correlations.csv, the strongest pairs first, and word_correlations.png, a heat map of the
// words that take part in them; nothing for diagonal covariances.
std::vector<ResultFile> correlation_files(const DlgmmModel& model);

}  // namespace milieu
