// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "milieu/render/contact_sheet.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/point_map.h"
#include "milieu/report/static_report.h"
#include "milieu/run/methods.h"

namespace milieu::cli {

namespace {

constexpr int kImagesOfClass = 12;

// Clusters under the numbers of the classes that they were matched to, so that a cluster has the
// colour of its class; clusters without a class follow after the classes.
struct MatchedLabels {
  std::vector<int> labels;
  std::vector<std::string> names;
};

MatchedLabels match_to_classes(const DemoRun& run) {
  const std::vector<int>& matching = run.metrics().class_from_cluster;
  MatchedLabels matched;
  matched.names = run.family().labels().names;
  std::vector<int> new_label(matching.size());
  for (size_t c = 0; c < matching.size(); ++c) {
    new_label[c] = matching[c] >= 0 ? matching[c] : static_cast<int>(matched.names.size());
    if (matching[c] < 0) matched.names.push_back(fmt::format("cluster {}", c));
  }
  for (int label : run.labels()) matched.labels.push_back(label < 0 ? -1 : new_label[label]);
  return matched;
}

std::string run_title(const DemoRun& run) {
  return fmt::format("{}: {}", method_title(run.method()), percent_text(run.metrics().accuracy));
}

void add_header(Markup& page, const std::vector<DemoFamily>& families,
                const std::vector<DemoRun>& runs, double seconds) {
  page.open("header");
  add_masthead(page, "built-in demo");
  page.element("h1", "What clustering finds, method by method");
  page.element("p", {{"class", "lead"}},
               "Milieu groups images and feature vectors: by themselves, or by the context they "
               "appear in. Every method is a function of the C++ library and a command of the "
               "program, and every run leaves labels, a model and a report like the ones below.");
  page.close("header");
  std::set<std::string> methods;
  for (const DemoRun& run : runs) methods.insert(run.method());
  std::vector<Tile> tiles = {
      {"Methods", count_text(methods.size()), {}, {}},
      {"Runs", count_text(runs.size()), fmt::format("on {} data sets", families.size()), {}},
      {"Time", seconds_text(seconds), "all runs together", {}}};
  for (const DemoFamily& family : families)
    if (const DemoRun* best = best_demo_run(runs, family))
      tiles.push_back({fmt::format("Best on {}", family.name),
                       percent_text(best->metrics().accuracy),
                       method_title(best->method()),
                       {}});
  add_tiles(page, tiles);
}

void add_class_card(Markup& page, const DemoFamily& family) {
  const Labels& labels = family.labels();
  std::vector<SheetFigure> figures;
  for (size_t c = 0; c < labels.names.size(); ++c) {
    SheetFigure figure{labels.names[c], static_cast<int>(c), 0, {}};
    SheetStrip strip{"", fmt::format("images of the class {}", labels.names[c]), {}};
    for (size_t i = 0; i < labels.indices.size(); ++i) {
      if (labels.indices[i] != figure.color) continue;
      ++figure.size;
      if (strip.rows.size() < kImagesOfClass) strip.rows.push_back(static_cast<int64_t>(i));
    }
    figure.strips.push_back(std::move(strip));
    figures.push_back(std::move(figure));
  }
  open_card(page, CardWidth::Full, "The data",
            fmt::format("The first {} images of each class.", kImagesOfClass));
  page.raw(render_sheets({family.sets[0].data.points.view(), family.image_side, family.image_side},
                         figures));
  close_card(page);
}

void add_runs_card(Markup& page, const DemoFamily& family, const std::vector<DemoRun>& runs) {
  Table table;
  table.caption = "Runs on " + family.title;
  table.columns = {{"Method"},
                   {"Data"},
                   {"Clusters", ColumnKind::Number},
                   {"Accuracy", ColumnKind::Number},
                   {"NMI", ColumnKind::Number},
                   {"ARI", ColumnKind::Number},
                   {"Time", ColumnKind::Number}};
  const DemoRun* best = best_demo_run(runs, family);
  for (const DemoRun& run : runs) {
    if (&run.family() != &family) continue;
    if (&run == best) table.highlighted = static_cast<int>(table.rows.size());
    const Metrics& m = run.metrics();
    table.rows.push_back({method_title(run.method()), run.set().description,
                          count_text(run.summary().clusters), percent_text(m.accuracy),
                          fixed_text(m.nmi, 3), fixed_text(m.ari, 3),
                          seconds_text(run.summary().seconds)});
    table.links.push_back(fmt::format("runs/{}/report.html", run.name()));
  }
  open_card(
      page, CardWidth::Full, "The runs",
      "Accuracy: share of samples in the right class when each cluster is matched to one class. "
      "A method's name leads to the report of its run.");
  add_table(page, table);
  close_card(page);
}

void add_map_card(Markup& page, const DemoFamily& family, std::string_view title,
                  std::span<const int> labels, const std::vector<std::string>& names,
                  const std::string& id) {
  open_card(page, CardWidth::Half, title);
  page.raw(render_point_map({.points = family.sets[0].data.points.view(),
                             .labels = labels,
                             .names = names,
                             .id = id,
                             .noun = "class"}));
  close_card(page);
}

void add_run_map(Markup& page, const DemoRun& run) {
  const MatchedLabels matched = match_to_classes(run);
  add_map_card(page, run.family(), run_title(run), matched.labels, matched.names,
               "map-" + run.name());
}

// The classes beside what the best run made of them; for points in the plane every run, since there
// one sees what each method does.
void add_maps(Markup& page, const DemoFamily& family, const std::vector<DemoRun>& runs,
              const DemoRun& best) {
  add_map_card(page, family, "The classes", family.labels().indices, family.labels().names,
               "map-" + family.name);
  for (const DemoRun& run : runs)
    if (&run.family() == &family && (family.image_side == 0 || &run == &best))
      add_run_map(page, run);
}

void add_best_images(Markup& page, const DemoRun& best) {
  const DemoFamily& family = best.family();
  const MatchedLabels matched = match_to_classes(best);
  const SampleChoice choice{.max_clusters = 12};
  const auto samples = choose_samples(best.set().data.points.view(), matched.labels, choice);
  open_card(page, CardWidth::Full,
            fmt::format("Clusters of the best run, {}", method_title(best.method())),
            "Each under the name of the class it was matched to. Most typical: nearest to the "
            "cluster's mean. Least sure: nearest to another cluster's mean compared with their "
            "own.");
  page.raw(render_sheets({family.sets[0].data.points.view(), family.image_side, family.image_side},
                         make_cluster_figures(samples, matched.names)));
  close_card(page);
}

void add_next_card(Markup& page, const std::vector<NextCommand>& next) {
  open_card(page, CardWidth::Full, "What to try next",
            "In the folder where you ran the demo. The option --help lists what a command can do.");
  for (const NextCommand& command : next) {
    page.element("p", {{"class", "step"}}, command.meaning);
    add_command(page, command.command);
  }
  close_card(page);
}

}  // namespace

std::string render_demo_page(const std::vector<DemoFamily>& families,
                             const std::vector<DemoRun>& runs, const std::vector<NextCommand>& next,
                             double seconds) {
  Markup page;
  add_header(page, families, runs, seconds);
  page.open("div", {{"class", "grid"}});
  for (const DemoFamily& family : families) {
    add_section(page, family.title, family.about);
    if (family.image_side > 0) add_class_card(page, family);
    add_runs_card(page, family, runs);
    const DemoRun* best = best_demo_run(runs, family);
    if (best == nullptr) continue;
    if (family.image_side > 0) add_best_images(page, *best);
    add_maps(page, family, runs, *best);
  }
  add_section(page, "Your turn", "The folder of this page holds the data of all sets as files.");
  add_next_card(page, next);
  page.close("div");
  add_footer(page, "");
  return render_page("Milieu demo", std::move(page).finish());
}

}  // namespace milieu::cli
