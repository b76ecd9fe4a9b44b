// SPDX-License-Identifier: Apache-2.0
// What the explorer's page offers for a collection: to run every method of the table, or the advice
// whether classes should be split; to describe images by other features.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands/explore_methods.h"
#include "serve/run_request.h"

namespace milieu::cli {

// They refer to `files`.
std::vector<serve::MethodInfo> explorer_offers(const InputSpec& input, const DescribeSpec& describe,
                                               const SharedFiles& files);

// Features by which images can be described, and what they are: whole catalog entries, and the
// network that was set up.
std::vector<std::pair<std::string, std::string>> offered_features();

}  // namespace milieu::cli
