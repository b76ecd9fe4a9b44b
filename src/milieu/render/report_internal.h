// SPDX-License-Identifier: Apache-2.0
// The cards of the report, one function each; each adds nothing when it has nothing to show.
#pragma once

#include "milieu/render/html.h"
#include "milieu/render/report.h"

namespace milieu::internal {

// report_charts.cc
void add_map_card(Markup& page, const ReportInput& input);
void add_sizes_card(Markup& page, const RunSummary& summary);
void add_trace_card(Markup& page, const RunSummary& summary);
void add_samples_card(Markup& page, const ReportInput& input);

// report_tables.cc
void add_metrics_card(Markup& page, const Metrics& metrics);
void add_classes_card(Markup& page, const ReportInput& input);
void add_details_card(Markup& page, const RunSummary& summary);
void add_options_card(Markup& page, const std::vector<Field>& options);
void add_command_card(Markup& page, const ReportInput& input);

}  // namespace milieu::internal
