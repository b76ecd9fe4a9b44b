// SPDX-License-Identifier: Apache-2.0
// What a person changed in a result by hand (report/edits.h), as the page sends and reads it: by
// rows of the collection instead of places in the run.
#pragma once

#include "milieu/report/export/edits.h"
#include "serve/runs.h"

namespace milieu::serve {

// {moves: [[row, part], ...], tags: [[row, tag], ...], num_parts, history} as the run keeps it.
// Throws RequestError 400 for rows that the run does not have.
Edits edits_from_page(const Json& page, const ViewColumns& columns,
                      const std::vector<std::string>& part_names);
Json edits_to_page(const Edits& edits, const ViewColumns& columns);

// Writes the names of the parts beside the edits that the run folder has.
void keep_part_names(const RunRecord& record);

}  // namespace milieu::serve
