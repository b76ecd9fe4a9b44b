// SPDX-License-Identifier: Apache-2.0
// milieu bags: classic/counts/bags.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/counts/bags.h"

namespace milieu::cli {

namespace {

class BagsMethod : public CountsMethodWith<BagsOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    return to_method_result(fit_bags({data.points.view()}, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu bags counts.npy -k 15 --out run\n"
    "    clusters counts of words (rows: images or texts, columns: words) by k-means of their\n"
    "    centred logarithms; --weighting tf-idf weighs words by how rare they are.\n";

}  // namespace

Command bags_command() {
  return {.name = "bags",
          .summary = "k-means of bags of words: log counts or tf-idf",
          .example = kExample,
          .make_method = std::make_unique<BagsMethod>};
}

}  // namespace milieu::cli
