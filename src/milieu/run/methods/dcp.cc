// SPDX-License-Identifier: Apache-2.0
// milieu dcp: dcp/dcp.h on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "dcp_contexts.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/dcp/dcp.h"
#include "milieu/render/decision_card.h"
#include "milieu/store/json.h"

namespace milieu::cli {

namespace {

struct DcpCommandOptions : DcpOptions {
  bool rank_contexts = false;
};

template <class Visitor>
void visit_fields(DcpCommandOptions& o, Visitor&& v) {
  visit_fields(static_cast<DcpOptions&>(o), v);
  v("rank_contexts", o.rank_contexts, anything(),
    "try every other class (or every file of the folder --context) as context and rank them");
}

struct DcpFiles {
  std::string context, context_select, context_rows, weights, context_weights, initial_labels,
      memberships, must_link, cannot_link, resume;
};

template <class Visitor>
void visit_fields(DcpFiles& o, Visitor&& v) {
  v("context", o.context, anything(), "file with the samples that the parts are told apart from");
  v("context_select", o.context_select, anything(),
    "take these classes of INPUT as context, such as 7");
  v("context_rows", o.context_rows, anything(),
    "take the rows of INPUT with the numbers in this file as context");
  v("weights", o.weights, anything(), "file with the weight of every row");
  v("context_weights", o.context_weights, anything(),
    "file with the weight of every row of --context");
  v("initial_labels", o.initial_labels, anything(),
    "file with a first split, a part for every row: a single start from it");
  v("memberships", o.memberships, anything(),
    "file with the part that a row must be in, or -1, for every row");
  v("must_link", o.must_link, anything(), "file with two columns: rows that share a part");
  v("cannot_link", o.cannot_link, anything(), "file with two columns: rows that do not");
  v("resume", o.resume, anything(),
    "file that keeps the finished contexts of --rank-contexts: a stopped ranking goes on from it");
}

// Parts by number, from a file of classes.
std::vector<int> load_parts(RowFiles& rows, const std::string& path) {
  const Labels labels = rows.labels(path);
  std::vector<int> parts;
  for (const int index : labels.indices) {
    int part = -1;
    if (index >= 0) {
      const std::string& name = labels.names[index];
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), part);
      if (error != std::errc() || end != name.data() + name.size())
        throw DataError(fmt::format("{}: '{}' is not the number of a part", path, name));
    }
    parts.push_back(part);
  }
  return parts;
}

// Pairs of rows of INPUT as it stands, as pairs of kept rows.
std::vector<DcpLink> load_links(const RowFiles& rows, const std::string& path) {
  const Dataset file = load_dataset(path);
  const FloatView pairs = file.points.view();
  if (pairs.cols() != 2)
    throw DataError(
        fmt::format("{} has {} columns, must have 2: the rows of a pair", path, pairs.cols()));
  const std::vector<int64_t>& kept = rows.data().rows;
  const auto place = [&](float value) {
    const auto row = static_cast<int64_t>(value);
    const auto found = std::lower_bound(kept.begin(), kept.end(), row);
    const int64_t at = kept.empty() ? row : found - kept.begin();
    if (static_cast<float>(row) != value || at < 0 || at >= rows.data().points.rows() ||
        (!kept.empty() && *found != row))
      throw DataError(fmt::format("{} names row {}, which is not a row that is kept", path, value));
    return at;
  };
  std::vector<DcpLink> links;
  for (int64_t i = 0; i < pairs.rows(); ++i)
    links.emplace_back(place(pairs(i, 0)), place(pairs(i, 1)));
  return links;
}

// Columns `first`, then `second`, of each row.
Matrix<float> gather_columns(FloatView points, const std::vector<int64_t>& first,
                             const std::vector<int64_t>& second) {
  Matrix<float> out(points.rows(), static_cast<int64_t>(first.size() + second.size()));
  for (int64_t i = 0; i < points.rows(); ++i) {
    int64_t at = 0;
    for (const int64_t j : first) out(i, at++) = points(i, j);
    for (const int64_t j : second) out(i, at++) = points(i, j);
  }
  return out;
}

