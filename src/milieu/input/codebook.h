// SPDX-License-Identifier: Apache-2.0
// Visual words computed elsewhere.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// What --codebook may name: a file of numbers, a run folder or model (its centres or words), a
// feature folder with one codebook.
Matrix<float> read_codebook(const std::string& path);

}  // namespace milieu
