// SPDX-License-Identifier: Apache-2.0
// milieu-mpi: the program `milieu` on several machines.
//
//   mpirun -n 8 milieu-mpi kmeans big.npy -k 1000 --out run
//
// Every rank runs the same command on its own rows; rank 0 prints and writes. The result has the
// bits of `milieu kmeans big.npy -k 1000 --out run` (docs/scale.md).
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "cli/program.h"
#include "milieu/base/parallel.h"
#include "milieu/base/ranks/packing.h"
#include "milieu/data/atomic_file.h"
#include "milieu/linalg/isa.h"
#include "mpi_ranks.h"

namespace milieu {
namespace {

constexpr double kOthersMayTake = 2;  // seconds until all ranks have come upon a common error

// All ranks end together, or this one has failed alone and ends the others.
int end_together(MpiRanks& ranks, const cli::ProgramEnd& end) {
  const bool is_failure = end.code == cli::kFailed || end.code == cli::kWrongUsage;
  if (!is_failure) return ranks.meet(1e9) ? end.code : cli::kFailed;
  if (ranks.meet(kOthersMayTake)) return end.code;
  if (ranks.rank() > 0) fmt::print(stderr, "rank {}: {}\n", ranks.rank(), end.error);
  MpiRanks::abort(end.code);
}

// What talking has cost each rank, as JSON in the file that MILIEU_RANK_COST names: for
// measurements (bench/speed/ranks.py).
void write_cost(MpiRanks& ranks) {
  const char* path = std::getenv("MILIEU_RANK_COST");
  if (!path || *path == '\0') return;
  const TalkCost own = ranks.cost();
  std::string text;
  for (const Message& message : ranks.gather(pack_span<TalkCost>(std::span(&own, 1)))) {
    TalkCost cost;
    unpack_span(message, std::span(&cost, 1));
    text +=
        fmt::format(R"({}{{"bytes_sent": {}, "messages_sent": {}, "seconds": {}}})",
                    text.empty() ? "[" : ", ", cost.bytes_sent, cost.messages_sent, cost.seconds);
  }
  if (ranks.rank() == 0) write_file_atomically(path, text + "]\n");
}

int run(int argc, char** argv) {
  MpiRanks ranks(&argc, &argv);
  // Bits depend on the instruction set: all take the lowest.
  const int lowest = -ranks.largest(-static_cast<int>(active_isa()));
  const ScopedIsa isa(static_cast<Isa>(lowest));
  const int threads = std::max(1, resolve_num_threads(0) / ranks.local_size());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const cli::ProgramEnd end = cli::run_program({argv + 1, argv + argc}, ranks);
  if (end.code == cli::kDone) write_cost(ranks);
  return end_together(ranks, end);
}

}  // namespace
}  // namespace milieu

int main(int argc, char** argv) {
  milieu::cli::prepare_process();
  return milieu::run(argc, argv);
}
