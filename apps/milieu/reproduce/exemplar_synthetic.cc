// SPDX-License-Identifier: Apache-2.0
// The synthetic experiment of [Komodakis11, section 6]: points of M Gaussians in D dimensions, the
// last share rho of which is corrupted. A distance is learned from ten sets and used on ten others,
// drawn in the same way with new centres; squared Euclidean distance, given the true number of
// clusters, is the comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "milieu/base/counted.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/page.h"
#include "milieu/render/svg.h"
#include "milieu/report/learn_report.h"
#include "reproduce/exemplar.h"
#include "reproduce/exemplar_made.h"

namespace milieu::cli {

namespace {

constexpr int kOwnRuns = 5;

// The figures of one run of a setting.
struct Outcome {
  double f = 0, f_pairwise = 0, f_bcubed = 0;  // learned, mean over test sets
  double f_euclidean = 0;
  double share_right_count = 0;  // test sets whose number of exemplars is right
  double mean_count = 0;
  double suppression = 0;  // mean good weight / mean noisy weight
  double seconds = 0;      // of training
};

std::vector<double> to_figures(const Outcome& o) {
  return {o.f,          o.f_pairwise,  o.f_bcubed, o.f_euclidean, o.share_right_count,
          o.mean_count, o.suppression, o.seconds};
}
Outcome from_figures(const std::vector<double>& v) {
  return {v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7)};
}

ExemplarOptions cluster_options(ReproduceRun& run) {
  ExemplarOptions options;
  options.rel_gap = 1e-3;
  options.num_threads = run.options().num_threads;
  return options;
}

double euclidean_f(const MadeSet& set, const MadeSetting& s, ReproduceRun& run) {
  ExemplarInput input;
  input.points = set.points;
  ExemplarOptions options = cluster_options(run);
  options.distance = Distance::SquaredEuclidean;
  options.num_clusters = s.num_clusters;
  options.rel_gap = 1e-2;
  return compute_metrics(fit_exemplar(input, options, run.monitor()).labels, set.labels).f;
}

double suppression_of(const LearnedDistance& model, int num_good) {
  double good = 0, noisy = 0;
  const int count = static_cast<int>(model.weights.size());
  for (int t = 0; t < count; ++t) (t < num_good ? good : noisy) += model.weights[t];
  if (num_good == count || noisy == 0) return INFINITY;
  return good / num_good / (noisy / (count - num_good));
}

Outcome run_setting(const MadeSetting& s, bool with_euclidean, ReproduceRun& run) {
  const ExemplarLearnResult learned = train_made(s, run);
  Outcome out;
  out.seconds = learned.summary.seconds;
  if (run.is_stopped()) return out;
  out.suppression = suppression_of(learned.model, s.num_good());
  for (int k = 0; k < kMadeSets && !run.is_stopped(); ++k) {
    const MadeSet set = draw_made(s, static_cast<uint64_t>(1000 + k));
    const ExemplarResult found =
        fit_learned_exemplar(learned.model, set.points, cluster_options(run), run.monitor());
    const Metrics metrics = compute_metrics(found.labels, set.labels);
    out.f += metrics.f / kMadeSets;
    out.f_pairwise += metrics.f_pairwise / kMadeSets;
    out.f_bcubed += metrics.f_bcubed / kMadeSets;
    out.share_right_count +=
        (metrics.num_clusters == s.num_clusters) / static_cast<double>(kMadeSets);
    out.mean_count += metrics.num_clusters / static_cast<double>(kMadeSets);
    if (with_euclidean) out.f_euclidean += euclidean_f(set, s, run) / kMadeSets;
  }
  return out;
}

// Runs with several seeds; those that are done are not run again. Empty if stopped.
std::vector<Outcome> run_seeds(MadeSetting s, int num_runs, bool with_euclidean,
                               ReproduceRun& run) {
  std::vector<Outcome> outcomes;
  for (int i = 0; i < num_runs; ++i) {
    s.seed = run.options().seed + static_cast<uint64_t>(i);
    outcomes.push_back(from_figures(run.piece(s.key(), [&] {
      run.say(s.key());
      return to_figures(run_setting(s, with_euclidean, run));
    })));
    if (run.is_stopped()) return {};
  }
  return outcomes;
}

double mean_of(const std::vector<Outcome>& outcomes, double Outcome::*figure) {
  double sum = 0;
  for (const Outcome& o : outcomes) sum += o.*figure / static_cast<double>(outcomes.size());
  return sum;
}
double least_of(const std::vector<Outcome>& outcomes, double Outcome::*figure) {
  double least = INFINITY;
  for (const Outcome& o : outcomes) least = std::min(least, o.*figure);
  return least;
}

std::vector<std::string> table_row(const std::string& name, const std::vector<Outcome>& o) {
  const double euclidean = mean_of(o, &Outcome::f_euclidean);
  return {name,
          fmt::format("{:.3f}", mean_of(o, &Outcome::f)),
          fmt::format("{:.3f}", least_of(o, &Outcome::f)),
          fmt::format("{:.3f}", mean_of(o, &Outcome::f_pairwise)),
          fmt::format("{:.3f}", mean_of(o, &Outcome::f_bcubed)),
          euclidean > 0 ? fmt::format("{:.3f}", euclidean) : "-",
          fmt::format("{:.0f} %", 100 * mean_of(o, &Outcome::share_right_count)),
          fmt::format("{:.1f}", mean_of(o, &Outcome::mean_count)),
          fmt::format("{:.0f}x", least_of(o, &Outcome::suppression)),
          fmt::format("{:.1f}", mean_of(o, &Outcome::seconds))};
}

std::vector<std::string> table_columns(const std::string& first) {
  return {first,       "F",       "least F",  "pairs F",    "B3 F",
          "Euclid, k", "k right", "clusters", "noise down", "seconds"};
}

// The test set as two good coordinates show it: true clusters in colours, exemplars as crosses.
std::string projection_plot(const MadeSet& set, int num_clusters, const ExemplarResult& found) {
  PlotSpec spec;
  spec.id = "projection";
  spec.title = "A test set in two dimensions that are not corrupted";
  spec.description = "Colours are true clusters, crosses the exemplars found.";
  std::vector<double> x, y;
  for (int64_t p = 0; p < set.points.rows(); ++p) {
    x.push_back(set.points(p, 0));
    y.push_back(set.points(p, 1));
  }
  spec.x = fit_axis({.label = "dimension 0"}, x, 0.05);
  spec.y = fit_axis({.label = "dimension 1"}, y, 0.05);
  Plot plot(spec);
  for (int c = 0; c < num_clusters; ++c) {
    Dots dots;
    dots.color = cluster_color(c);
    dots.title = fmt::format("true cluster {}", c);
    for (size_t p = 0; p < x.size(); ++p)
      if (set.labels[p] == c) {
        dots.x.push_back(x[p]);
        dots.y.push_back(y[p]);
      }
    plot.add_dots(dots);
  }
  for (const auto row : found.model.rows) plot.add_label(x[row], y[row], "+");
  return std::move(plot).finish();
}

void add_objective_card(const MadeSetting& s, const std::vector<double>& trace, Markup& page) {
  NamedLine objective;
  for (size_t i = 0; i < trace.size(); ++i) {
    objective.x.push_back(static_cast<double>(i + 1));
    objective.y.push_back(trace[i]);
  }
  open_card(page, CardWidth::Half, "Objective", fmt::format("of training at rho = {}", s.rho));
  page.raw(render_lines("objective", "Objective", "round", "objective", {objective}));
  close_card(page);
}

void add_weights_card(const MadeSetting& s, const LearnedDistance& model, Markup& page) {
  open_card(page, CardWidth::Full, "Learned weights",
            fmt::format("each one's share of their sum; rho = {}: the last {} are "
                        "corrupted",
                        s.rho, counted(s.num_columns - s.num_good(), "dimension")));
  std::vector<double> weights = model.weights;
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  page.raw(render_weight_bars(packed_names(model.names), weights, "weights"));
  close_card(page);
}

// Figure 2: objective and weights of one training, a test set as two good coordinates show it.
void draw_figures(const MadeSetting& s, const std::vector<NamedLine>& f_lines, ReproduceRun& run) {
  if (run.options().out.empty()) return;
  const ExemplarLearnResult learned = train_made(s, run);
  if (run.is_stopped()) return;
  const MadeSet set = draw_made(s, 1000);
  const ExemplarResult found =
      fit_learned_exemplar(learned.model, set.points, cluster_options(run), run.monitor());
  Markup page;
  page.open("header");
  add_masthead(page, "reproduction");
  page.element("h1", "Learning to cluster: generated data").close("header");
  page.open("div", {{"class", "grid"}});
  open_card(
      page, CardWidth::Half, "F against the share of corrupted dimensions",
      "mean over test sets and seeds; squared Euclidean distance is given the number of clusters");
  page.raw(render_lines("f", "F against rho", "rho", "F", f_lines));
  close_card(page);
  add_objective_card(s, learned.summary.trace, page);
  add_weights_card(s, learned.model, page);
  open_card(
      page, CardWidth::Half, "A test set",
      fmt::format("{} (+) found for {} (colours)", counted(found.model.rows.size(), "exemplar"),
                  counted(s.num_clusters, "cluster")));
  page.raw(projection_plot(set, s.num_clusters, found));
  close_card(page);
  page.close("div");
  add_footer(page, fmt::format("Seed {}.", s.seed));
  run.write("exemplar_synthetic.html",
            render_page("Learning to cluster: generated data - Milieu", std::move(page).finish()));
}

}  // namespace

