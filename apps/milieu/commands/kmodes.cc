// SPDX-License-Identifier: Apache-2.0
// milieu kmodes: classic/kmodes/kmodes.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/kmodes/kmodes.h"

namespace milieu::cli {

namespace {

struct KModesFiles {
  std::string weights;
  std::string initial_modes;
};

template <class Visitor>
void visit_fields(KModesFiles& o, Visitor&& v) {
  v("weights", o.weights, anything(), "file with the weight of every row");
  v("initial_modes", o.initial_modes, anything(),
    "file with the first modes, one a row: a single start from these");
}

class KModesMethod : public MethodWith<KModesOptions, KModesFiles> {
 public:
  void load_files(RowFiles& rows) override {
    if (!files_.weights.empty()) weights_ = rows.weights(files_.weights);
    if (!files_.initial_modes.empty()) modes_ = load_dataset(files_.initial_modes).points;
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    KModesInput input;
    input.points = data.points.view();
    input.weights = weights_;
    input.initial_modes = modes_.view();
    return to_method_result(fit_kmodes(input, options_, monitor));
  }

 private:
  std::vector<double> weights_;
  Points modes_;
};

constexpr std::string_view kExample =
    "  milieu kmodes answers.csv -k 4 --out run\n"
    "    clusters rows of zeros and ones (yes-no answers, binary codes) by the number of places "
    "in\n"
    "    which they differ; the mode of a cluster is its majority in every column.\n";

}  // namespace

Command kmodes_command() {
  return {.name = "kmodes",
          .summary = "k-modes for rows of zeros and ones, by Hamming distance",
          .example = kExample,
          .make_method = std::make_unique<KModesMethod>};
}

}  // namespace milieu::cli
