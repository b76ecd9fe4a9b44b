// SPDX-License-Identifier: Apache-2.0
// The command of any method of the table: declares the shared flags and the method's own, runs it
// (run/run.h), writes the run folder, prints the result.
#pragma once

#include "cli/commands.h"
#include "milieu/run/methods.h"

namespace milieu::cli {

RunCommand declare_method(const MethodEntry& method, Flags& flags);

}  // namespace milieu::cli
