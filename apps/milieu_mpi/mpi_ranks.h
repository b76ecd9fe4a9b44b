// SPDX-License-Identifier: Apache-2.0
// The processes of an MPI job as ranks: the only module that sees mpi.h.
#pragma once

#include <mpi.h>

#include "milieu/base/communicator.h"

namespace milieu {

class MpiRanks : public Communicator {
 public:
  MpiRanks(int* argc, char*** argv);  // MPI_Init; one object per process
  ~MpiRanks() override;               // MPI_Finalize

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // Processes of the job on this machine.
  int local_size() const { return local_size_; }

  // Waits until every rank has come here; false when some have not after `seconds`: they are still
  // at work, or gone.
  bool meet(double seconds);
  [[noreturn]] static void abort(int code);

 protected:
  void do_send(int to, const Message& message) override;
  Message do_receive(int from) override;

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_size_ = 1;
  MPI_Comm talk_ = MPI_COMM_NULL;     // of do_send and do_receive
  MPI_Comm meeting_ = MPI_COMM_NULL;  // of meet
};

}  // namespace milieu
