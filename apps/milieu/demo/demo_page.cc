// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "demo/demo_images.h"
#include "demo/demo_text.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"

namespace milieu::cli {

namespace {

// The best accuracy of a story with the context, and without.
struct Lead {
  double with = 0, without = 0;
};

double accuracy_of(const DemoRun& run, const std::string& truth) {
  const Metrics* metrics = run.metrics(truth);
  return metrics != nullptr ? metrics->accuracy : 0;
}

// Of the first question; or of all at once, as good as the worst answer: with the context a run per
// question, without it one run that cannot know which is asked.
Lead lead_of(const DemoStory& story, const std::vector<DemoRun>& runs) {
  const size_t questions = story.is_asked_all ? story.columns.size() : 1;
  std::vector<double> with(questions);
  Lead lead;
  for (const DemoRun& run : runs) {
    if (&run.story() != &story || run.job().is_by_hand) continue;  // these see the context, too
    double worst = 1;
    for (size_t q = 0; q < questions; ++q) {
      const double accuracy = accuracy_of(run, story.columns[q].first);
      worst = std::min(worst, accuracy);
      if (run.job().sees_context) with[q] = std::max(with[q], accuracy);
    }
    if (!run.job().sees_context) lead.without = std::max(lead.without, worst);
  }
  lead.with = *std::min_element(with.begin(), with.end());
  return lead;
}

void add_header(Markup& page, const DemoStories& made, const std::vector<DemoRun>& runs,
                double seconds) {
  page.open("header");
  add_masthead(page, "demo");
  page.element("h1", "Five questions that a context answers");
  page.element("p", {{"class", "lead"}},
               "Milieu groups images by their context: what appears beside them, what they must be "
               "separated from, which examples of good groups exist. Each story below has a "
               "question, what plain methods make of it, and what the context adds. " +
                   images_note(made));
  page.close("header");
  std::vector<Tile> tiles;
  for (const DemoStory& story : made.stories) {
    const Lead lead = lead_of(story, runs);
    tiles.push_back({story.name,
                     fmt::format("{:.1f} %", 100 * lead.with),
                     fmt::format("best without it: {:.1f} %", 100 * lead.without),
                     {}});
  }
  tiles.push_back({"Time", seconds_text(seconds), count_text(runs.size()) + " runs", {}});
  add_tiles(page, tiles);
}

void add_sheets(Markup& page, const DemoStory& story) {
  for (const DemoSheet& sheet : story.sheets) {
    open_card(page, sheet.truth.empty() ? CardWidth::Half : CardWidth::Full, sheet.title);
    page.raw(draw_sheet(story, sheet));
    close_card(page);
  }
  for (const DemoMap& map : story.maps) {
    open_card(page, CardWidth::Full, map.title);
    page.raw(draw_map(story, map));
    close_card(page);
  }
}

void add_figures(Markup& page, const DemoStory& story, const std::vector<DemoRun>& runs) {
  Table table;
  table.caption = "Runs of the story of " + story.name;
  table.columns = {{"Method"}};
  for (const auto& [truth, heading] : story.columns)
    table.columns.push_back({heading, ColumnKind::Number});
  table.columns.push_back({"Time", ColumnKind::Number});
  double best = -1;
  for (const DemoRun& run : runs) {
    if (&run.story() != &story) continue;
    const Metrics* metrics = run.metrics(story.columns[0].first);
    if (run.job().sees_context && metrics != nullptr && metrics->accuracy > best) {
      best = metrics->accuracy;
      table.highlighted = static_cast<int>(table.rows.size());
    }
    std::vector<std::string> cells = {run.job().title};
    for (const auto& [truth, heading] : story.columns)
      cells.push_back(accuracy_cell(run, runs, truth));
    cells.push_back(seconds_text(run.summary().seconds));
    table.rows.push_back(std::move(cells));
    table.links.push_back(fmt::format("runs/{}/report.html", run.name()));
  }
  open_card(page, CardWidth::Full, "Side by side",
            "Accuracy: share of samples in the right part when each part is matched to one class. "
            "A row's name leads to its interactive report.");
  add_table(page, table);
  page.element("p", {{"class", "step"}, {"style", "margin-top:0.9rem"}}, story.context);
  page.element("p", {{"class", "step"}}, "Where it does not decide: " + story.limits);
  close_card(page);
}

void add_results(Markup& page, const DemoStory& story, const std::vector<DemoRun>& runs) {
  for (const DemoRun& run : runs) {
    if (&run.story() != &story || !run.job().is_shown) continue;
    open_card(page, CardWidth::Half, run.job().title);
    page.raw(story.maps.empty() ? draw_parts(run) : draw_hits(run));
    close_card(page);
  }
}

void add_commands(Markup& page, const DemoStory& story, const std::vector<DemoRun>& runs,
                  const std::string& out) {
  open_card(page, CardWidth::Full, "Run it yourself", "In the folder where you ran the demo.");
  for (const DemoRun& run : runs) {
    if (&run.story() != &story || !run.job().sees_context || !run.job().is_shown) continue;
    page.element("p", {{"class", "step"}}, run.job().title + ":");
    add_command(page, run.command());
  }
  page.element("p", {{"class", "step"}}, story.next_meaning);
  add_command(page, next_command(story, out));
  close_card(page);
}

}  // namespace

std::string render_demo_page(const DemoStories& made, const std::vector<DemoRun>& runs,
                             const DemoPlace& place, double seconds) {
  Markup page;
  add_header(page, made, runs, seconds);
  page.open("div", {{"class", "grid"}});
  for (const DemoStory& story : made.stories) {
    add_section(page, story.name + ": " + story.question, story.about);
    add_sheets(page, story);
    add_figures(page, story, runs);
    add_results(page, story, runs);
    add_commands(page, story, runs, place.out);
  }
  page.close("div");
  add_footer(page, "");
  return render_page("Milieu demo", std::move(page).finish());
}

}  // namespace milieu::cli
