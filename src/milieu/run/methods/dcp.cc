// SPDX-License-Identifier: Apache-2.0
// dcp (dcp/dcp.h) as a run: the context, or a ranking of contexts, around the fit.
#include "milieu/dcp/dcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/selection.h"
#include "milieu/linalg/isa.h"
#include "milieu/run/methods/context_rows.h"
#include "milieu/run/methods/dcp_contexts.h"
#include "milieu/run/methods/dcp_kernel_rows.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/methods/kept_file.h"
#include "milieu/run/predictor_internal.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

struct DcpRunOptions : DcpOptions {
  bool rank_contexts = false;
  bool vote = false;
};

template <class Visitor>
void visit_fields(DcpRunOptions& o, Visitor&& v) {
  visit_fields(static_cast<DcpOptions&>(o), v);
  v("rank_contexts", o.rank_contexts, anything(),
    "try every other class (or every file of the folder --context) as context and rank them");
  v("vote", o.vote, anything(),
    "with --rank-contexts: label each sample by the part that most contexts put it into");
}

// Where the finished contexts of a ranking are kept.
struct RankingFile {
  std::string resume;
};

template <class Visitor>
void visit_fields(RankingFile& o, Visitor&& v) {
  v("resume", o.resume, anything(),
    "file that keeps the finished contexts of --rank-contexts: a stopped ranking resumes from it");
}

// sample, label, margin and the decision values; samples are called as in labels.csv.
std::string decisions_csv(const Dataset& data, const DcpResult& result) {
  CsvWriter table;
  table.cell("sample").cell("label").cell("margin");
  for (int64_t k = 0; k < result.decisions.cols(); ++k) table.cell(fmt::format("part_{}", k));
  table.end_row();
  for (size_t i = 0; i < result.labels.size(); ++i) {
    sample_cell(data, i, table);
    table.cell(result.labels[i]).cell(result.margins[i]);
    for (const float value : result.decisions.view().row_span(static_cast<int64_t>(i)))
      table.cell(value);
    table.end_row();
  }
  return table.text();
}

// What margin_dcp_options() sets, and nothing else.
void apply_margin_preset(DcpOptions& options) {
  const DcpOptions margin = margin_dcp_options();
  options.cost = margin.cost;
  options.cost_per = margin.cost_per;
  options.bias = margin.bias;
  options.whiten = margin.whiten;
  options.search.num_crossings = margin.search.num_crossings;
  options.num_restarts = margin.num_restarts;
  options.min_share = margin.min_share;
}

// [Lampert08, section 5]: hinge, C = 100, 20 random restarts, gradient descent.
void apply_paper_preset(DcpOptions& options) {
  apply_margin_preset(options);
  options.loss = DcpLoss::Hinge;
  options.center = false;
  options.scale = false;
  options.kernel = DcpKernel::Linear;
  options.search.optimizer = DcpOptimizer::Lbfgs;
  options.init = DcpInit::Random;
  options.search.cost_path = false;
  options.search.num_crossings = 0;
  options.min_part = 0;
}

class DcpMethod : public MethodWith<DcpRunOptions, DcpInput> {
 public:
  std::vector<Field> own_fields() override { return fields_of(ranking_); }
  std::vector<Preset> presets() override {
    return {{"margin", [this](InputSpec&) { apply_margin_preset(options_); }},
            {"paper", [this](InputSpec&) { apply_paper_preset(options_); }}};
  }

  // INPUT is read once: the set, the context and the candidates of a ranking are rows of it.
  Input read(InputSpec& spec, Monitor& monitor) override {
    select_ = spec.select;
    Input input = read_rows(spec, num_threads(), "", monitor);
    if (!spec.rows.empty()) rows_ = load_row_numbers(spec.rows);
    check_context_flags(files());
    if (!options_.rank_contexts) leave_out_context(spec, files(), input);
    return input;
  }

  void bind(InputBinder& binder) override {
    if (options_.rank_contexts) binder.skip("context");
    visit_inputs(input_, binder);
    binder_ = &binder;
  }

  RunOutcome fit(const Input& input, Monitor& monitor) override {
    input_.points = input.data.points.view();
    if (options_.rank_contexts && ranks().size() > 1)
      throw InvalidArgument("rank_contexts is divided by --shard, not by mpirun: leave it out");
    if (options_.rank_contexts) return rank(input, monitor);
    if (options_.vote)
      throw InvalidArgument("vote is true, but there is one context only: add --rank-contexts");
    const Dataset* context = binder_->samples("context");
    if (!context)
      throw InvalidArgument(
          "the context is missing: give a file with --context, or classes of INPUT with "
          "--context-select");
    return split(input, *context, monitor);
  }

  bool has_shards() const override { return true; }