void reproduce_exemplar_synthetic(ReproduceRun& run) {
  run.keep_progress("exemplar_synthetic");
  ResultTable table{"exemplar_synthetic",
                    "F of clusterings by learned distances, D = 100, N = 500, M = 10 "
                    "[Komodakis11, Fig. 2d: about 1 for all rho]",
                    table_columns("rho"),
                    {},
                    {}};
  std::vector<NamedLine> lines = {{"learned", {}, {}}, {"squared Euclidean", {}, {}}};
  const int num_runs = run.num_runs(kOwnRuns);
  for (const double rho : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    MadeSetting s;
    s.rho = rho;
    const std::vector<Outcome> o = run_seeds(s, num_runs, true, run);
    if (run.is_stopped()) return;
    table.rows.push_back(table_row(fmt::format("{}", rho), o));
    for (size_t i = 0; i < lines.size(); ++i) {
      lines[i].x.push_back(rho);
      lines[i].y.push_back(mean_of(o, i == 0 ? &Outcome::f : &Outcome::f_euclidean));
    }
  }
  table.notes = {
      fmt::format("{}; F is the class-weighted best-match F; Euclid, k: squared "
                  "Euclidean distance, given the number of clusters",
                  counted(num_runs, "run")),
      "noise down: mean weight of good dimensions over that of corrupted ones, the smallest "
      "over the runs"};
  run.show(table);
  MadeSetting figure;
  figure.seed = run.options().seed;
  draw_figures(figure, lines, run);
}

