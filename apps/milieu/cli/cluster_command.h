// SPDX-License-Identifier: Apache-2.0
// The one runner of all clustering commands: declares the shared flags and the method's own, reads
// the input, fits, writes the run folder, prints the result.
#pragma once

#include "cli/commands.h"

namespace milieu::cli {

// Declares the flags of `command`, whose make_method must be set, and returns its run.
Run declare_clustering(const Command& command, Flags& flags);

}  // namespace milieu::cli
