// SPDX-License-Identifier: Apache-2.0
// For tests: reads a page of ours strictly and says what is wrong with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Faults in words, none when all is well: tags that do not match, attributes without quotes, text
// with a bare < or &, ids used twice or referred to but missing, images without alt text, header
// cells without scope, scripts, anything fetched from outside, numbers that are not numbers.
std::vector<std::string> find_markup_faults(std::string_view page);

}  // namespace milieu
