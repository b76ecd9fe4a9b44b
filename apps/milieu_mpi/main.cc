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

#include "cli/program.h"
#include "milieu/base/parallel.h"
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

int run(int argc, char** argv) {
  MpiRanks ranks(&argc, &argv);
  // Bits depend on the instruction set: all take the lowest.
  const int lowest = -ranks.largest(-static_cast<int>(active_isa()));
  const ScopedIsa isa(static_cast<Isa>(lowest));
  const int threads = std::max(1, resolve_num_threads(0) / ranks.local_size());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return end_together(ranks, cli::run_program({argv + 1, argv + argc}, ranks));
}

}  // namespace
}  // namespace milieu

int main(int argc, char** argv) {
  milieu::cli::prepare_process();
  return milieu::run(argc, argv);
}
