// SPDX-License-Identifier: Apache-2.0
// What the files of fit_dlgmm share.
#pragma once

#include <string>

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu {

// The problem, checked.
struct DlgmmRun {
  const DlgmmOptions& options;
  ImageTable table;
  double word_floor = 0;    // of delta2
  std::string fingerprint;  // of options and images

  PassOptions pass_options() const;
};

// What the last pass says for the summary.
struct PassReport {
  BoundTerms bound;
  double loss = 0;
  int64_t num_scored = 0;
  int64_t words_in_use = 0;
};

// Throws for whatever is wrong with the input.
DlgmmRun check_dlgmm(const DlgmmInput& input, const DlgmmOptions& options);

// Both layers at their start. When the monitor stops it the model is valid, but says nothing.
void start_state(const DlgmmRun& run, const DlgmmInput& input, Monitor& monitor, DlgmmState& state);

void describe_dlgmm(const DlgmmRun& run, const DlgmmState& state, const PassReport& report,
                    Termination termination, DlgmmResult& result);

}  // namespace milieu
