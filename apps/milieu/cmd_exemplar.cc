// SPDX-License-Identifier: Apache-2.0
// milieu exemplar: exemplar/exemplar.h on the command line.
#include <memory>

#include "commands.h"
#include "method.h"
#include "milieu/exemplar/exemplar.h"
#include "rows.h"

namespace milieu::cli {

namespace {

struct ExemplarFiles {
  std::string penalties;
};

template <class Visitor>
void visit_fields(ExemplarFiles& o, Visitor&& v) {
  v("penalties", o.penalties, anything(),
    "file with the penalty of every row, in place of --penalty");
}

class ExemplarMethod : public MethodWith<ExemplarOptions, ExemplarFiles> {
 public:
  void load_files(RowFiles& rows) override {
    if (!files_.penalties.empty()) penalties_ = rows.weights(files_.penalties);
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    ExemplarInput input;
    input.points = data.points.view();
    input.penalties = penalties_;
    return to_method_result(fit_exemplar(input, options_, monitor));
  }

 private:
  std::vector<double> penalties_;
};

constexpr std::string_view kExample =
    "  milieu exemplar faces.npy --penalty 25 --out run\n"
    "    chooses the rows that represent the rest, as many as pay for 25 each, and says by how\n"
    "    much another choice could be better at most. A wished number, or a matrix of costs:\n"
    "  milieu exemplar faces.npy -k 12 --distance l1\n"
    "  milieu exemplar costs.npy --distance precomputed --penalty median\n";

}  // namespace

Command exemplar_command() {
  return {.name = "exemplar",
          .summary = "samples that represent the rest, with a certified bound",
          .example = kExample,
          .make_method = std::make_unique<ExemplarMethod>};
}

}  // namespace milieu::cli
