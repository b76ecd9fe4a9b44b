// SPDX-License-Identifier: Apache-2.0
// How well a classifier for each part separates its samples from a context: cards of the report,
// one per part.
#pragma once

#include <span>
#include <string>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct DecisionCardInput {
  FloatView decisions;          // n x K: the value of every part's classifier at every sample
  std::span<const int> labels;  // n: the part of each sample
  FloatView context_decisions;  // m x K: the same at the samples of the context
};

// Markup of the cards; empty when there are no samples. Each plot shows the share of the part's
// samples (up) and of the context (down) by decision value; values beyond the central 99 % are
// counted in the outermost bars. The first eight parts are shown.
std::string render_decision_cards(const DecisionCardInput& input);

}  // namespace milieu
