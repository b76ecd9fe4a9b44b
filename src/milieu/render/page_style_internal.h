// SPDX-License-Identifier: Apache-2.0
// The style sheet of all our pages.
#pragma once

#include <string>

namespace milieu::internal {

// CSS, ready for a <style> element.
std::string page_style();

// How many entries of a map's legend highlight their dots.
inline constexpr int kMaxLegendEntries = 32;

}  // namespace milieu::internal
