// SPDX-License-Identifier: Apache-2.0
// The restarts of a fit in shards: each shard keeps the objective of every restart that it ran, and
// the merge runs the best one again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/job/restart_range.h"
#include "milieu/run/method.h"

namespace MILIEU_API milieu {

// Throws InvalidArgument when one of the files is a given start: it has no restarts.
void refuse_given_start(const std::vector<Field>& files);

// The fingerprint of what restarts depend on: options, rows and further input files.
std::string restarts_key(const std::vector<Field>& options, const std::vector<Field>& files,
                         const Input& input);

// Runs the restarts of the shard that `file` does not have yet; `objective_of` runs one.
ShardProgress run_restarts(const Shard& shard, int num_restarts, const std::string& file,
                           const std::string& key, const std::function<double(int)>& objective_of,
                           Monitor& monitor);

// The best restart of all shards, the lowest of equals. Throws InvalidArgument that names the
// shards that are not complete.
int choose_restart(const std::vector<std::string>& files, int num_restarts, const std::string& key,
                   RestartChoice choice);

}  // namespace milieu
