// SPDX-License-Identifier: Apache-2.0
// milieu multinomials: classic/counts/multinomials.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/counts/multinomials.h"

namespace milieu::cli {

namespace {

class MultinomialsMethod : public CountsMethodWith<MultinomialsOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    return to_method_result(fit_multinomials({data.points.view()}, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu multinomials counts.npy -k 15 --out run\n"
    "    clusters counts of words (rows: images or texts, columns: words): each cluster has its\n"
    "    own frequencies of words.\n";

}  // namespace

Command multinomials_command() {
  return {.name = "multinomials",
          .summary = "mixture of multinomials of counts",
          .example = kExample,
          .make_method = std::make_unique<MultinomialsMethod>};
}

}  // namespace milieu::cli