  ShardProgress fit_shard(const Input& input, const Shard& shard, const std::string& file,
                          Monitor& monitor) override {
    check_shards();
    input_.points = input.data.points.view();
    const Candidates found = find_candidates(input, shard);
    KnownSplits known;
    RankingState state(file, found.key, found.shape, known);
    state.open();
    DcpRankHooks hooks;
    hooks.find_known = finder(known);
    hooks.on_split = [&](const DcpContextSplit& split) { state.keep(split); };
    const auto count = std::ssize(found.views);
    const auto own =
        std::span(found.views).subspan(shard.begin(count), shard.end(count) - shard.begin(count));
    ShardProgress progress{0, std::ssize(own), "context"};
    for (const DcpContextSplit& split : split_by_contexts(input_, own, options_, monitor, hooks))
      progress.done += !split.labels.empty();
    return progress;
  }

  RunOutcome merge_shards(const Input& input, const std::vector<std::string>& files,
                          Monitor& monitor) override {
    check_shards();
    input_.points = input.data.points.view();
    const Candidates found = find_candidates(input, {});
    const auto count = std::ssize(found.views);
    KnownSplits known;
    std::vector<std::string> incomplete;
    for (size_t i = 0; i < files.size(); ++i) {
      const Shard shard{static_cast<int>(i) + 1, static_cast<int>(files.size())};
      const RankingState state(files[i], found.key, found.shape, known);
      for (int64_t c = shard.begin(count); c < shard.end(count); ++c)
        if (!known.contains(found.views[static_cast<size_t>(c)].name)) {
          incomplete.push_back(shard.text());
          break;
        }
    }
    check_complete(incomplete, fs::path(files[0]).parent_path().string());
    return rank_candidates(input, found, known, nullptr, monitor);
  }

 private:
  void check_shards() const {
    if (!options_.rank_contexts)
      throw InvalidArgument(
          "shards divide a ranking of contexts, and rank_contexts is false: add --rank-contexts");
    if (!ranking_.resume.empty())
      throw InvalidArgument(
          "give only one of resume and shards: a shard keeps its own finished contexts");
  }

  RunOutcome split(const Input& given, const Dataset& context, Monitor& monitor) {
    const Team team(ranks(), monitor);
    DcpInput input = input_;
    input.team = &team;
    input.context = context.points.view();
    KernelRows kernel;
    if (options_.kernel == DcpKernel::Precomputed && !given.data.rows.empty() &&
        !context.rows.empty()) {
      kernel = kernel_rows(given, context);
      input.points = kernel.points;
      input.context = kernel.context;
    }
    return finish(given.data, context, input.context, fit_dcp(input, options_, team.monitor()));
  }

  // `seen` is the context as the fit saw it.
  RunOutcome finish(const Dataset& data, const Dataset& context, FloatView seen, DcpResult result) {
    const std::string decisions = decisions_csv(data, result);
    const Matrix<double> context_values = decision_values(result.model, seen);
    Column own = real_column("decisions", result.decisions.view());
    RunOutcome out = to_outcome(std::move(result));
    out.columns.push_back(std::move(own));
    out.columns.push_back(real_column("context_decisions", context_values.view()));
    if (!context.rows.empty())
      out.columns.push_back(
          whole_column("context_rows", {context.rows.begin(), context.rows.end()}));
    out.files.push_back({"decisions.csv", decisions});
    out.context = context;
    return out;
  }

  // What a kept ranking depends on: the samples and candidates themselves, not their names alone.
  std::string ranking_key(const Dataset& data, const ContextCandidates& contexts) {
    Fingerprint print("dcp-ranking");
    print.version()
        .text(to_string(active_isa()))
        .options(fields_of(static_cast<DcpOptions&>(options_)));
    print.rows(data.points.view(), num_threads());
    for (size_t c = 0; c < contexts.names.size(); ++c)
      print.text(contexts.names[c]).rows(contexts.data[c].points.view(), num_threads());
    print.values(input_.weights).values(input_.memberships);
    for (const auto& links : {input_.must_links, input_.cannot_links}) {
      print.number(std::ssize(links));
      for (const auto& [first, second] : links) print.number(first).number(second);
    }
    return print.hex();
  }

  ContextCandidates candidates(const Input& input) {
    if (files().has("context_rows"))
      throw InvalidArgument("rank_contexts ranks classes or files, --context-rows names rows");
    if (files().has("context")) return candidates_from_folder(files()["context"], num_threads());
    return candidates_from_classes(input, {select_, rows_}, files()["context_select"]);
  }

  // What is ranked; with the precomputed kernel, the contexts [begin, end) have their rows of it.
  struct Candidates {
    ContextCandidates contexts;
    std::vector<KernelRows> kernels;
    std::vector<DcpContext> views;
    RankingShape shape;
    std::string key;
  };

  Candidates find_candidates(const Input& input, const Shard& shard) {
    Candidates found;
    found.contexts = candidates(input);
    found.views = found.contexts.views();
    const std::vector<Dataset>& data = found.contexts.data;
    const auto count = std::ssize(data);
    const int64_t begin = shard.begin(count);
    if (options_.kernel == DcpKernel::Precomputed)
      for (int64_t c = begin; c < shard.end(count); ++c)
        found.kernels.push_back(kernel_rows(input, data[static_cast<size_t>(c)]));
    for (size_t k = 0; k < found.kernels.size(); ++k) {
      found.views[begin + k].points = found.kernels[k].context;
      found.views[begin + k].samples = found.kernels[k].points;
    }
    found.shape = {input_.points.rows(), options_.num_clusters};
    found.key = ranking_key(input.data, found.contexts);
    return found;
  }

