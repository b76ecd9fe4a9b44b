// SPDX-License-Identifier: Apache-2.0
// report.html: the explorer's page with one run inside, needing no server. Without scripts it shows
// the static report (static_report.h). Bounded: of many rows and images some are left out, evenly,
// and the page says how many there were.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

std::string render_run_page(const RunOutcome& outcome);

}  // namespace milieu
