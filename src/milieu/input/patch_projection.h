// SPDX-License-Identifier: Apache-2.0
// Descriptors on their principal components: mean and components in one matrix of floats, which a
// dlgmm model keeps for new images.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/linalg/matrix.h"
#include "milieu/linalg/pca.h"

namespace MILIEU_API milieu {

// Components of at most 100,000 patches, drawn by the seed.
Matrix<float> fit_projection(FloatView patches, int num_components, uint64_t seed);

Pca pca_of(const Matrix<float>& projection);

// Words of a model fitted on projected descriptors, as descriptors. Distances to them differ from
// those among projections by the same number for all words of a patch.
Matrix<float> unproject(const Matrix<float>& projection, DoubleView words);

// The model's projection. Version 1 models have it in a file beside them (projection.npy in the
// folder of `model_path`); empty when there is none. Throws DataError when it does not fit.
Matrix<float> projection_of_model(const DlgmmModel& model, const std::string& model_path);

}  // namespace milieu
