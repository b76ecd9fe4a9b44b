// SPDX-License-Identifier: Apache-2.0
// milieu ncut: classic/ncut/ncut.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/ncut/ncut.h"

namespace milieu::cli {

namespace {

class NcutMethod : public MethodWith<NcutOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    NcutInput input;
    input.points = data.points.view();
    return to_method_result(fit_ncut(input, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu ncut moons.npy -k 2 --out run\n"
    "    joins each sample to its nearest ones and cuts that graph in two: follows curved "
    "clusters\n"
    "    that k-means would split.\n";

}  // namespace

Command ncut_command() {
  return {.name = "ncut",
          .summary = "normalized cut (spectral clustering): connected parts of any shape",
          .example = kExample,
          .make_method = std::make_unique<NcutMethod>};
}

}  // namespace milieu::cli
