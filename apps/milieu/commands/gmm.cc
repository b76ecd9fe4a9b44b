// SPDX-License-Identifier: Apache-2.0
// milieu gmm: classic/gmm/gmm.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/gmm/gmm.h"

namespace milieu::cli {

namespace {

struct GmmFiles {
  std::string weights;
  std::string initial_means;
};

template <class Visitor>
void visit_fields(GmmFiles& o, Visitor&& v) {
  v("weights", o.weights, anything(), "file with the weight of every row");
  v("initial_means", o.initial_means, anything(),
    "file with the first means, one a row: a single start from these");
}

class GmmMethod : public MethodWith<GmmOptions, GmmFiles> {
 public:
  void load_files(RowFiles& rows) override {
    if (!files_.weights.empty()) weights_ = rows.weights(files_.weights);
    if (!files_.initial_means.empty()) means_ = load_dataset(files_.initial_means).points;
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    GmmInput input;
    input.points = data.points.view();
    input.weights = weights_;
    input.initial_means = means_.view();
    return to_method_result(fit_gmm(input, options_, monitor));
  }

 private:
  std::vector<double> weights_;
  Points means_;
};

constexpr std::string_view kExample =
    "  milieu gmm iris.csv --label-column species -k 3 --covariance full --out run\n"
    "    fits three Gaussians with full covariances to the other columns of iris.csv and compares\n"
    "    the parts with the column `species`, which takes no part in the fitting.\n";

}  // namespace

Command gmm_command() {
  return {.name = "gmm",
          .summary = "Gaussian mixture by expectation-maximisation",
          .example = kExample,
          .make_method = std::make_unique<GmmMethod>};
}

}  // namespace milieu::cli
