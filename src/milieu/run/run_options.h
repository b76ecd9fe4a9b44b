// SPDX-License-Identifier: Apache-2.0
// What a run was asked to do: the input it read and the options of its method. Written as
// options.json into the run folder and read back by --options:
//
//   {"method": "kmeans", "version": "0.1.0",
//    "input": {"path": "X.npy", "labels": "labels.npy", "select": "6,0"},
//    "options": {"num_clusters": 2, ...}}
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"

namespace MILIEU_API milieu {

// The text of options.json. Input fields that were not given are left out.
std::string run_options_to_json(const std::string& method, const std::vector<Field>& input_fields,
                                const std::vector<Field>& option_fields);

// Sets the fields from an options.json, or from the one in a run folder. Throws IoError when it
// cannot be read, DataError when it is not such a file, InvalidArgument for another method's file
// and for values that break their rules.
void read_run_options(const std::string& path, const std::string& method,
                      const std::vector<Field>& input_fields,
                      const std::vector<Field>& option_fields);

// "milieu kmeans X.npy --labels labels.npy --num-clusters 2": the shortest command that gives the
// same result. Options equal to their value in `defaults` are left out, and so is num_threads.
std::string command_text(const std::string& method, const std::vector<Field>& input_fields,
                         const std::vector<Field>& option_fields,
                         const std::vector<Field>& default_option_fields);

}  // namespace milieu
