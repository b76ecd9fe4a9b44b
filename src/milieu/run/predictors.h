// SPDX-License-Identifier: Apache-2.0
// One table of all model kinds that predict: what `milieu predict` and the explorer call.
#pragma once

#include <string>
#include <vector>

#include "milieu/linalg/matrix.h"
#include "milieu/store/model_file.h"

namespace milieu {

// Labels of the rows of `points` under the model in `file`; a kind without prediction, or points of
// another width, is an InvalidArgument that says so. `source` names the file in messages.
std::vector<int> predict_with(const ModelFile& file, FloatView points, int num_threads,
                              const std::string& source);

// Kinds that predict_with knows, sorted.
std::vector<std::string> predicting_kinds();

}  // namespace milieu