  RunOutcome rank(const Input& input, Monitor& monitor) {
    const Candidates found = find_candidates(input, {});
    KnownSplits known;
    std::unique_ptr<RankingState> state;
    if (!ranking_.resume.empty())
      state = std::make_unique<RankingState>(ranking_.resume, found.key, found.shape, known);
    return rank_candidates(input, found, known, state.get(), monitor);
  }

  // Splits that are made now go into `state`, unless it is null.
  RunOutcome rank_candidates(const Input& input, const Candidates& found, const KnownSplits& known,
                             RankingState* state, Monitor& monitor) {
    KeptFile kept(monitor);
    DcpRankHooks hooks;
    hooks.find_known = finder(known);
    if (state != nullptr)
      hooks.on_split = [&](const DcpContextSplit& split) {
        kept.save([&] { state->keep(split); });
      };
    DcpRanking ranking = rank_contexts(input_, found.views, options_, monitor, hooks);
    RunOutcome out = first_split(input, found, ranking, monitor);
    add_ranking(ranking, found.contexts.names.size(), out.summary);
    kept.report(out.summary);
    out.columns.push_back(ranked_labels(ranking));
    if (options_.vote) add_vote(ranking, input.data, options_.num_clusters, out);
    out.text = ranking_text(ranking);
    out.files.push_back({"contexts.csv", ranking_csv(ranking)});
    return out;
  }

  static std::function<const DcpContextSplit*(const std::string&)> finder(
      const KnownSplits& known) {
    return [&known](const std::string& name) {
      const auto found = known.find(name);
      return found == known.end() ? nullptr : &found->second;
    };
  }

  // The result is the split of the best context; a stopped ranking takes the first in any case.
  RunOutcome first_split(const Input& input, const Candidates& found, DcpRanking& ranking,
                         Monitor& monitor) {
    const std::vector<std::string>& names = found.contexts.names;
    size_t best = 0;
    for (size_t i = 0; i < names.size(); ++i)
      if (!ranking.contexts.empty() && names[i] == ranking.contexts[0].split.name) best = i;
    const Dataset& context = found.contexts.data[best];
    const bool is_known = ranking.first_result.has_value();
    RunOutcome out = is_known ? finish(input.data, context, found.views[best].points,
                                       std::move(*ranking.first_result))
                              : split(input, context, monitor);
    if (is_known && ranking.termination != Termination::Converged) {
      out.summary.termination = ranking.termination;
      out.summary.message = "stopped early: the split is that of the best context so far";
    }
    out.summary.extra.emplace_back("context", names[best]);
    return out;
  }

  // One row per sample, one number per context: the part under that context.
  static Column ranked_labels(const DcpRanking& ranking) {
    const size_t count = ranking.contexts.size();
    const size_t n = count == 0 ? 0 : ranking.contexts[0].split.labels.size();
    std::vector<int32_t> labels;
    for (size_t i = 0; i < n; ++i)
      for (const DcpRankedContext& one : ranking.contexts) labels.push_back(one.split.labels[i]);
    return whole_column("ranked_labels", std::move(labels), static_cast<int64_t>(count));
  }

  RankingFile ranking_;
  std::string select_;
  std::vector<int64_t> rows_;
  InputBinder* binder_ = nullptr;
};

// Planes over coordinates, or over the kernel with the training samples: the columns that count are
// not those of the planes.
std::vector<int> predict_dcp(const ModelFile& file, FloatView points, int num_threads,
                             const std::string& source) {
  const DcpModel model = from_model_file<DcpModel>(file, source);
  internal::check_centers(model.coefficients.view(), source);
  const bool has_samples = !model.samples.empty();
  if (has_samples) internal::check_centers(model.samples.view(), source);
  if (static_cast<int64_t>(model.offsets.size()) != model.coefficients.rows() ||
      (has_samples && model.samples.rows() != model.coefficients.cols()))
    throw DataError(source + " holds planes, offsets and samples that do not fit together");
  for (const double offset : model.offsets)
    if (!std::isfinite(offset))
      throw DataError(fmt::format("{} holds a plane with the offset {}", source, offset));
  return predict(model, points, num_threads);
}

constexpr const char* kExample =
    "  milieu dcp digits.npy --labels digits_labels.npy --select 6,0 --context-select 7 -k 2\n"
    "    splits the sixes and zeros into the two parts that are best separated from the sevens.\n"
    "    Which other digit gives the split that most digits agree on:\n"
    "  milieu dcp digits.npy --labels digits_labels.npy --select 6,0 --rank-contexts --out run\n";

}  // namespace

MethodEntry dcp_method() {
  return {.name = "dcp",
          .title = "Discriminative context partitioning",
          .summary = "split a set into parts, each separated from a context set",
          .group = MethodGroup::Context,
          .needs = {MethodNeed::Context},
          .shares_rows = true,
          .example = kExample,
          .make = std::make_unique<DcpMethod>,
          .predictors = {{DcpModel::kKind, predict_dcp}}};
}

}  // namespace milieu
