// SPDX-License-Identifier: Apache-2.0
// milieu jsom: classic/counts/jsom.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/counts/jsom.h"

namespace milieu::cli {

namespace {

class JsomMethod : public CountsMethodWith<JsomOptions> {
 public:
  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    return to_method_result(fit_jsom({data.points.view()}, options_, monitor));
  }
};

constexpr std::string_view kExample =
    "  milieu jsom counts.npy -k 15 --topics 100 --out run\n"
    "    clusters counts of words (rows: images or texts, columns: words): rows are mixtures of\n"
    "    100 topics, and each of 15 clusters has its own prior over the topics.\n";

}  // namespace

Command jsom_command() {
  return {.name = "jsom",
          .summary = "joint scene object model: clusters with priors over topics",
          .example = kExample,
          .make_method = std::make_unique<JsomMethod>};
}

}  // namespace milieu::cli
