// SPDX-License-Identifier: Apache-2.0
// milieu exemplar: exemplar/search/exemplar.h on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "learn_sets.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/learn/learned_distance.h"
#include "milieu/store/run_folder.h"
#include "rows.h"

namespace milieu::cli {

namespace {

struct ExemplarFiles {
  std::string penalties;
  std::string lists;
  std::string model;
};

// What is done with a learned distance.
struct LearnedUse {
  bool classify = false;
};

template <class Visitor>
void visit_fields(LearnedUse& o, Visitor&& v) {
  v("classify", o.classify, anything(),
    "with --model: give each row the class of the nearest training sample instead of clustering");
}

template <class Visitor>
void visit_fields(ExemplarFiles& o, Visitor&& v) {
  v("penalties", o.penalties, anything(),
    "file with the penalty of every row, in place of --penalty");
  v("lists", o.lists, anything(),
    "file of three columns, row of INPUT, row that may serve it, cost: only these pairs count, in "
    "place of a distance");
  v("model", o.model, anything(),
    "run folder of milieu exemplar learn: its distance and penalty, in place of --distance");
}

// A row number in the lists, as a kept row; -1 when --select dropped it.
int64_t kept_row(float value, const std::vector<int64_t>& kept, int64_t num_rows,
                 const std::string& path, int64_t line) {
  if (!(value >= 0 && value < static_cast<float>(num_rows)) || value != std::floor(value))
    throw DataError(fmt::format(
        "{} names row {} in entry {} (counted from 0), must be a whole number from 0 to "
        "{}: the rows of INPUT",
        path, value, line, num_rows - 1));
  return kept.empty() ? static_cast<int64_t>(value) : kept[static_cast<size_t>(value)];
}

std::vector<ServiceEntry> read_lists(const std::string& path, RowFiles& rows) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 3)
    throw DataError(
        fmt::format("{} has {} columns, must have three: row, row that may serve it, cost", path,
                    values.cols()));
  const Dataset& data = rows.data();
  int64_t num_rows = data.points.rows();
  std::vector<int64_t> kept;
  if (!data.rows.empty()) {
    num_rows = rows.num_rows();
    kept.assign(static_cast<size_t>(num_rows), -1);
    for (size_t i = 0; i < data.rows.size(); ++i)
      kept[static_cast<size_t>(data.rows[i])] = static_cast<int64_t>(i);
  }
  std::vector<ServiceEntry> entries;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const int64_t p = kept_row(values(i, 0), kept, num_rows, path, i);
    const int64_t q = kept_row(values(i, 1), kept, num_rows, path, i);
    if (p >= 0 && q >= 0)
      entries.push_back({static_cast<int>(p), static_cast<int>(q), values(i, 2)});
  }
  return entries;
}

class ExemplarMethod : public MethodWith<ExemplarOptions, ExemplarFiles> {
 public:
  std::vector<Field> option_fields() override {
    std::vector<Field> fields = fields_of(options_);
    for (Field& field : fields_of(use_)) fields.push_back(std::move(field));
    return fields;
  }
  std::string model_of_input() const override { return files_.model; }

  std::optional<Dataset> load_own_input(const std::string& path, const LoadOptions& options,
                                        OwnInput&) override {
    if (files_.model.empty()) {
      if (use_.classify) throw UsageError("--classify needs --model: a learned distance");
      return std::nullopt;
    }
    read_model();
    if (learned_.form == "precomputed") return load_cost_matrices(path, options);
    if (is_list_of_files(path)) return load_views(path, options, nullptr);
    return std::nullopt;
  }

  void load_files(RowFiles& rows) override {
    if (!files_.penalties.empty()) penalties_ = rows.weights(files_.penalties);
    if (!files_.lists.empty()) entries_ = read_lists(files_.lists, rows);
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    if (!files_.model.empty()) return fit_learned(data, monitor);
    if (!files_.lists.empty()) return fit_lists(data.points.rows(), monitor);
    ExemplarInput input;
    input.points = data.points.view();
    input.penalties = penalties_;
    return to_method_result(fit_exemplar(input, options_, monitor));
  }

 private:
  MethodResult fit_lists(int64_t n, Monitor& monitor) {
    std::vector<double> penalties = penalties_;
    if (penalties.empty()) {
      std::vector<float> costs;
      for (const ServiceEntry& entry : entries_)
        if (entry.p != entry.q) costs.push_back(entry.cost);
      penalties.assign(static_cast<size_t>(n),
                       penalty_from_text(options_.penalty, std::move(costs)));
    }
    const ServiceLists lists = lists_from_entries(n, std::move(entries_), penalties, {});
    ExemplarInput input;
    input.lists = &lists;
    return to_method_result(fit_exemplar(input, options_, monitor));
  }

