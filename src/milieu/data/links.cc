// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/matrix_market.h"
#include "milieu/data/mapped_file.h"

namespace milieu {
namespace {

using Link = std::pair<int64_t, int64_t>;

// Every group of a text file is one link.
std::vector<Link> links_of_lines(const Groups& lines, const std::string& source) {
  std::vector<Link> links;
  for (int64_t g = 0; g < lines.num_groups(); ++g) {
    const auto members = lines.members_of(g);
    int64_t count = 0;
    for (const float weight : lines.weights_of(g)) count += static_cast<int64_t>(weight);
    if (count == 0) continue;
    if (count != 2)
      throw DataError(fmt::format("{}: link {} names {}, must name two: one link per line", source,
                                  g + 1, counted(count, "sample")));
    links.emplace_back(members.front(), members.back());
  }
  return links;
}

std::vector<Link> links_of_matrix(const Groups& rows, const std::string& source) {
  if (rows.num_groups() != rows.num_samples)
    throw DataError(fmt::format("{} has {} and {}, links need a square matrix", source,
                                counted(rows.num_groups(), "row"),
                                counted(rows.num_samples, "column")));
  std::vector<Link> links;
  for (int64_t g = 0; g < rows.num_groups(); ++g)
    for (const int64_t member : rows.members_of(g)) links.emplace_back(g, member);
  return links;
}

Groups neighborhoods(std::vector<Link> links, int64_t num_samples) {
  const size_t count = links.size();
  for (size_t i = 0; i < count; ++i) links.emplace_back(links[i].second, links[i].first);
  for (int64_t i = 0; i < num_samples; ++i) links.emplace_back(i, i);
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  Groups groups;
  groups.num_samples = num_samples;
  groups.offsets.assign(static_cast<size_t>(num_samples) + 1, 0);
  for (const auto& [sample, other] : links) {
    ++groups.offsets[static_cast<size_t>(sample) + 1];
    groups.members.push_back(other);
  }
  for (size_t i = 1; i < groups.offsets.size(); ++i) groups.offsets[i] += groups.offsets[i - 1];
  groups.weights.assign(groups.members.size(), 1);
  return groups;
}

}  // namespace

Groups parse_links(std::string_view text, const std::string& source, int64_t num_samples) {
  if (internal::looks_like_matrix_market(text)) {
    const Groups rows =
        internal::parse_matrix_market(text, source, num_samples, internal::MatrixSymmetry::Any);
    return neighborhoods(links_of_matrix(rows, source), num_samples);
  }
  return neighborhoods(links_of_lines(parse_groups(text, source, num_samples), source),
                       num_samples);
}

Groups load_links(const std::string& path, int64_t num_samples) {
  const auto file = MappedFile::open(path);
  return parse_links(file->text(), path, num_samples);
}

Groups select_neighborhoods(const Groups& neighborhoods, const std::vector<int64_t>& rows) {
  const Groups members = select_members(neighborhoods, rows);
  Groups selected;
  selected.num_samples = members.num_samples;
  for (const int64_t row : rows) {
    for (const int64_t member : members.members_of(row)) selected.members.push_back(member);
    selected.offsets.push_back(static_cast<int64_t>(selected.members.size()));
  }
  selected.weights.assign(selected.members.size(), 1);
  return selected;
}

}  // namespace milieu
