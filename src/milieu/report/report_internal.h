// SPDX-License-Identifier: Apache-2.0
// The cards of the report, one function each; each adds nothing when it has nothing to show.
#pragma once

#include "milieu/render/html.h"
#include "milieu/report/static_report.h"

namespace milieu::internal {

// report_charts.cc
void add_overview_cards(Markup& page, const ReportInput& input);  // map, sizes, objective
void add_samples_card(Markup& page, const ReportInput& input);

// report_names.cc
void add_names_card(Markup& page, const ReportInput& input);

// report_tables.cc
void add_table_cards(Markup& page, const ReportInput& input);  // metrics, options, details
void add_classes_card(Markup& page, const ReportInput& input);
void add_command_card(Markup& page, const ReportInput& input);

}  // namespace milieu::internal
