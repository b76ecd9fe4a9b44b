// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/exemplar/search/exemplar.h"

namespace milieu {

namespace {

double median_of(std::vector<float>& values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2 == 1) return values[middle];
  const float below = *std::max_element(values.begin(), values.begin() + middle);
  return 0.5 * (static_cast<double>(below) + values[middle]);
}

bool is_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

double penalty_from_text(const std::string& text, std::vector<float> costs) {
  double number = 0;
  if (is_number(text, number)) {
    require(std::isfinite(number), "penalty must be a finite number, median or stable");
    return number;
  }
  require(text == "median" || text == "stable",
          [&] { return fmt::format("penalty is '{}', must be a number, median or stable", text); });
  std::erase_if(costs, [](float value) { return !std::isfinite(value); });
  require(!costs.empty(), [&] {
    return fmt::format("penalty is {}, but no distance is finite: give a number", text);
  });
  const double median = median_of(costs);
  if (median > 0) return median;
  double sum = 0;
  for (float value : costs) sum += value;
  return sum > 0 ? sum / static_cast<double>(costs.size()) : 1.0;
}

ServiceLists lists_with_penalty(int64_t n, std::vector<ServiceEntry> entries,
                                std::span<const double> penalties, const std::string& penalty) {
  if (!penalties.empty()) return lists_from_entries(n, std::move(entries), penalties, {});
  std::vector<float> costs;
  for (const ServiceEntry& entry : entries)
    if (entry.p != entry.q) costs.push_back(entry.cost);
  const std::vector<double> equal(static_cast<size_t>(n),
                                  penalty_from_text(penalty, std::move(costs)));
  return lists_from_entries(n, std::move(entries), equal, {});
}

}  // namespace milieu
