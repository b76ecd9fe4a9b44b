// SPDX-License-Identifier: Apache-2.0
// Matrices as .npy files of a run folder, in single precision.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

ResultFile npy_result(std::string name, FloatView values);
ResultFile npy_result(std::string name, DoubleView values);

}  // namespace milieu