// sample, label, margin and the decision values.
std::string decisions_csv(const Dataset& data, const DcpResult& result) {
  std::string text = "sample,label,margin";
  for (int64_t k = 0; k < result.decisions.cols(); ++k) text += fmt::format(",part_{}", k);
  text += "\n";
  for (size_t i = 0; i < result.labels.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    text += fmt::format("{},{},{}", data.rows.empty() ? row : data.rows[i], result.labels[i],
                        result.margins[i]);
    for (int64_t k = 0; k < result.decisions.cols(); ++k)
      text += fmt::format(",{}", result.decisions(row, k));
    text += "\n";
  }
  return text;
}

// The report's cards of the parts against the context.
std::string decision_cards(const DcpResult& result, FloatView context) {
  const Matrix<double> values = decision_values(result.model, context);
  Matrix<float> rounded(values.rows(), values.cols());
  for (int64_t i = 0; i < values.size(); ++i)
    rounded.data()[i] = static_cast<float>(values.data()[i]);
  return render_decision_cards({result.decisions, result.labels, rounded});
}

class DcpMethod : public MethodWith<DcpCommandOptions, DcpFiles> {
 public:
  std::vector<Preset> presets() override {
    return {{"paper", [this] {
               // [Lampert08, section 5]: hinge, C = 100, 20 random starts, gradient descent.
               options_.loss = DcpLoss::Hinge;
               options_.cost = 100;
               options_.center = false;
               options_.scale = false;
               options_.bias = 1;
               options_.kernel = DcpKernel::Linear;
               options_.search.optimizer = DcpOptimizer::Lbfgs;
               options_.init = DcpInit::Random;
               options_.search.cost_path = false;
               options_.num_restarts = 20;
               options_.search.num_crossings = 0;
               options_.min_part = 0;
             }}};
  }

  void load_files(RowFiles& rows) override {
    load_context(rows);
    if (!files_.weights.empty()) weights_ = rows.weights(files_.weights);
    if (!files_.context_weights.empty()) context_weights_ = load_column(files_.context_weights);
    if (!files_.initial_labels.empty()) initial_labels_ = load_parts(rows, files_.initial_labels);
    if (!files_.memberships.empty()) memberships_ = load_parts(rows, files_.memberships);
    if (!files_.must_link.empty()) must_links_ = load_links(rows, files_.must_link);
    if (!files_.cannot_link.empty()) cannot_links_ = load_links(rows, files_.cannot_link);
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    if (!options_.rank_contexts && context_.points.rows() == 0)
      throw InvalidArgument(
          "the context is missing: name a file by --context, or classes of INPUT by "
          "--context-select");
    return options_.rank_contexts ? rank(data, monitor)
                                  : split(data, context_.points.view(), monitor);
  }

 private:
  void load_context(RowFiles& rows) {
    const std::string &file = files_.context, &classes = files_.context_select;
    const std::string& numbers = files_.context_rows;
    if (!file.empty() + !classes.empty() + !numbers.empty() > 1)
      throw InvalidArgument(
          "of context, context_select and context_rows several are given: name one of them");
    if (!numbers.empty() && !options_.rank_contexts) {
      context_ = rows.numbered(numbers);
      return;
    }
    if (options_.rank_contexts) {
      candidates_ = file.empty() ? candidates_from_classes(rows, classes)
                                 : candidates_from_folder(file, rows.load_options());
      return;
    }
    if (file.empty() && classes.empty()) return;  // refused by fit, when all files are known
    if (!file.empty()) {
      if (std::filesystem::is_directory(file))
        throw InvalidArgument(fmt::format(
            "context is the folder {}: name a file, or rank its files by --rank-contexts", file));
      context_ = load_dataset(file);
      return;
    }
    if (rows.load_options().select.empty() && rows.load_options().rows.empty())
      throw InvalidArgument(fmt::format(
          "context_select is '{}', but select is missing: name the classes to split", classes));
    context_ = rows.select(classes);
  }

  static std::vector<double> load_column(const std::string& path) {
    const Dataset file = load_dataset(path);
    const FloatView column = file.points.view();
    if (column.cols() != 1 && column.rows() != 1)
      throw DataError(fmt::format("{} has {} columns, must have 1", path, column.cols()));
    std::vector<double> values;
    for (int64_t i = 0; i < column.rows(); ++i)
      for (const float value : column.row_span(i)) values.push_back(value);
    return values;
  }

