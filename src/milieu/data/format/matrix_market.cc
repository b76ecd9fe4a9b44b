// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/matrix_market.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/printable.h"

namespace milieu::internal {
namespace {

constexpr std::string_view kBanner = "%%MatrixMarket";

struct Entry {
  int64_t group = 0;
  int64_t sample = 0;
  double weight = 1;
};

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::string_view text, const std::string& source, MatrixSymmetry symmetry)
      : rest_(text),
        num_bytes_(static_cast<int64_t>(text.size())),
        source_(source),
        symmetry_(symmetry) {}

  Groups read(int64_t num_samples) {
    read_banner();
    read_size(num_samples);
    std::vector<Entry> entries;
    for (int64_t i = 0; i < num_entries_; ++i) entries.push_back(read_entry(i));
    if (next_words()) fail("the file has more entries than the size line declares");
    return compress(std::move(entries));
  }

 private:
  [[noreturn]] void fail(const std::string& fault) const {
    throw DataError(fmt::format("{}, line {}: {}", source_, line_number_, fault));
  }

  // Splits the next line into words_.
  void take_words() {
    ++line_number_;
    words_.clear();
    std::string_view line = take_line(rest_);
    while (!(line = trim(line)).empty()) {
      const size_t length = std::min(line.find_first_of(" \t"), line.size());
      words_.push_back(line.substr(0, length));
      line.remove_prefix(length);
    }
  }

  // The words of the next line that is neither blank nor a comment; false at the end.
  bool next_words() {
    while (!rest_.empty()) {
      take_words();
      if (!words_.empty() && !words_[0].starts_with('%')) return true;
    }
    return false;
  }

  void read_banner() {
    take_words();
    std::vector<std::string> words;
    for (const std::string_view word : words_) {
      words.emplace_back(word);
      for (char& c : words.back())
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (words.size() != 5 || words[1] != "matrix" || words[2] != "coordinate")
      fail("must be \"%%MatrixMarket matrix coordinate <field> general\"");
    if (words[3] != "real" && words[3] != "integer" && words[3] != "pattern")
      fail(fmt::format("field is \"{}\", must be real, integer or pattern", printable(words[3])));
    if (symmetry_ == MatrixSymmetry::Any && words[4] != "general" && words[4] != "symmetric")
      fail(fmt::format("symmetry is \"{}\", must be general or symmetric", printable(words[4])));
    if (symmetry_ == MatrixSymmetry::General && words[4] != "general")
      fail(fmt::format("symmetry is \"{}\", must be general: rows are groups, columns are samples",
                       printable(words[4])));
    has_weights_ = words[3] != "pattern";
  }

  int64_t to_count(std::string_view word) const {
    const auto count = parse_integer(word);
    if (!count || *count < 0)
      fail(fmt::format("\"{}\" must be a whole number of at least 0", printable(word)));
    return *count;
  }

  // Nothing is allocated before these sizes are known to fit the file.
  void read_size(int64_t num_samples) {
    constexpr int64_t kLeastEntryBytes = 4;     // "1 1\n"
    constexpr int64_t kMostGroupsPerByte = 16;  // nearly all groups empty: not a group file
    if (!next_words() || words_.size() != 3)
      fail("must be the numbers of rows, columns and entries");
    num_groups_ = to_count(words_[0]);
    num_samples_ = to_count(words_[1]);
    num_entries_ = to_count(words_[2]);
    if (num_entries_ > num_bytes_ / kLeastEntryBytes + 1)
      fail(fmt::format("promises {}, more than the file can hold",
                       counted(num_entries_, "entry", "entries")));
    if (num_groups_ > kMostGroupsPerByte * num_bytes_)
      fail(fmt::format("promises {} in a file of {}", counted(num_groups_, "group"),
                       counted(num_bytes_, "byte")));
    if (num_groups_ == 0) fail("has no groups");
    if (num_samples >= 0 && num_samples != num_samples_)
      throw DataError(fmt::format("{} has {}, the data {}: they must match", source_,
                                  counted(num_samples_, "column"), counted(num_samples, "sample")));
  }

  int64_t to_index(std::string_view word, int64_t count, const char* what) const {
    const auto index = parse_integer(word);
    if (!index || *index < 1 || *index > count)
      fail(fmt::format("{} is \"{}\", must be 1 to {}", what, printable(word), count));
    return *index - 1;
  }

  Entry read_entry(int64_t index) {
    if (!next_words())
      fail(fmt::format("is truncated: it has {}, the size line declares {}",
                       counted(index, "entry", "entries"), num_entries_));
    const size_t expected = has_weights_ ? 3 : 2;
    if (words_.size() != expected)
      fail(fmt::format("has {}, must have {}", counted(words_.size(), "number"), expected));
    Entry entry;
    entry.group = to_index(words_[0], num_groups_, "row");
    entry.sample = to_index(words_[1], num_samples_, "column");
    if (!has_weights_) return entry;
    const auto weight = parse_double(words_[2]);
    if (!weight || !std::isfinite(*weight) || *weight < 0)
      fail(fmt::format("weight is \"{}\", must be a finite number of at least 0",
                       printable(words_[2])));
    entry.weight = *weight;
    return entry;
  }

  Groups compress(std::vector<Entry> entries) const {
    // Stable: entries of one place are added up in file order.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.group, a.sample) < std::pair(b.group, b.sample);
    });
    Groups groups;
    groups.num_samples = num_samples_;
    groups.offsets.reserve(static_cast<size_t>(num_groups_) + 1);
    for (size_t i = 0; i < entries.size();) {
      const Entry place = entries[i];
      double weight = 0;
      for (; i < entries.size() && entries[i].group == place.group &&
             entries[i].sample == place.sample;
           ++i)
        weight += entries[i].weight;
      const float rounded = static_cast<float>(weight);
      if (!std::isfinite(rounded))
        throw DataError(
            fmt::format("{}: the weight of row {}, column {} is {}, too large for a "
                        "32-bit float",
                        source_, place.group + 1, place.sample + 1, weight));
      if (rounded == 0) continue;
      groups.offsets.resize(static_cast<size_t>(place.group) + 1,
                            static_cast<int64_t>(groups.members.size()));
      groups.members.push_back(place.sample);
      groups.weights.push_back(rounded);
    }
    groups.offsets.resize(static_cast<size_t>(num_groups_) + 1,
                          static_cast<int64_t>(groups.members.size()));
    return groups;
  }

  std::string_view rest_;
  std::vector<std::string_view> words_;  // of the line being read
  const int64_t num_bytes_;
  const std::string& source_;
  const MatrixSymmetry symmetry_;
  int64_t line_number_ = 0;
  bool has_weights_ = true;
  int64_t num_groups_ = 0;
  int64_t num_samples_ = 0;
  int64_t num_entries_ = 0;
};

}  // namespace

bool looks_like_matrix_market(std::string_view text) { return text.starts_with(kBanner); }

Groups parse_matrix_market(std::string_view text, const std::string& source, int64_t num_samples,
                           MatrixSymmetry symmetry) {
  return MatrixMarketReader(text, source, symmetry).read(num_samples);
}

}  // namespace milieu::internal
