// SPDX-License-Identifier: Apache-2.0
// Which classes to keep: "6,0", "0-3,7", "brick,\"sand, wet\"".
//
// Items are separated by commas; blanks around them are ignored; an item with a comma goes in
// double quotes, a quote inside is doubled; control characters are written as \xNN. An item is the
// name of a class; else, where classes are whole numbers, a number written differently ("07",
// "7.0"), or a range "0-3" that keeps every class from 0 to 3. The order of the items does not
// matter: samples stay in file order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/labels.h"

namespace MILIEU_API milieu {

// The items of a selection; an empty item or an open quote is an InvalidArgument.
std::vector<std::string> parse_selection(std::string_view text);

// A class as kept_classes reads it back: in quotes and with \xNN where it needs them.
std::string selection_item(const std::string& name);

// For every class of `labels` whether it is kept. An item that matches no class is an
// InvalidArgument that lists the classes there are; `source` names the file they come from.
std::vector<bool> kept_classes(std::string_view selection, const Labels& labels,
                               const std::string& source);

// Rows whose class is kept, ascending. Samples without a class are not kept.
std::vector<int64_t> kept_rows(const Labels& labels, const std::vector<bool>& kept);

// Row numbers, counted from 0, from a file of one column: ascending, each once. Throws DataError
// for anything but whole numbers up to 2^24.
std::vector<int64_t> load_row_numbers(const std::string& path);

// The labels of `rows` only; classes that no longer occur are dropped, the others keep their order.
Labels gather_labels(const Labels& labels, const std::vector<int64_t>& rows);

}  // namespace milieu
