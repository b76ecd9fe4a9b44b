// SPDX-License-Identifier: Apache-2.0
// What a file or folder is, in words: the text of `milieu info FILE`.
#pragma once

#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// A line "PATH: what it is", then indented lines with its facts, each ended by a newline:
//
//   X.npy: numpy array
//     type: float32, C order
//     shape: (60000, 28, 28)
//     samples: 60000 of 784 numbers
//
// Knows models, run folders and their JSON files, .npy, idx, tables and labels in text, groups, and
// folders of images. What comes out of a file is made safe to print. Throws IoError when there is
// no such file, DataError when it is damaged or of no kind that Milieu knows.
std::string describe_file(const std::string& path);

}  // namespace milieu
