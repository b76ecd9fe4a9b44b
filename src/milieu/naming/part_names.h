// SPDX-License-Identifier: Apache-2.0
// The labels of parts as people read them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/naming/naming.h"

namespace MILIEU_API milieu {

// A label with its name.
struct NamedLabel : PartLabel {
  std::string name;
};

// What one part is called.
struct PartNames {
  std::vector<NamedLabel> labels;    // that set the part apart, the largest lead first
  std::vector<NamedLabel> exemplar;  // that set its exemplar apart; empty where it has none

  // "snow leopard, lynx"; "" without labels.
  std::string title() const;
};

// The names of `num_scores` labels from lines: as many, or one more whose first is "background".
// `path` and `source` name both in messages. Throws DataError otherwise.
std::vector<std::string> match_label_names(std::vector<std::string> lines, int64_t num_scores,
                                           const std::string& path, const std::string& source);

// Names as they are shown: the text in front of the first comma, where no other line begins the
// same ("snow leopard, ounce, Panthera uncia" is shown as "snow leopard"), else the whole line.
std::vector<std::string> shown_names(std::span<const std::string> lines);

std::vector<NamedLabel> with_names(std::span<const PartLabel> labels,
                                   std::span<const std::string> names);

// One line per part: "part 0: snow leopard (98 % sure), lynx (71 % sure)".
std::string part_names_text(std::span<const PartNames> parts);

// part, of (part or exemplar), rank, label, name, sure, mean, lead, p: one line per label.
std::string part_names_csv(std::span<const PartNames> parts);

}  // namespace milieu
