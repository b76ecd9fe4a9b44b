// SPDX-License-Identifier: Apache-2.0
// The files of a fit in shards, one per shard, in a folder beside the run folder:
// run.shards/2-of-8.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/job/shard.h"

namespace MILIEU_API milieu {

// "run.shards" for the run folder "run" or "run/".
std::string shard_folder(const std::string& run);

// The file of a shard; makes the folder. Throws InvalidArgument when the folder holds shards of
// another number.
std::string make_shard_file(const std::string& folder, const Shard& shard);

// The files of all shards, in order. Throws InvalidArgument that names those that are missing.
std::vector<std::string> find_shard_files(const std::string& folder);

}  // namespace milieu