void reproduce_exemplar_raw(ReproduceRun& run) {
  run.keep_progress("exemplar_raw");
  ResultTable table{"exemplar_raw",
                    "The same without normalised features (numpy reference: F 1.000 at .5, .74 at "
                    ".9 after 100 rounds, .89 after 400)",
                    table_columns("rho, rounds"),
                    {},
                    {}};
  for (const double rho : {0.5, 0.9})
    for (const int rounds : {100, 200, 400}) {
      MadeSetting s;
      s.rho = rho;
      s.normalize = false;
      s.rounds = rounds;
      const std::vector<Outcome> o = run_seeds(s, run.num_runs(kOwnRuns), false, run);
      if (run.is_stopped()) return;
      table.rows.push_back(table_row(fmt::format("{}, {}", rho, rounds), o));
    }
  table.notes = {
      "weights and their price are those of the raw features; steps are measured in the "
      "features' means"};
  run.show(table);
}

void reproduce_exemplar_sizes(ReproduceRun& run) {
  run.keep_progress("exemplar_sizes");
  ResultTable table{
      "exemplar_sizes", "Other D, N and M at rho = .7", table_columns("D, N, M"), {}, {}};
  for (const auto& [d, n, m] :
       {std::array{50, 500, 10}, std::array{200, 500, 10}, std::array{100, 250, 10},
        std::array{100, 1000, 10}, std::array{100, 500, 5}, std::array{100, 500, 20}}) {
    MadeSetting s;
    s.rho = 0.7;
    s.num_columns = d, s.num_samples = n, s.num_clusters = m;
    const std::vector<Outcome> o = run_seeds(s, run.num_runs(2), false, run);
    if (run.is_stopped()) return;
    table.rows.push_back(table_row(fmt::format("{}, {}, {}", d, n, m), o));
  }
  run.show(table);
}

}  // namespace milieu::cli
