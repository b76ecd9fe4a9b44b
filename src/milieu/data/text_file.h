// SPDX-License-Identifier: Apache-2.0
// Whole small files as text: records, options, tables of our own.
#pragma once

#include <optional>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Throws IoError with the path and the reason.
std::string read_text_file(const std::string& path);

// Nothing when the file cannot be read.
std::optional<std::string> try_read_text_file(const std::string& path);

}  // namespace milieu
