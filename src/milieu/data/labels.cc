// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/format/gzip.h"
#include "milieu/data/format/idx.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

constexpr int64_t kNone = -1;

// The position of each of the sorted distinct values; -1 for the value that means "none".
struct ClassValues {
  std::vector<int64_t> values;  // ascending
  int index_of(int64_t value) const {
    const auto at = std::lower_bound(values.begin(), values.end(), value);
    return at != values.end() && *at == value ? static_cast<int>(at - values.begin()) : -1;
  }
};

// -1 is dropped unless {-1, 1} is all there is.
ClassValues classes_of(std::vector<int64_t> distinct) {
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct != std::vector<int64_t>{-1, 1}) std::erase(distinct, kNone);
  return {std::move(distinct)};
}

std::vector<std::string> names_of(const ClassValues& classes) {
  std::vector<std::string> names;
  for (const int64_t value : classes.values) names.push_back(std::to_string(value));
  return names;
}

// All texts as whole numbers, or nothing when one is not a number. A fraction among numbers only is
// refused; `place_of_text` says where the text first occurs.
std::optional<std::vector<int64_t>> whole_numbers(
    const std::vector<std::string>& texts,
    const std::function<std::string(size_t text)>& place_of_text) {
  std::vector<int64_t> values;
  std::optional<size_t> fraction;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!parse_double(texts[i])) return std::nullopt;
    const auto value = parse_whole_number(texts[i]);
    if (!value && !fraction) fraction = i;
    values.push_back(value.value_or(0));
  }
  if (fraction)
    throw DataError(fmt::format("{}: label is {}, must be a whole number or text",
                                place_of_text(*fraction), printable(texts[*fraction])));
  return values;
}

Labels labels_from_file(const std::string& path) {
  auto file = MappedFile::open(path);
  if (looks_like_npy(file->bytes()) || path.ends_with(".npy")) {
    const RawArray array = open_npy(file, path);
    if (!array.is_text()) return labels_from_integers(to_integers(array));
    return labels_from_texts(to_texts(array), [&](int64_t row) {
      return fmt::format("{}, row {} (counted from 0)", path, row);
    });
  }
  if (looks_like_idx(file->bytes()) || looks_like_gzip(file->bytes()))
    return labels_from_integers(to_integers(open_idx(file, path)));
  return parse_text_labels(file->text(), path);
}

}  // namespace

int TextPool::intern(std::string_view text) {
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const int id = static_cast<int>(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(text, id);
  return id;
}

Labels labels_from_integers(std::span<const int64_t> values) {
  // Distinct neighbours first: sorted files and files with few classes stay small.
  std::vector<int64_t> distinct;
  std::unique_copy(values.begin(), values.end(), std::back_inserter(distinct));
  const ClassValues classes = classes_of(std::move(distinct));
  Labels labels;
  labels.names = names_of(classes);
  labels.indices.reserve(values.size());
  for (const int64_t value : values) labels.indices.push_back(classes.index_of(value));
  return labels;
}

Labels labels_from_pool(std::vector<int> ids, const std::vector<std::string>& texts,
                        const std::function<std::string(int64_t row)>& place) {
  const auto place_of_text = [&](size_t text) {
    return place(std::find(ids.begin(), ids.end(), static_cast<int>(text)) - ids.begin());
  };
  std::vector<int> class_from_id(texts.size());
  Labels labels;
  if (const auto values = whole_numbers(texts, place_of_text)) {
    const ClassValues classes = classes_of(*values);
    labels.names = names_of(classes);
    for (size_t i = 0; i < texts.size(); ++i) class_from_id[i] = classes.index_of((*values)[i]);
  } else {
    for (size_t i = 0; i < texts.size(); ++i)
      if (!is_utf8(texts[i]))
        throw DataError(fmt::format("{}: label is \"{}\", must be UTF-8 text", place_of_text(i),
                                    printable(texts[i])));
    labels.names = texts;
    std::erase(labels.names, "-1");
    std::sort(labels.names.begin(), labels.names.end());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto at = std::lower_bound(labels.names.begin(), labels.names.end(), texts[i]);
      const bool is_class = at != labels.names.end() && *at == texts[i];
      class_from_id[i] = is_class ? static_cast<int>(at - labels.names.begin()) : -1;
    }
  }
  for (int& id : ids) id = class_from_id[static_cast<size_t>(id)];
  labels.indices = std::move(ids);
  return labels;
}

Labels labels_from_texts(std::span<const std::string> texts,
                         const std::function<std::string(int64_t row)>& place) {
  TextPool pool;
  std::vector<int> ids;
  for (const std::string& text : texts) ids.push_back(pool.intern(text));
  return labels_from_pool(std::move(ids), pool.texts(), place);
}

Labels load_labels(const std::string& path) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  const std::string file = is_folder ? path + "/labels.csv" : path;
  Labels labels = labels_from_file(file);
  if (labels.empty()) throw DataError(fmt::format("{} has no labels", file));
  return labels;
}

}  // namespace milieu
