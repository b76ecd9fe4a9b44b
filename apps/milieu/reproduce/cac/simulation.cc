// SPDX-License-Identifier: Apache-2.0
// [Yuan08, Sec. 3.1 and Fig. 3]: five overlapping classes that positions separate. The
// paper prints no parameters of its data; these sets are a substitute (data/spatial_words.h).
#include <fmt/format.h>

#include <algorithm>

#include "milieu/data/csv_text.h"
#include "milieu/data/spatial_words.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/page.h"
#include "milieu/render/svg.h"
#include "reproduce/cac/cac.h"
#include "reproduce/panels.h"

namespace milieu::cli {

namespace {

constexpr int kOwnSets = 8;

struct Row {
  const char* name;
  const char* published;
  CacOptions options;
};

// The word error after each half step of the last restart.
struct ErrorCurve : CacObserver {
  const std::vector<int>* truth = nullptr;
  std::vector<double> errors;
  void on_step(int, const CacStep& step, std::span<const int> words,
               std::span<const int>) override {
    if (step.kind == CacStepKind::Start) errors.clear();
    errors.push_back(compute_metrics(words, *truth).error);
  }
};

std::vector<Row> rows_of(const ReproduceRun& run) {
  CacOptions paper = published_cac_options(run);
  paper.num_words = 5;
  paper.num_phrases = 2;
  paper.epsilon = kSpatialWordsEpsilon;
  paper.num_restarts = run.num_restarts(10);
  std::vector<Row> rows;
  for (const double lambda : {0.0, 400.0, 2000.0}) {
    paper.lambda = lambda;
    rows.push_back({lambda == 0     ? "lambda 0 (k-means)"
                    : lambda == 400 ? "lambda 400, paper's procedure"
                                    : "lambda 2000, paper's procedure",
                    lambda == 0     ? ".25"
                    : lambda == 400 ? "-"
                                    : ".12",
                    paper});
  }
  CacOptions ours;
  ours.num_words = 5;
  ours.num_phrases = 2;
  ours.epsilon = kSpatialWordsEpsilon;
  ours.num_restarts = run.num_restarts(ours.num_restarts);
  ours.seed = run.options().seed;
  ours.num_threads = run.options().num_threads;
  rows.push_back({"our default", "-", ours});
  return rows;
}

CacInput input_of(const SpatialWords& data) {
  CacInput input;
  input.views = {data.features};
  input.positions = data.positions;
  return input;
}

// Samples in a plane coloured by word: features for panels (a) and (c) to (e) of Fig. 3, positions
// for (b).
std::string panel(FloatView plane, const std::vector<int>& words, const std::string& id,
                  const char* title) {
  PlotSpec spec;
  spec.id = "words-" + id;
  spec.title = title;
  spec.description = "samples in a plane, coloured by word";
  std::vector<double> x, y;
  for (int64_t i = 0; i < plane.rows(); ++i) {
    x.push_back(plane(i, 0));
    y.push_back(plane(i, 1));
  }
  spec.x = fit_axis({}, x, 0.05);
  spec.y = fit_axis({}, y, 0.05);
  Plot plot(spec);
  for (int word = 0; word < 5; ++word) {
    Dots dots;
    dots.color = cluster_color(word);
    dots.title = fmt::format("word {}", word);
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] == word) {
        dots.x.push_back(x[i]);
        dots.y.push_back(y[i]);
      }
    plot.add_dots(dots);
  }
  return std::move(plot).finish();
}

void write_curve(const ReproduceRun& run, const CacResult& result, const ErrorCurve& curve) {
  const auto rounded = [](double value) { return fmt::format("{:.6f}", value); };
  CsvWriter table;
  table.row("step", "j", "j1", "j2", "word_error");
  const double first = result.steps.front().objective();  // all relative to it, as in Fig. 3 (f)
  for (size_t s = 0; s < std::min(result.steps.size(), curve.errors.size()); ++s)
    table.row(to_string(result.steps[s].kind), rounded(result.steps[s].objective() / first),
              rounded(result.steps[s].words_objective / first),
              rounded(result.steps[s].context_objective / first), rounded(curve.errors[s]));
  run.write("cac_simulation_curve.csv", table.text());
}

// J and the word error after each half step, as Fig. 3 (f).
std::string curve_plot(const CacResult& result, const ErrorCurve& curve) {
  std::vector<double> steps, objectives, errors;
  for (size_t s = 0; s < std::min(result.steps.size(), curve.errors.size()); ++s) {
    steps.push_back(static_cast<double>(s));
    objectives.push_back(result.steps[s].objective() / result.steps.front().objective());
    errors.push_back(curve.errors[s]);
  }
  PlotSpec spec;
  spec.id = "curve";
  spec.title = "J and word error";
  spec.description = "J as a share of its initial value (above) and the word error (below)";
  spec.x = fit_axis({.label = "half step", .whole_numbers = true}, steps, 0.02);
  spec.y.has_grid = true;
  Plot plot(spec);
  plot.add_line(steps, objectives);
  plot.add_line(steps, errors);
  return std::move(plot).finish();
}

