// SPDX-License-Identifier: Apache-2.0
// exemplar (exemplar/search/exemplar.h) as a run: with a given distance, or with a learned one.
#include "milieu/exemplar/search/exemplar.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"
#include "milieu/exemplar/learn/learned_distance.h"
#include "milieu/input/training_sets.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/predictor_internal.h"
#include "milieu/store/labels_csv.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace {

// What is done with a learned distance.
struct LearnedUse {
  bool classify = false;
};

template <class Visitor>
void visit_fields(LearnedUse& o, Visitor&& v) {
  v("classify", o.classify, anything(),
    "with --model: give each row the class of the nearest training sample instead of clustering; "
    "with matrices, one row per new sample and one column per training sample");
}

struct LearnedFile {
  std::string model;
};

template <class Visitor>
void visit_fields(LearnedFile& o, Visitor&& v) {
  v("model", o.model, anything(),
    "run folder of milieu exemplar learn: its distance and penalty, in place of --distance");
}

class ExemplarMethod : public MethodWith<ExemplarOptions, ExemplarInput> {
 public:
  std::vector<Field> option_fields() override {
    std::vector<Field> fields = fields_of(options_);
    for (Field& field : fields_of(use_)) fields.push_back(std::move(field));
    return fields;
  }
  std::vector<Field> own_fields() override { return fields_of(learned_file_); }

  Input read(InputSpec& spec, Monitor& monitor) override {
    if (learned_file_.model.empty()) {
      if (use_.classify) throw InvalidArgument("--classify needs --model: a learned distance");
      return read_rows(spec, num_threads(), "", monitor);
    }
    read_model();
    const LoadOptions load = load_options_of(spec, num_threads());
    Input input;
    if (learned_.form == "precomputed") {
      input.matrices = load_matrices(spec.path, num_threads(), nullptr, matrix_kind());
      input.data = make_dataset(input.matrices[0], {}, {}, spec.path, load);
      return input;
    }
    if (!is_list_of_files(spec.path))
      return read_rows(spec, num_threads(), learned_file_.model, monitor);
    input.data = load_views(files_of(spec.path), load).data;
    input.data.source = spec.path;
    return input;
  }

