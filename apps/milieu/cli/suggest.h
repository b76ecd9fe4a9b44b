// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known word nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace milieu::cli {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, the first of equals; else the first that contains it (dashes
// aside); empty when none is close (more than a third of the letters differ).
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace milieu::cli
