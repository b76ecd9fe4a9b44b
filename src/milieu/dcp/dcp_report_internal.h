// SPDX-License-Identifier: Apache-2.0
// What a fit says about its result: decisions, margins, summary, warnings.
#pragma once

#include "milieu/dcp/dcp.h"
#include "milieu/dcp/dcp_constraints_internal.h"

namespace milieu::internal {

// Decision values and margins of all samples; where `labels_follow` the labels are set from them.
void fill_decisions(const DcpInput& input, const DcpOptions& options, bool labels_follow,
                    DcpResult& result);

// Everything in the summary but objective, trace, restarts, termination and time.
void summarise(const DcpInput& input, const DcpOptions& options, const Constraints& constraints,
               int64_t num_evaluations, DcpResult& result);

}  // namespace milieu::internal
