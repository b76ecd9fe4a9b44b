// SPDX-License-Identifier: Apache-2.0
// Counts with their nouns, in the right number: "1 cluster", "3 clusters".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// `singular` for 1, else `plural`: by_number(count, "is", "are").
std::string_view by_number(int64_t count, std::string_view singular, std::string_view plural);

// "1 cluster", "0 clusters", "3 classes" (plural: singular + "s" unless given).
std::string counted(int64_t count, std::string_view singular, std::string_view plural = {});

}  // namespace milieu
