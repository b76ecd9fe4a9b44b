// SPDX-License-Identifier: Apache-2.0
// Pieces of untrusted files as they may appear in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace milieu {

// At most `max_length` characters of `text`, control characters as \xNN (they could steer a
// terminal), "..." where something was left out.
std::string printable(std::string_view text, size_t max_length = 40);

// "0, 1, 2"; at most `max_items`, then "... (101 in all)".
std::string printable_list(std::span<const std::string> items, size_t max_items = 20);

}  // namespace milieu
