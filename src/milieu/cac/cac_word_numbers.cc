// SPDX-License-Identifier: Apache-2.0
// How many words each view has: [Yuan08, section 3.3] has one lexicon per feature.
#include <fmt/format.h>

#include <charconv>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/cac/cac.h"

namespace milieu {

namespace {

// One entry of the list, without spaces around it.
std::string_view trimmed(std::string_view entry) {
  while (entry.starts_with(' ')) entry.remove_prefix(1);
  while (entry.ends_with(' ')) entry.remove_suffix(1);
  return entry;
}

int parse_entry(std::string_view entry, const std::string& whole) {
  if (entry == "auto") return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  require(error == std::errc() && end == entry.data() + entry.size() && number >= 1, [&] {
    return fmt::format(
        "num_words is '{}', must be a whole number of at least 1 or auto, or one per view such as "
        "10,20,5",
        whole);
  });
  return number;
}

}  // namespace

std::vector<int> CacWords::per_view(size_t num_views) const {
  std::vector<int> numbers;
  for (std::string_view rest = *this;;) {
    const size_t comma = rest.find(',');
    numbers.push_back(parse_entry(trimmed(rest.substr(0, comma)), *this));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (numbers.size() == 1) numbers.resize(num_views, numbers[0]);
  require(numbers.size() == num_views, [&] {
    return fmt::format("num_words is '{}', but there {} {}: give one number, or one per view",
                       static_cast<const std::string&>(*this), by_number(num_views, "is", "are"),
                       counted(num_views, "view"));
  });
  return numbers;
}

bool CacWords::has_auto() const { return find("auto") != npos; }

}  // namespace milieu