  void read_model() {
    const std::string path = resolve_model_path(files_.model);
    learned_ = from_model_file<LearnedDistance>(read_model_file(path), path);
    check_learned_distance(learned_, path);
    if (options_.distance != ExemplarOptions().distance)
      throw UsageError("distance is given, but --model brings its own: leave one of them out");
    if (!files_.penalties.empty() || !files_.lists.empty())
      throw UsageError("--penalties and --lists do not go with --model");
  }

  Dataset load_cost_matrices(const std::string& path, const LoadOptions& options) {
    matrices_ = load_matrices(path, options.num_threads, nullptr);
    return make_dataset(matrices_[0], {}, {}, path, options);
  }

  MethodResult fit_learned(const Dataset& data, Monitor& monitor) {
    if (use_.classify) return classify(data, monitor);
    std::vector<FloatView> views;
    for (const Points& matrix : matrices_) views.push_back(matrix.view());
    MethodResult out = to_method_result(
        learned_.form == "precomputed"
            ? fit_learned_exemplar(learned_, views, options_, monitor)
            : fit_learned_exemplar(learned_, data.points.view(), options_, monitor));
    out.files.push_back({"weights.csv", weights_csv()});
    return out;
  }

  // The learned weights, with the shares that the training wrote beside its model.
  std::string weights_csv() const {
    namespace fs = std::filesystem;
    const fs::path written =
        fs::path(resolve_model_path(files_.model)).parent_path() / "weights.csv";
    if (fs::is_regular_file(written))
      return std::string(MappedFile::open(written.string())->text());
    std::string text = "candidate,weight\n";
    const std::vector<std::string> names = lines_of(learned_.names);
    for (size_t t = 0; t < names.size(); ++t)
      text += fmt::format("{},{}\n", names[t], learned_.weights[t]);
    return text;
  }

  MethodResult classify(const Dataset& data, Monitor& monitor) {
    const Stopwatch watch;
    MethodResult out;
    out.labels = classify_learned(learned_, data.points.view(), options_.num_threads, monitor);
    const std::vector<std::string> names = lines_of(learned_.class_names);
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
    if (!data.labels.empty()) s.extra.emplace_back("class_accuracy", accuracy(data.labels, out));
    std::string csv = "class,name\n";
    for (size_t c = 0; c < names.size(); ++c) csv += fmt::format("{},{}\n", c, names[c]);
    out.files.push_back({"classes.csv", csv});
    s.seconds = watch.seconds();
    return out;
  }

  // Share of rows whose class, by name, is the true one.
  double accuracy(const Labels& truth, const MethodResult& out) const {
    const std::vector<std::string> names = lines_of(learned_.class_names);
    int64_t right = 0, known = 0;
    for (size_t i = 0; i < truth.indices.size(); ++i) {
      if (truth.indices[i] < 0) continue;
      ++known;
      right += truth.names[static_cast<size_t>(truth.indices[i])] ==
               names[static_cast<size_t>(out.labels[i])];
    }
    return known > 0 ? static_cast<double>(right) / static_cast<double>(known) : 0.0;
  }

  LearnedUse use_;
  LearnedDistance learned_;
  std::vector<Points> matrices_;  // of a distance learned from matrices
  std::vector<double> penalties_;
  std::vector<ServiceEntry> entries_;
};

constexpr std::string_view kExample =
    "  milieu exemplar faces.npy --penalty 25 --out run\n"
    "    chooses the rows that represent the rest, as many as pay for 25 each, and says by how\n"
    "    much another choice could be better at most. A wished number, or a matrix of costs:\n"
    "  milieu exemplar faces.npy -k 12 --distance l1\n"
    "  milieu exemplar costs.npy --distance precomputed --penalty median\n"
    "    A few candidates for each row (columns: row, row that may serve it, cost):\n"
    "  milieu exemplar faces.npy --lists pairs.csv --penalty 25\n"
    "    With a distance learned from example clusterings (milieu help exemplar learn):\n"
    "  milieu exemplar learn old.npy:groups.npy --out distance\n"
    "  milieu exemplar faces.npy --model distance\n";

}  // namespace

Command exemplar_command() {
  return {.name = "exemplar",
          .summary = "samples that represent the rest, with a certified bound",
          .example = kExample,
          .make_method = std::make_unique<ExemplarMethod>,
          .subcommands = {exemplar_learn_command()}};
}

}  // namespace milieu::cli
