// SPDX-License-Identifier: Apache-2.0
// Ranks: programs that work on one job together, each on its own rows (rows.h). A communicator says
// which of them this one is and carries messages between them. Three kinds: one rank alone, threads
// of this process as ranks (run_as_ranks, for tests), and MPI (apps/milieu-mpi).
//
// Every rank makes the same calls in the same order. Messages hold numbers as the machine has them:
// all ranks must be of one kind, which check_same_everywhere confirms at the start of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/export.h"

namespace MILIEU_API milieu {

using Message = std::vector<std::byte>;

// Thrown on a rank that waits for one that has failed.
class RankLost : public Error {
 public:
  using Error::Error;
};

// What talking has cost this rank so far.
struct TalkCost {
  int64_t bytes_sent = 0;
  int64_t messages_sent = 0;
  double seconds = 0;  // in calls of the communicator, waiting included
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // 0 .. size() - 1
  virtual int size() const = 0;

  // Messages between two ranks arrive in the order in which they were sent. `send` may return
  // before the message has arrived.
  void send(int to, const Message& message);
  Message receive(int from);

  // Every rank gets what `root` has.
  void broadcast(int root, Message& message);
  // The messages of all ranks, by rank, on every rank.
  std::vector<Message> gather(const Message& mine);
  // The largest number that a rank has, on every rank.
  int largest(int mine);

  const TalkCost& cost() const { return cost_; }

 protected:
  virtual void do_send(int to, const Message& message) = 0;
  virtual Message do_receive(int from) = 0;

 private:
  TalkCost cost_;
};

// One rank alone, shared by all callers.
Communicator& single_rank();

// Calls body(communicator) on `num_ranks` threads, each of them a rank. When one of them throws,
// the others stop waiting for it (RankLost); the exception of the lowest rank that failed by itself
// is rethrown.
void run_as_ranks(int num_ranks, const std::function<void(Communicator&)>& body);

// Throws DataError on all ranks unless `fact` is the same on each; `what` names it: "points.npy".
void check_same_everywhere(Communicator& ranks, const std::string& what, const std::string& fact);

}  // namespace milieu
