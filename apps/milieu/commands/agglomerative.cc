// SPDX-License-Identifier: Apache-2.0
// milieu agglomerative: classic/agglomerative/agglomerative.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/agglomerative/agglomerative.h"

namespace milieu::cli {

namespace {

class AgglomerativeMethod : public MethodWith<AgglomerativeOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    AgglomerativeInput input;
    input.points = data.points.view();
    return to_method_result(fit_agglomerative(input, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu agglomerative points.npy -k 5 --linkage average --out run\n"
    "    merges the two nearest clusters again and again until five are left. By distance "
    "instead:\n"
    "  milieu agglomerative points.npy --distance-threshold 2.5 --linkage complete\n";

}  // namespace

Command agglomerative_command() {
  return {.name = "agglomerative",
          .summary = "merges the nearest clusters: Ward, average, complete or single",
          .example = kExample,
          .make_method = std::make_unique<AgglomerativeMethod>};
}

}  // namespace milieu::cli