// Fig. 3 (a) and (b): the truth, as features and as positions.
void draw_truth(const SpatialWords& data, Markup& page, std::vector<Panel>& panels) {
  const struct {
    const char *name, *about;
    FloatView plane;
  } views[] = {{"truth, features", "the features of set 1, coloured by their class", data.features},
               {"truth, positions", "the same samples at their positions", data.positions}};
  for (const auto& view : views) {
    open_card(page, CardWidth::Half, view.name, view.about);
    page.raw(panel(view.plane, data.words, fmt::format("truth-{}", panels.size()), view.name));
    close_card(page);
    panels.push_back(scatter_panel(view.name, view.plane, data.words));
  }
}

// Words have any numbers: those of the truth that match them best, so that colours compare.
std::vector<int> matched_words(const std::vector<int>& words, const std::vector<int>& truth) {
  std::vector<int> best(words.size());
  std::vector<int> order = {0, 1, 2, 3, 4}, chosen = order;
  size_t most = 0;
  do {
    size_t right = 0;
    for (size_t i = 0; i < words.size(); ++i) right += order[words[i]] == truth[i];
    if (right > most) most = right, chosen = order;
  } while (std::next_permutation(order.begin(), order.end()));
  for (size_t i = 0; i < words.size(); ++i) best[i] = chosen[words[i]];
  return best;
}

// Pictures and the curve of set 1: one page, and Fig. 3 (a) to (e) as a picture.
void draw(const ReproduceRun& run, const std::vector<Row>& rows) {
  const SpatialWords data = make_spatial_words(1);
  Markup page;
  std::string last_card;
  std::vector<Panel> panels;
  draw_truth(data, page, panels);
  for (size_t r = 0; r < rows.size(); ++r) {
    ErrorCurve curve;
    curve.truth = &data.words;
    CacOptions options = rows[r].options;
    options.num_restarts = r == 2 ? 1 : options.num_restarts;
    const CacResult result = fit_cac(input_of(data), options, run.monitor(), &curve);
    if (run.is_stopped()) return;
    open_card(page, CardWidth::Half, rows[r].name, "the features of set 1, coloured by word");
    const std::vector<int> words = matched_words(result.words, data.words);
    page.raw(panel(data.features, words, std::to_string(r), rows[r].name));
    close_card(page);
    panels.push_back(scatter_panel(rows[r].name, data.features, words));
    if (r != 2) continue;
    write_curve(run, result, curve);
    last_card = curve_plot(result, curve);
  }
  open_card(page, CardWidth::Full, "J and word error, lambda 2000, one restart",
            "after each half step: J as a share of its initial value (above), word error (below)");
  page.raw(last_card);
  close_card(page);
  run.write("cac_simulation.png", draw_panels(panels, 3));
  run.write("cac_simulation.html", render_page("cac simulation", std::move(page).finish()));
}

}  // namespace

void reproduce_cac_simulation(ReproduceRun& run) {
  const std::vector<Row> rows = rows_of(run);
  const int num_sets = run.num_runs(kOwnSets);
  ResultTable table{
      "cac_simulation",
      "Simulation, word error, [Yuan08, Sec. 3.1]",
      {"procedure", "paper", "words", "phrases", "sets"},
      {},
      {"The paper prints no parameters of its data: these sets are a substitute.",
       "The paper's procedure: k-means, then k-modes, the lowest J of the restarts."}};
  for (const Row& row : rows) {
    std::vector<double> words, phrases;
    for (int set = 1; set <= num_sets && !run.is_stopped(); ++set) {
      const SpatialWords data = make_spatial_words(set);
      const CacResult result = fit_cac(input_of(data), row.options, run.monitor());
      if (run.is_stopped()) return;
      words.push_back(compute_metrics(result.words, data.words).error);
      phrases.push_back(compute_metrics(result.phrases, data.phrases).error);
    }
    table.rows.push_back({row.name, row.published, share_text(mean_of(words)),
                          share_text(mean_of(phrases)), std::to_string(words.size())});
  }
  run.show(table);
  if (!run.options().out.empty()) draw(run, rows);
}

CacOptions published_cac_options(const ReproduceRun& run) {
  CacOptions options;
  options.phrase_model = CacPhraseModel::Counts;
  options.scaling = CacScaling::Raw;
  options.init = CacInit::Words;
  options.phrase_init = CacPhraseInit::KModes;
  options.continuation = false;
  options.reseed = false;
  options.view_neighbors = 0;
  options.seed = run.options().seed;
  options.num_threads = run.options().num_threads;
  return options;
}

std::string share_text(double share) { return fmt::format("{:.3f}", share).substr(share < 1); }

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace milieu::cli
