// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/format/matrix_market.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

constexpr int64_t kMaxSamples = int64_t{1} << 48;

// Reads one line after the other.
class GroupReader {
 public:
  GroupReader(const std::string& source, int64_t num_samples)
      : source_(source), num_samples_(num_samples) {}

  void read_line(std::string_view line, int64_t line_number) {
    line_number_ = line_number;
    if (line.starts_with('#')) return;
    line = trim(line);
    if (line.empty()) {
      ++pending_blank_lines_;
      return;
    }
    for (; pending_blank_lines_ > 0; --pending_blank_lines_) end_group({});
    std::string_view name;
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      name = trim(line.substr(0, colon));
      if (!is_utf8(name)) fail("the group name is not UTF-8 text");
      line = line.substr(colon + 1);
    }
    read_members(line);
    end_group(name);
  }

  Groups finish() {
    if (groups_.num_groups() == 0) throw DataError(fmt::format("{} has no groups", source_));
    if (!has_names_) groups_.names.clear();
    groups_.num_samples = num_samples_ >= 0 ? num_samples_ : highest_ + 1;
    return std::move(groups_);
  }

 private:
  [[noreturn]] void fail(const std::string& fault) const {
    throw DataError(fmt::format("{}, line {}: {}", source_, line_number_, fault));
  }

  void read_members(std::string_view line) {
    constexpr std::string_view kSeparators = " \t,";
    for (;;) {
      const size_t begin = line.find_first_not_of(kSeparators);
      if (begin == std::string_view::npos) return;
      line.remove_prefix(begin);
      const size_t length = std::min(line.find_first_of(kSeparators), line.size());
      members_.push_back(to_member(line.substr(0, length)));
      line.remove_prefix(length);
    }
  }

  int64_t to_member(std::string_view text) {
    const auto member = parse_integer(text);
    if (!member) fail(fmt::format("\"{}\" is not the row number of a sample", printable(text)));
    if (*member < 0) fail(fmt::format("row number {} must be at least 0", *member));
    if (*member >= kMaxSamples) fail(fmt::format("row number {} is too large", *member));
    if (num_samples_ >= 0 && *member >= num_samples_)
      fail(fmt::format("row number {} must be below {}, the number of samples", *member,
                       num_samples_));
    highest_ = std::max(highest_, *member);
    return *member;
  }

  void end_group(std::string_view name) {
    std::sort(members_.begin(), members_.end());
    for (size_t i = 0; i < members_.size(); ++i) {
      if (i > 0 && members_[i] == members_[i - 1]) {
        ++groups_.weights.back();
        continue;
      }
      groups_.members.push_back(members_[i]);
      groups_.weights.push_back(1);
    }
    members_.clear();
    groups_.offsets.push_back(static_cast<int64_t>(groups_.members.size()));
    groups_.names.emplace_back(name);
    has_names_ = has_names_ || !name.empty();
  }

  const std::string& source_;
  const int64_t num_samples_;
  Groups groups_;
  std::vector<int64_t> members_;  // of the line being read
  int64_t highest_ = -1;
  int64_t line_number_ = 0;
  int64_t pending_blank_lines_ = 0;  // groups only if something follows
  bool has_names_ = false;
};

}  // namespace

std::span<const int64_t> Groups::members_of(int64_t group) const {
  const auto g = static_cast<size_t>(group);
  return std::span(members).subspan(static_cast<size_t>(offsets[g]),
                                    static_cast<size_t>(offsets[g + 1] - offsets[g]));
}

std::span<const float> Groups::weights_of(int64_t group) const {
  const auto g = static_cast<size_t>(group);
  return std::span(weights).subspan(static_cast<size_t>(offsets[g]),
                                    static_cast<size_t>(offsets[g + 1] - offsets[g]));
}

Groups parse_groups(std::string_view text, const std::string& source, int64_t num_samples) {
  if (looks_like_matrix_market(text)) return parse_matrix_market(text, source, num_samples);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  GroupReader reader(source, num_samples);
  for (int64_t line = 1; !text.empty(); ++line) reader.read_line(take_line(text), line);
  return reader.finish();
}

Groups load_groups(const std::string& path, int64_t num_samples) {
  const auto file = MappedFile::open(path);
  if (path.ends_with(".mtx") && !looks_like_matrix_market(file->text()))
    throw DataError(
        fmt::format("{} is not a MatrixMarket file: it does not start with "
                    "%%MatrixMarket",
                    path));
  return parse_groups(file->text(), path, num_samples);
}

Groups select_members(const Groups& groups, const std::vector<int64_t>& rows) {
  Groups selected;
  selected.num_samples = static_cast<int64_t>(rows.size());
  selected.names = groups.names;
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    const auto members = groups.members_of(g);
    for (size_t i = 0; i < members.size(); ++i) {
      const auto at = std::lower_bound(rows.begin(), rows.end(), members[i]);
      if (at == rows.end() || *at != members[i]) continue;
      selected.members.push_back(at - rows.begin());
      selected.weights.push_back(groups.weights_of(g)[i]);
    }
    selected.offsets.push_back(static_cast<int64_t>(selected.members.size()));
  }
  return selected;
}

}  // namespace milieu
