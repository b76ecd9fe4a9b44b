// SPDX-License-Identifier: Apache-2.0
// A file that keeps unfinished work: it must not end the work that it is there to save.
#pragma once

#include <functional>
#include <string>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"

namespace MILIEU_API milieu {

class KeptFile {
 public:
  explicit KeptFile(Monitor& monitor) : monitor_(monitor) {}

  // Calls `write`. An IoError becomes a note, once until it works again; the next call tries again.
  void save(const std::function<void()>& write);
  // Adds a warning when the last attempt failed: what the file holds is not the latest.
  void report(RunSummary& summary) const;

 private:
  Monitor& monitor_;
  std::string problem_;  // of the last attempt; "": none
};

}  // namespace milieu
