// SPDX-License-Identifier: Apache-2.0
// Pieces of untrusted files as they may appear in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// True when all of `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

// About `max_length` bytes of `text`, "..." where something was left out. Control characters (they
// could steer a terminal) and bytes that are not UTF-8 become \xNN: the result is always clean
// text.
std::string printable(std::string_view text, size_t max_length = 40);

// "0, 1, 2"; at most `max_items`, then "... (101 in all)".
std::string printable_list(std::span<const std::string> items, size_t max_items = 20);

}  // namespace milieu
