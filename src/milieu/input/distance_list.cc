// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/distance_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/input/views.h"

namespace milieu {

namespace {

constexpr const char* kOption = "distance=";

double width_of(const std::string& text, const std::string& number) {
  double gamma = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), gamma);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(gamma) ||
      gamma <= 0)
    throw InvalidArgument(
        fmt::format("distance is '{}', the width of rbf must be a number above 0", text));
  return gamma;
}

ListedDistance parse_one(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  std::vector<std::string> known;
  for (const auto& [word, distance] : distance_choices().choices) {
    if (word != name && !(name == "l2" && distance == Distance::SquaredEuclidean)) {
      known.push_back(word);
      continue;
    }
    if (equals == std::string::npos) return {text, distance, 0};
    if (distance == Distance::Rbf) return {text, distance, width_of(text, text.substr(equals + 1))};
    throw InvalidArgument(fmt::format("distance is '{}', but only rbf has a width", text));
  }
  throw InvalidArgument(
      fmt::format("distance is '{}', must be one or more of {}, separated by commas", text,
                  fmt::join(known, ", ")));
}

}  // namespace

const std::vector<ListedDistance>& DistanceList::of(const std::string& view) const {
  const auto own = of_view.find(view);
  return own == of_view.end() ? common : own->second;
}

DistanceList parse_distance_list(const std::string& list) {
  DistanceList parsed;
  for (const std::string& entry : split_text(list, ',')) {
    const size_t colon = entry.rfind(':');
    std::vector<ListedDistance>& target =
        colon == std::string::npos ? parsed.common : parsed.of_view[entry.substr(0, colon)];
    for (const std::string& text :
         split_text(colon == std::string::npos ? entry : entry.substr(colon + 1), '+'))
      target.push_back(parse_one(text));
  }
  return parsed;
}

std::string distance_name(Distance distance) {
  for (const auto& [word, value] : distance_choices().choices)
    if (value == distance) return word;
  return "";
}

std::string take_distances(const std::string& features, std::string& distances) {
  std::vector<std::string> plain, own;
  for (const std::string& feature : split_text(features, ',')) {
    std::vector<std::string> kept;
    std::string distance;
    for (const std::string& part : split_text(feature, ':'))
      if (part.starts_with(kOption))
        distance = part.substr(std::string(kOption).size());
      else
        kept.push_back(part);
    plain.push_back(fmt::format("{}", fmt::join(kept, ":")));
    if (!distance.empty())
      own.push_back(fmt::format("{}:{}", parse_feature(plain.back()).id, distance));
  }
  if (own.empty()) return features;
  if (!distances.empty()) own.push_back(distances);
  distances = fmt::format("{}", fmt::join(own, ","));
  return fmt::format("{}", fmt::join(plain, ","));
}

}  // namespace milieu
