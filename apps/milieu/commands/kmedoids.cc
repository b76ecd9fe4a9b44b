// SPDX-License-Identifier: Apache-2.0
// milieu kmedoids: exemplar/search/kmedoids.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/exemplar/search/kmedoids.h"

namespace milieu::cli {

namespace {

class KMedoidsMethod : public MethodWith<KMedoidsOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    KMedoidsInput input;
    input.points = data.points.view();
    return to_method_result(fit_kmedoids(input, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu kmedoids faces.npy -k 12 --distance l1 --out run\n"
    "    chooses 12 rows such that the distances of all rows to the nearest of them add up to\n"
    "    little. milieu exemplar -k 12 does the same with a bound on how good it can get.\n";

}  // namespace

Command kmedoids_command() {
  return {.name = "kmedoids",
          .summary = "k samples that represent the rest, by swaps",
          .example = kExample,
          .make_method = std::make_unique<KMedoidsMethod>};
}

}  // namespace milieu::cli
