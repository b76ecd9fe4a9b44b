// SPDX-License-Identifier: Apache-2.0
// icc (icc/icc.h) as a run.
#include "milieu/icc/icc.h"

#include "milieu/icc/icc_classifier.h"
#include "milieu/run/methods/context_rows.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/methods/icc_run.h"
#include "milieu/run/predictor_internal.h"

namespace milieu {

namespace {

constexpr const char* kOwnCommands = "milieu icc compare or milieu icc classify";

struct IccGroups {
  std::string groups;
};

template <class Visitor>
void visit_fields(IccGroups& o, Visitor&& v) {
  v("groups", o.groups, anything().deprecated_for(kOwnCommands),
    "group of every sample: cross-validation tests groups together");
}

class IccMethod : public MethodWith<IccRunOptions, IccRunInput> {
 public:
  // Those of the classifier and its evaluation have their own commands.
  std::vector<Field> option_fields() override {
    std::vector<Field> fields = fields_of(options_);
    const size_t num_own = fields_of(options_.classifier.icc).size();
    for (size_t i = num_own; i < fields.size(); ++i) fields[i].rule.deprecated = kOwnCommands;
    return fields;
  }
  std::vector<Field> own_fields() override { return fields_of(groups_file_); }
  std::vector<Preset> presets() override {
    return {{"paper", [this](InputSpec&) { apply_paper_preset(options_.classifier); }}};
  }

  // The set and its context may both be rows of INPUT.
  Input read(InputSpec& spec, Monitor& monitor) override {
    check_context_flags(files());
    Input input = read_rows(spec, num_threads(), "", monitor);
    leave_out_context(spec, files(), input);
    return input;
  }

  void bind(InputBinder& binder) override {
    visit_inputs(input_, binder);
    context_ = binder.samples("context");
    if (groups_file_.groups.empty()) return;
    groups_ = binder.rows().labels(groups_file_.groups).indices;
    input_.groups = groups_;
  }

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    input_.points = input.data.points.view();
    const Team team(ranks(), monitor);
    input_.team = &team;
    if (!context_) {
      input_.classes = input.data.labels.indices;
      input_.class_names = input.data.labels.names;
      return run_icc(input_, options_, team.monitor());
    }
    RunOutcome out = run_icc(input_, options_, team.monitor());  // all of the set is one class
    if (!context_->rows.empty())
      out.columns.push_back(
          whole_column("context_rows", {context_->rows.begin(), context_->rows.end()}));
    out.context = *context_;
    return out;
  }

 private:
  IccGroups groups_file_;
  std::vector<int> groups_;
  const Dataset* context_ = nullptr;
};

// The columns of the axes are those of the samples, or of their embedding.
std::vector<int> predict_icc(const ModelFile& file, FloatView points, int num_threads,
                             const std::string& source) {
  const auto model = from_model_file<IccModel>(file, source);
  internal::check_centers(model.axes.view(), source);
  return predict(model, points, num_threads);
}

constexpr const char* kExample =
    "  milieu icc vowels.npy --labels vowel_names.npy --out run\n"
    "    splits every class into sub-classes that the other classes separate, and leaves "
    "labels,\n"
    "    model, report and a picture of every class in run/. Without --labels: a clustering that\n"
    "    finds its number of clusters. One set, split by what lies between its parts:\n"
    "  milieu icc photos --feature gist --select shoes --context-select bags --out run\n"
    "    Do sub-classes help a classifier, over 20 random splits?\n"
    "  milieu icc compare vowels.npy --labels vowel_names.npy --auto --holdout 0.1 --repeat 20\n";

}  // namespace

MethodEntry icc_method() {
  return {.name = "icc",
          .title = "Intra-class clustering",
          .summary = "sub-classes of every class, separated by the other classes",
          .group = MethodGroup::Context,
          .shares_rows = true,
          .example = kExample,
          .make = std::make_unique<IccMethod>,
          .predictors = {{IccModel::kKind, predict_icc},
                         internal::predictor<&IccClassifierModel::axes>()}};
}

}  // namespace milieu
