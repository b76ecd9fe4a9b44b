// SPDX-License-Identifier: Apache-2.0
// A checkpoint as a file: written whole or not at all, about once a second. It belongs to one job:
// data, options and version are in its fingerprint.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/checkpoint.h"
#include "milieu/base/summary.h"
#include "milieu/run/methods/kept_file.h"

namespace MILIEU_API milieu {

// The file of a method that keeps one.
struct CheckpointPath {
  std::string checkpoint;
};

template <class Visitor>
void visit_fields(CheckpointPath& o, Visitor&& v) {
  v("checkpoint", o.checkpoint, anything(),
    "file that is kept up to date while the method runs: a run that was killed continues from it");
}

class CheckpointFile : public Checkpoint {
 public:
  static constexpr const char* kKind = "checkpoint";

  // `fingerprint` is that of the job; rank 0 reads and writes. Both references must outlive this.
  CheckpointFile(std::string path, std::string fingerprint, Communicator& ranks, Monitor& monitor);

  // Throws InvalidArgument for a file of another job, DataError for a damaged one.
  std::optional<Message> load() override;
  // A state within a second of the last one is left out. A file that cannot be written becomes a
  // note: the run goes on.
  void save(const Message& state) override;
  // A warning when the last state could not be kept.
  void report(RunSummary& summary) const { kept_.report(summary); }
  // The job is complete.
  void remove();

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<Message> read() const;

  std::string path_;
  std::string fingerprint_;
  Communicator& ranks_;
  KeptFile kept_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace milieu
