// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/counted.h"

#include <fmt/format.h>

namespace milieu {

std::string_view by_number(int64_t count, std::string_view singular, std::string_view plural) {
  return count == 1 ? singular : plural;
}

std::string counted(int64_t count, std::string_view singular, std::string_view plural) {
  if (!plural.empty()) return fmt::format("{} {}", count, by_number(count, singular, plural));
  return fmt::format("{} {}{}", count, singular, by_number(count, "", "s"));
}

}  // namespace milieu
