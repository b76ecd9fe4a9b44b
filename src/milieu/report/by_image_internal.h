// SPDX-License-Identifier: Apache-2.0
// A run of cac on the keypoints of images, as its report shows it: image by image.
#pragma once

#include <optional>

#include "milieu/report/run_view.h"
#include "milieu/run/outcome.h"

namespace milieu::internal {

struct RunByImage {
  RunOutcome
      outcome;     // one row per image that has keypoints, labelled by the phrase of most of them
  WordView words;  // the keypoints of those rows
};

// Nothing where the run was not on keypoints of images.
std::optional<RunByImage> run_by_image(const RunOutcome& run);

}  // namespace milieu::internal
