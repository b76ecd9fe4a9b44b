// SPDX-License-Identifier: Apache-2.0
// How one kind of model labels new rows: a part of a method's entry in the table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"
#include "milieu/store/model_file.h"

namespace MILIEU_API milieu {

struct Predictor {
  std::string_view kind;  // of the model file
  std::vector<int> (*predict)(const ModelFile& file, FloatView points, int num_threads,
                              const std::string& source);
  // Shares of the clusters in every row, n x clusters; null where the model does not define them.
  Matrix<double> (*probabilities)(const ModelFile& file, FloatView points, int num_threads,
                                  const std::string& source) = nullptr;
};

// Labels of the rows of `points` under the model in `file`; a kind without prediction, or points of
// another width, is an InvalidArgument that says so. `source` names the file in messages.
std::vector<int> predict_with(const ModelFile& file, FloatView points, int num_threads,
                              const std::string& source);

// Likewise the shares of the clusters in every row.
Matrix<double> probabilities_with(const ModelFile& file, FloatView points, int num_threads,
                                  const std::string& source);

// Kinds of models that predict, sorted.
std::vector<std::string> predicting_kinds();
bool predicts(std::string_view kind);

}  // namespace milieu