  void bind(InputBinder& binder) override {
    visit_inputs(input_, binder);
    binder_ = &binder;
  }

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    if (!learned_file_.model.empty()) return fit_learned(input, monitor);
    if (files().has("lists")) return fit_lists(input.data.points.rows(), monitor);
    input_.points = input.data.points.view();
    return to_outcome(fit_exemplar(input_, options_, monitor));
  }

 private:
  RunOutcome fit_lists(int64_t n, Monitor& monitor) {
    const ServiceLists lists = lists_with_penalty(n, std::move(binder_->service_entries()),
                                                  input_.penalties, options_.penalty);
    ExemplarInput input;
    input.lists = &lists;
    return to_outcome(fit_exemplar(input, options_, monitor));
  }

  void read_model() {
    const std::string path = resolve_model_path(learned_file_.model);
    learned_ = from_model_file<LearnedDistance>(read_model_file(path), path);
    check_learned_distance(learned_, path);
    if (options_.distance != ExemplarOptions().distance)
      throw InvalidArgument("distance is given, but --model brings its own: leave one of them out");
    if (files().has("lists")) throw InvalidArgument("--lists cannot be combined with --model");
  }

  MatrixKind matrix_kind() const {
    if (learned_.matrix_kind != "kernel")
      return use_.classify ? MatrixKind::Cross : MatrixKind::Distances;
    if (use_.classify)
      throw InvalidArgument(
          "--classify needs distances to the training samples, the distance was learned from "
          "kernels: learn it from distances (--distance precomputed)");
    return MatrixKind::Kernels;
  }

  RunOutcome fit_learned(const Input& input, Monitor& monitor) {
    std::vector<FloatView> views;
    for (const Points& matrix : input.matrices) views.push_back(matrix.view());
    if (use_.classify) return classify(input.data, views, monitor);
    const ExemplarCosts costs{input_.exemplar_features, input_.penalties};
    RunOutcome out = to_outcome(
        learned_.form == "precomputed"
            ? fit_learned_exemplar(learned_, views, options_, monitor, costs)
            : fit_learned_exemplar(learned_, input.data.points.view(), options_, monitor, costs));
    out.files.push_back({"weights.csv", weights_csv()});
    return out;
  }

  // The learned weights, with the shares that the training wrote beside its model.
  std::string weights_csv() const {
    const std::string folder =
        std::filesystem::path(resolve_model_path(learned_file_.model)).parent_path().string();
    if (const auto written = try_read_text_file((folder.empty() ? "." : folder) + "/weights.csv"))
      return *written;
    CsvWriter table;
    table.row("candidate", "weight");
    const std::vector<std::string> names = packed_names(learned_.names);
    for (size_t t = 0; t < names.size(); ++t) table.row(names[t], learned_.weights[t]);
    return table.text();
  }

  // With `matrices`, distances to the training samples.
  RunOutcome classify(const Dataset& data, const std::vector<FloatView>& matrices,
                      Monitor& monitor) {
    const Stopwatch watch;
    RunOutcome out;
    out.labels = matrices.empty()
                     ? classify_learned(learned_, data.points.view(), options_.num_threads, monitor)
                     : classify_learned(learned_, matrices);
    const std::vector<std::string> names = packed_names(learned_.class_names);
    RunSummary& s = out.summary;
    s.method = "exemplar";
    s.version = version();
    s.seed = options_.seed;
    s.n = data.points.rows();
    s.d = data.points.cols();
    s.termination =
        monitor.should_stop() ? termination_from(monitor.stop_reason()) : Termination::Converged;
    set_sizes(s, out.labels, static_cast<int>(names.size()));
    s.extra.emplace_back("classes", names);
    if (!data.labels.empty())
      s.extra.emplace_back("class_accuracy", accuracy(data.labels, out.labels));
    out.files.push_back({"classes.csv", classes_csv_text(names)});
    s.seconds = watch.seconds();
    return out;
  }

  // Fraction of rows whose class, by name, is the true one.
  double accuracy(const Labels& truth, const std::vector<int>& labels) const {
    const std::vector<std::string> names = packed_names(learned_.class_names);
    int64_t right = 0, known = 0;
    for (size_t i = 0; i < truth.indices.size(); ++i) {
      if (truth.indices[i] < 0) continue;
      ++known;
      right += truth.names[static_cast<size_t>(truth.indices[i])] ==
               names[static_cast<size_t>(labels[i])];
    }
    return known > 0 ? static_cast<double>(right) / static_cast<double>(known) : 0.0;
  }

  LearnedUse use_;
  LearnedFile learned_file_;
  LearnedDistance learned_;
  InputBinder* binder_ = nullptr;
};

// The class of the nearest training sample.
std::vector<int> predict_learned(const ModelFile& file, FloatView points, int num_threads,
                                 const std::string& source) {
  const LearnedDistance model = from_model_file<LearnedDistance>(file, source);
  check_learned_distance(model, source);
  return classify_learned(model, points, num_threads);
}

constexpr const char* kExample =
    "  milieu exemplar faces.npy --penalty 25 --out run\n"
    "    chooses the rows that represent the rest, each at a cost of 25, and bounds how much\n"
    "    better another choice could be. A given number, or a matrix of costs:\n"
    "  milieu exemplar faces.npy -k 12 --distance l1\n"
    "  milieu exemplar costs.npy --distance precomputed --penalty median\n"
    "    A few candidates per row (columns: row, row that may represent it, cost):\n"
    "  milieu exemplar faces.npy --lists pairs.csv --penalty 25\n"
    "    With a distance learned from example clusterings (milieu help exemplar learn):\n"
    "  milieu exemplar learn old.npy:groups.npy --out distance\n"
    "  milieu exemplar faces.npy --model distance\n";

}  // namespace

MethodEntry exemplar_method() {
  return {.name = "exemplar",
          .title = "Exemplar clustering",
          .summary = "samples that represent the rest, with a certified bound",
          .group = MethodGroup::Context,
          .shared_files = {"model"},
          .example = kExample,
          .make = std::make_unique<ExemplarMethod>,
          .predictors = {internal::predictor<&ExemplarModel::exemplars>(),
                         {LearnedDistance::kKind, predict_learned}}};
}

}  // namespace milieu
