// SPDX-License-Identifier: Apache-2.0
// milieu meanshift: classic/meanshift/mean_shift.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/meanshift/mean_shift.h"

namespace milieu::cli {

namespace {

class MeanShiftMethod : public MethodWith<MeanShiftOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    MeanShiftInput input;
    input.points = data.points.view();
    return to_method_result(fit_mean_shift(input, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu meanshift points.npy --bandwidth 0.5 --out run\n"
    "    finds the peaks of the density at the scale 0.5, however many there are. Without\n"
    "    --bandwidth the scale is estimated from the data.\n";

}  // namespace

Command meanshift_command() {
  return {.name = "meanshift",
          .summary = "mean shift: climbs to the peaks of the density",
          .example = kExample,
          .make_method = std::make_unique<MeanShiftMethod>};
}

}  // namespace milieu::cli
