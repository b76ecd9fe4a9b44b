// SPDX-License-Identifier: Apache-2.0
// The text of a labels.csv, for further tables of labels in a run folder; docs/format.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// What write_labels_csv (run_folder.h) writes.
std::string labels_csv_text(std::span<const int> labels, const std::vector<std::string>& names,
                            std::span<const int64_t> rows);

// classes.csv: the names of the classes that labels count.
std::string classes_csv_text(const std::vector<std::string>& names);

}  // namespace milieu
