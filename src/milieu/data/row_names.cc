// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/row_names.h"

namespace milieu {
namespace {

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "cat/1.png" ends "photos/cat/1.png", but "t/1.png" does not.
bool is_end_of(const std::string& end, const std::string& path) {
  return path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

}  // namespace

RowNames::RowNames(const std::vector<std::string>& names) {
  for (const std::string& given : names) {
    const int64_t row = size();
    names_.push_back(given.starts_with("./") ? given.substr(2) : given);
    const auto [place, is_new] = by_name_.emplace(names_.back(), row);
    if (!is_new) place->second = kAmbiguous;
    by_file_[file_of(names_.back())].push_back(row);
  }
}

int64_t RowNames::find(const std::string& path) const {
  if (const auto same = by_name_.find(path); same != by_name_.end()) return same->second;
  const auto rows = by_file_.find(file_of(path));
  if (rows == by_file_.end()) return kNone;
  int64_t found = kNone;
  for (const int64_t row : rows->second) {
    const std::string& name = names_[static_cast<size_t>(row)];
    if (!is_end_of(name, path) && !is_end_of(path, name)) continue;
    if (found != kNone) return kAmbiguous;
    found = row;
  }
  return found;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() && text.empty()) break;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace milieu
