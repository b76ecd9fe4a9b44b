// SPDX-License-Identifier: Apache-2.0
// milieu kmeans: classic/kmeans/kmeans.h on the command line.
#include <memory>

#include "cli/commands.h"
#include "method.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::cli {

namespace {

struct KMeansFiles {
  std::string weights;
  std::string initial_centers;
};

template <class Visitor>
void visit_fields(KMeansFiles& o, Visitor&& v) {
  v("weights", o.weights, anything(), "file with the weight of every row");
  v("initial_centers", o.initial_centers, anything(),
    "file with the first centres, one a row: a single start from these");
}

class KMeansMethod : public MethodWith<KMeansOptions, KMeansFiles> {
 public:
  void load_files(RowFiles& rows) override {
    if (!files_.weights.empty()) weights_ = rows.weights(files_.weights);
    if (!files_.initial_centers.empty()) centers_ = load_dataset(files_.initial_centers).points;
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    KMeansInput input;
    input.points = data.points.view();
    input.weights = weights_;
    input.initial_centers = centers_.view();
    return to_method_result(fit_kmeans(input, options_, monitor));
  }

 private:
  std::vector<double> weights_;
  Points centers_;
};

constexpr std::string_view kExample =
    "  milieu kmeans digits.npy -k 10 --labels digits_labels.npy --out run\n"
    "    clusters the rows of digits.npy into 10, says how well the clusters match the labels, "
    "and\n"
    "    leaves labels, model and report in run/. The same job again from other random numbers:\n"
    "  milieu kmeans --options run/options.json --seed 7 --out run7\n";

}  // namespace

Command kmeans_command() {
  return {.name = "kmeans",
          .summary = "k-means from k-means++ starts",
          .example = kExample,
          .make_method = std::make_unique<KMeansMethod>};
}

}  // namespace milieu::cli
