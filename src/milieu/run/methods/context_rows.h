// SPDX-License-Identifier: Apache-2.0
// A context that is part of INPUT: which rows are then the set.
#pragma once

#include "milieu/base/export.h"
#include "milieu/input/input.h"
#include "milieu/input/input_binder.h"
#include "milieu/input/input_spec.h"

namespace MILIEU_API milieu {

// Throws InvalidArgument when the context is given in more than one way.
void check_context_flags(InputFiles& files);

// When the context is classes or rows of INPUT and no set was selected, the set is every other row.
// Throws InvalidArgument when none is left.
void leave_out_context(const InputSpec& spec, InputFiles& files, Input& input);

}  // namespace milieu
