// SPDX-License-Identifier: Apache-2.0
// The text of `dcp --sizes`, which limits the sizes of the parts.
#include "fuzz_target.h"
#include "milieu/dcp/dcp.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("sizes", [](std::span<const std::byte> input) {
  Matrix<float> points(6, 1), context(3, 1);
  for (int64_t i = 0; i < 6; ++i) points(i, 0) = static_cast<float>(i < 3 ? i : i + 10);
  for (int64_t i = 0; i < 3; ++i) context(i, 0) = 6;
  DcpInput problem;
  problem.points = points;
  problem.context = context;
  DcpOptions options = margin_dcp_options();
  options.sizes = as_text(input);
  options.num_restarts = 1;
  options.max_iterations = 2;
  options.num_threads = 1;
  const DcpResult result = fit_dcp(problem, options);
  check_promise(result.labels.size() == 6, "a label for every row");
  for (const int label : result.labels) check_promise(label >= 0 && label < 2, "labels in range");
});

}  // namespace
}  // namespace milieu
