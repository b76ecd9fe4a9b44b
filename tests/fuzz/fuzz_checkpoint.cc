// SPDX-License-Identifier: Apache-2.0
// The state of a killed dlgmm run: as it is, and as if it belonged to the run that resumes from it.
#include <optional>

#include "fuzz_target.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/store/model_file.h"

namespace milieu {
namespace {

// Four images of three patches.
struct Problem {
  Problem() : patches(12, 2), offsets{0, 3, 6, 9, 12} {
    for (int64_t i = 0; i < 12; ++i) {
      patches(i, 0) = static_cast<float>(i % 3);
      patches(i, 1) = static_cast<float>(i < 6 ? 0 : 5);
    }
    input.images.patches = patches;
    input.images.offsets = offsets;
    options.num_words = 2;
    options.num_clusters = 2;
    options.num_restarts = 1;
    options.max_iterations = 3;
    options.num_threads = 1;
  }
  Matrix<float> patches;
  std::vector<int64_t> offsets;
  DlgmmInput input;
  DlgmmOptions options;
};

// What a state of this problem carries.
std::string fingerprint_of(const Problem& problem) {
  std::string fingerprint;
  DlgmmInput input = problem.input;
  input.on_pass = [&](const DlgmmState& state) { fingerprint = state.fingerprint; };
  fit_dlgmm(input, problem.options);
  return fingerprint;
}

const RegisterFuzzTarget kRegistered("checkpoint", [](std::span<const std::byte> input) {
  static const Problem problem;
  static const std::string fingerprint = fingerprint_of(problem);
  const std::string repaired = with_right_checksum(input);
  DlgmmState state = from_model_file<DlgmmState>(
      parse_model_file(std::as_bytes(std::span(repaired)), "fuzz.safetensors"), "fuzz.safetensors");
  state.fingerprint = fingerprint;
  DlgmmInput resumed = problem.input;
  resumed.resume = &state;
  const DlgmmResult result = fit_dlgmm(resumed, problem.options);
  check_promise(result.labels.size() == 4, "a label for every image");
});

}  // namespace
}  // namespace milieu
