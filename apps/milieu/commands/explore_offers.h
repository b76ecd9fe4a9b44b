// SPDX-License-Identifier: Apache-2.0
// What the explorer's page can run on a collection: every method of the table, and the advice
// whether classes should be split.
#pragma once

#include <vector>

#include "commands/explore_methods.h"
#include "serve/run_request.h"

namespace milieu::cli {

// They refer to `files`.
std::vector<serve::MethodInfo> explorer_offers(const InputSpec& input, const DescribeSpec& describe,
                                               const SharedFiles& files);

}  // namespace milieu::cli
