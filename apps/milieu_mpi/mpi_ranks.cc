// SPDX-License-Identifier: Apache-2.0
#include "mpi_ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

namespace milieu {
namespace {

constexpr int kSizeTag = 1;
constexpr int kBytesTag = 2;
constexpr size_t kMostBytes = size_t{1} << 30;  // of one MPI message: its count is an int

}  // namespace

// An error of MPI itself ends the job (MPI_ERRORS_ARE_FATAL, the default), so return codes are not
// looked at.
MpiRanks::MpiRanks(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &talk_);
  MPI_Comm_dup(MPI_COMM_WORLD, &meeting_);
  MPI_Comm_rank(talk_, &rank_);
  MPI_Comm_size(talk_, &size_);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(talk_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local);
  MPI_Comm_size(local, &local_size_);
  MPI_Comm_free(&local);
}

MpiRanks::~MpiRanks() {
  MPI_Comm_free(&meeting_);
  MPI_Comm_free(&talk_);
  MPI_Finalize();
}

void MpiRanks::do_send(int to, const Message& message) {
  const auto size = static_cast<int64_t>(message.size());
  MPI_Send(&size, 1, MPI_INT64_T, to, kSizeTag, talk_);
  for (size_t begin = 0; begin < message.size(); begin += kMostBytes) {
    const size_t count = std::min(kMostBytes, message.size() - begin);
    MPI_Send(message.data() + begin, static_cast<int>(count), MPI_BYTE, to, kBytesTag, talk_);
  }
}

Message MpiRanks::do_receive(int from) {
  int64_t size = 0;
  MPI_Recv(&size, 1, MPI_INT64_T, from, kSizeTag, talk_, MPI_STATUS_IGNORE);
  Message message(static_cast<size_t>(size));
  for (size_t begin = 0; begin < message.size(); begin += kMostBytes) {
    const size_t count = std::min(kMostBytes, message.size() - begin);
    MPI_Recv(message.data() + begin, static_cast<int>(count), MPI_BYTE, from, kBytesTag, talk_,
             MPI_STATUS_IGNORE);
  }
  return message;
}

bool MpiRanks::meet(double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(meeting_, &request);
  int is_done = 0;
  while (true) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void MpiRanks::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace milieu
