// SPDX-License-Identifier: Apache-2.0
// What a fit keeps so that a job that was killed can go on. States travel and are stored as
// messages (packing.h) and depend neither on the number of ranks nor on threads: a job continues on
// any number of them, to the same bits.
#pragma once

#include <optional>

#include "milieu/base/export.h"
#include "milieu/base/ranks/packing.h"

namespace MILIEU_API milieu {

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // The last state of this very job, on every rank; nothing when there is none.
  virtual std::optional<Message> load() = 0;
  // Called by all ranks after an iteration, with the same state. It may leave out some.
  virtual void save(const Message& state) = 0;
};

// The state in `zero`, which has the shapes; false when there is none. No checkpoint: null.
template <class State>
bool load_state(Checkpoint* checkpoint, State& zero) {
  if (!checkpoint) return false;
  const std::optional<Message> message = checkpoint->load();
  if (message) unpack(*message, zero);
  return message.has_value();
}

}  // namespace milieu
