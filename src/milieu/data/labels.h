// SPDX-License-Identifier: Apache-2.0
// Classes of samples: what label files say, and the rules that make classes out of it.
//
// Whole numbers: when every label is a whole number ("3", "3.0", "3e0" are the same), classes are
//   these numbers, sorted by value. When every label is a number but one is a fraction, that is a
//   DataError: such a column is a measurement, not a class.
// Text: otherwise classes are the texts as written, sorted by their bytes.
// None: the label -1 means "no class", except in files whose only labels are -1 and 1 (the
// two-class
//   convention), where it is a class like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Classes of samples: indices into names. Names are sorted: by number when all of them are whole
// numbers, else by text.
struct Labels {
  std::vector<int> indices;        // class of each sample, in [0, names.size()); -1: none
  std::vector<std::string> names;  // "0", "1", ... or "brick", "grass", ...

  bool empty() const { return indices.empty(); }
};

// Reads classes: .npy of whole numbers or text, idx (also .gz), or text/CSV (one per line; a column
// named "label" or "class" is found automatically, a run folder's labels.csv too). A folder means
// the labels.csv in it. Throws IoError or DataError with the file named.
Labels load_labels(const std::string& path);

// The same of text in memory, for one label per line or a table with a column of labels.
Labels parse_text_labels(std::string_view text, const std::string& source, int num_threads = 0);

Labels labels_from_integers(std::span<const int64_t> values);
// `place` says where a row is ("truth.csv, line 4") when its label must be refused.
Labels labels_from_texts(std::span<const std::string> texts,
                         const std::function<std::string(int64_t row)>& place);

// Numbers the distinct texts of a column in the order of their first appearance. Blocks of a file
// have one each; they are merged in file order.
class TextPool {
 public:
  int intern(std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> ids_;  // looked up, never walked
  std::vector<std::string> texts_;
};

// Classes from a column given as indices into distinct `texts`.
Labels labels_from_pool(std::vector<int> ids, const std::vector<std::string>& texts,
                        const std::function<std::string(int64_t row)>& place);

}  // namespace milieu
