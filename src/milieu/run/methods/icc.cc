// SPDX-License-Identifier: Apache-2.0
// milieu icc: icc/icc.h on the command line, with the comparison tables of icc/icc_compare.h.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "icc_run.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/dataset.h"

namespace milieu::cli {

namespace {

struct IccFiles {
  std::string coordinates;
  std::string axes;
  std::string groups;
};

template <class Visitor>
void visit_fields(IccFiles& o, Visitor&& v) {
  v("coordinates", o.coordinates, anything(),
    "file with the place of every row in the space of the densities, in place of --projection");
  v("axes", o.axes, anything(),
    "file with the rows of a linear projection, in place of --projection");
  v("groups", o.groups, anything(),
    "file with the group of every row: --cv, --holdout and --auto test groups together");
}

class IccMethod : public MethodWith<IccRunOptions, IccFiles> {
 public:
  std::vector<Preset> presets() override {
    return {{"paper", [this] { apply_paper_preset(options_.classifier); }}};
  }

  void load_files(RowFiles& rows) override {
    if (!files_.coordinates.empty()) coordinates_ = load_dataset(files_.coordinates).points;
    if (!files_.axes.empty()) axes_ = load_dataset(files_.axes).points;
    if (!files_.groups.empty()) groups_ = rows.labels(files_.groups).indices;
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    IccRunInput input;
    input.points = data.points.view();
    input.classes = data.labels.indices;
    input.class_names = data.labels.names;
    input.groups = groups_;
    input.coordinates = coordinates_.view();
    input.axes = axes_.view();
    return run_icc(input, options_, monitor);
  }

 private:
  Points coordinates_;
  Points axes_;
  std::vector<int> groups_;
};

constexpr std::string_view kExample =
    "  milieu icc vowels.npy --labels vowel_names.npy --out run\n"
    "    splits every class into sub-classes that the other classes keep apart, and leaves "
    "labels,\n"
    "    model, report and a picture of every class in run/. Without --labels: a clustering that\n"
    "    finds its number of clusters. Do sub-classes help a classifier, over 20 random splits?\n"
    "  milieu icc vowels.npy --labels vowel_names.npy --auto --holdout 0.1 --repeat 20\n";

}  // namespace

Command icc_command() {
  return {.name = "icc",
          .summary = "sub-classes of every class, kept apart by the others",
          .example = kExample,
          .make_method = std::make_unique<IccMethod>,
          .subcommands = {icc_classify_command()}};
}

}  // namespace milieu::cli
