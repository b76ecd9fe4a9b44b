// SPDX-License-Identifier: Apache-2.0
// milieu topics: classic/counts/topics.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/counts/topics.h"

namespace milieu::cli {

namespace {

class TopicsMethod : public CountsMethodWith<TopicsOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    return to_method_result(fit_topics({data.points.view()}, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu topics counts.npy -k 15 --out run\n"
    "    finds 15 topics in counts of words (rows: images or texts, columns: words) by latent\n"
    "    Dirichlet allocation, and gives each row its strongest topic.\n";

}  // namespace

Command topics_command() {
  return {.name = "topics",
          .summary = "latent Dirichlet allocation of counts",
          .example = kExample,
          .make_method = std::make_unique<TopicsMethod>};
}

}  // namespace milieu::cli