  MethodResult split(const Dataset& data, FloatView context, Monitor& monitor) {
    DcpInput input;
    input.points = data.points.view();
    input.context = context;
    Matrix<float> points_kernel, context_kernel;
    if (options_.kernel == DcpKernel::Precomputed && !data.rows.empty() && !context_.rows.empty()) {
      points_kernel = gather_columns(input.points, data.rows, context_.rows);
      context_kernel = gather_columns(context, data.rows, context_.rows);
      input.points = points_kernel;
      input.context = context_kernel;
    }
    input.weights = weights_;
    input.context_weights = context_weights_;
    input.initial_labels = initial_labels_;
    input.memberships = memberships_;
    input.must_links = must_links_;
    input.cannot_links = cannot_links_;
    return to_result(data, input.context, fit_dcp(input, options_, monitor));
  }

  MethodResult to_result(const Dataset& data, FloatView context, DcpResult result) {
    const std::string decisions = decisions_csv(data, result);
    const std::vector<float> margins = result.margins;
    const std::string cards = decision_cards(result, context);
    MethodResult out = to_method_result(std::move(result));
    out.files.push_back({"decisions.csv", decisions});
    out.margins = margins;
    out.cards = cards;
    return out;
  }

  // What a kept ranking depends on.
  std::string ranking_key(const Dataset& data) {
    std::vector<Field> fields = fields_of(static_cast<DcpOptions&>(options_));
    std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
    return fmt::format("{} {} {} {}", data.source, data.points.rows(), data.points.cols(),
                       options_to_json(fields));
  }

  MethodResult rank(const Dataset& data, Monitor& monitor) {
    if (!memberships_.empty() || !must_links_.empty() || !cannot_links_.empty())
      throw InvalidArgument("rank_contexts takes no constraints but sizes: leave the others out");
    std::unique_ptr<RankingState> state;
    DcpRankHooks hooks;
    if (!files_.resume.empty()) {
      state = std::make_unique<RankingState>(files_.resume, ranking_key(data));
      hooks.find_known = [&](const std::string& name) { return state->find(name); };
      hooks.on_split = [&](const DcpContextSplit& split) { state->add(split); };
    }
    DcpRanking ranking =
        rank_contexts(data.points.view(), candidates_.views(), options_, monitor, hooks);
    // The result is the split of the best context; a stopped ranking takes the first in any case.
    size_t best = 0;
    for (size_t i = 0; i < candidates_.names.size(); ++i)
      if (!ranking.contexts.empty() && candidates_.names[i] == ranking.contexts[0].split.name)
        best = i;
    const FloatView context = candidates_.data[best].points.view();
    const bool is_known = ranking.first_result && weights_.empty() && context_weights_.empty() &&
                          initial_labels_.empty();
    MethodResult out = is_known ? to_result(data, context, std::move(*ranking.first_result))
                                : split(data, context, monitor);
    if (is_known && ranking.termination != Termination::Converged) {
      out.summary.termination = ranking.termination;
      out.summary.message = "stopped early: the split is that of the best context so far";
    }
    out.summary.extra.emplace_back("context", candidates_.names[best]);
    add_ranking(ranking, candidates_.names.size(), out.summary);
    out.text = ranking_text(ranking);
    out.files.push_back({"contexts.csv", ranking_csv(ranking)});
    return out;
  }

  Dataset context_;
  ContextCandidates candidates_;
  std::vector<double> weights_, context_weights_;
  std::vector<int> initial_labels_, memberships_;
  std::vector<DcpLink> must_links_, cannot_links_;
};

constexpr std::string_view kExample =
    "  milieu dcp digits.npy --labels digits_labels.npy --select 6,0 --context-select 7 -k 2\n"
    "    splits the sixes and noughts into the two parts that are best told apart from the "
    "sevens.\n"
    "    Which other digit would make the split that most of them agree on:\n"
    "  milieu dcp digits.npy --labels digits_labels.npy --select 6,0 --rank-contexts --out run\n";

}  // namespace

Command dcp_command() {
  return {.name = "dcp",
          .summary = "parts that are each told apart from a context set",
          .example = kExample,
          .make_method = std::make_unique<DcpMethod>};
}

}  // namespace milieu::cli
