// SPDX-License-Identifier: Apache-2.0
// Flags that say what happens to a result, the same for every command that makes a run folder. They
// are not part of options.json.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/progress.h"

namespace milieu::cli {

struct OutputFlags {
  std::string out;
  bool force = false;
  bool json = false;
  bool quiet = false;
  bool progress_json = false;
  double time_limit = 0;

  // `out_help` says what the folder will hold.
  void declare(Flags& flags, const char* out_help, bool has_time_limit);
  // --progress-json, for programs such as the explorer; not in the help.
  void declare_progress(Flags& flags);
  ProgressStyle progress_style() const;
  void validate() const;
  // Tells console and interrupt to be quiet where that was asked for.
  void apply(Session& session) const;
  // Throws now, rather than after the work, when the folder cannot be made.
  void probe() const;
};

// The same for commands that label new samples: a file of labels instead of a run folder.
struct LabelFlags {
  std::string out;
  bool json = false;
  bool quiet = false;
  int num_threads = 0;

  // `what` is labelled: "labels", "phrases".
  void declare(Flags& flags, const std::string& what);
  void validate() const;
};

}  // namespace milieu::cli
