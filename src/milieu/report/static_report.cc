// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/static_report.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/report/report_internal.h"
#include "milieu/run/methods.h"

namespace milieu {
namespace {

std::string termination_text(const RunSummary& s) {
  const std::string rounds = count_text(s.iterations, "iteration");
  switch (s.termination) {
    case Termination::Converged:
      return "converged after " + rounds;
    case Termination::IterationLimit:
      return "stopped at its limit of " + rounds;
    case Termination::TimeLimit:
      return "was stopped by the time limit after " + rounds;
    case Termination::Cancelled:
      return "was cancelled after " + rounds;
    case Termination::NumericalIssue:
      return "stopped by a numerical issue after " + rounds;
  }
  return "stopped after " + rounds;
}

std::string termination_word(Termination termination) {
  switch (termination) {
    case Termination::Converged:
      return "converged";
    case Termination::IterationLimit:
      return "limit reached";
    case Termination::TimeLimit:
      return "time limit";
    case Termination::Cancelled:
      return "cancelled";
    case Termination::NumericalIssue:
      return "numerical issue";
  }
  return {};
}

// "the limit was reached" as a separate sentence.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.ends_with('.') && !text.ends_with('!') && !text.ends_with('?')) text += '.';
  return text;
}

void check_input(const ReportInput& input) {
  require(input.summary != nullptr, "render_report: summary is missing");
  const auto check_lengths = [](const char* a, int64_t size_a, const char* b, int64_t size_b) {
    require(size_a == size_b, [&] {
      return fmt::format("render_report: {} has {}, {} has {}: they must match", a,
                         counted(size_a, "entry", "entries"), b, size_b);
    });
  };
  if (!input.points.empty())
    check_lengths("labels", input.labels.size(), "points", input.points.rows());
  if (!input.truth.empty())
    check_lengths("labels", input.labels.size(), "truth", input.truth.size());
  if (!input.margins.empty())
    check_lengths("labels", input.labels.size(), "margins", input.margins.size());
  if (input.image_width != 0 || input.image_height != 0)
    check_lengths("an image", int64_t{input.image_width} * input.image_height, "its row",
                  input.images.empty() ? input.points.cols() : input.images.cols());
  if (!input.images.empty())
    check_lengths("images", input.images.rows(), "points", input.points.rows());
}

void add_search_tiles(const RunSummary& s, std::vector<Tile>& tiles) {
  tiles.push_back({"Objective", real_text(s.objective),
                   s.num_restarts > 1
                       ? fmt::format("restart {} of {} kept", s.restart + 1, s.num_restarts)
                       : "",
                   fmt::format("{}", s.objective)});
  tiles.push_back({"Iterations", count_text(s.iterations), termination_word(s.termination), {}});
}

std::vector<Tile> make_tiles(const ReportInput& input) {
  const RunSummary& s = *input.summary;
  std::vector<Tile> tiles;
  tiles.push_back({"Clusters", count_text(s.clusters), {}, {}});
  tiles.push_back({"Samples", count_text(s.n), count_text(s.d, "dimension"), {}});
  if (input.answer.empty()) add_search_tiles(s, tiles);
  tiles.push_back({"Time", seconds_text(s.seconds), {}, fmt::format("{} s", s.seconds)});
  if (input.metrics) {
    const Metrics& m = *input.metrics;
    tiles.push_back(
        {"Accuracy", percent_text(m.accuracy), "best matching", fmt::format("{}", m.accuracy)});
    tiles.push_back({"NMI", fixed_text(m.nmi, 3), "1 is perfect", fmt::format("{}", m.nmi)});
  }
  return tiles;
}

std::string title_of(const ReportInput& input) {
  return input.title.empty() ? method_title(input.summary->method) : input.title;
}

void add_header(Markup& page, const ReportInput& input) {
  const RunSummary& s = *input.summary;
  page.open("header");
  add_masthead(page, "clustering report");
  page.open("h1").text(title_of(input));
  if (!input.source.empty()) page.element("span", {{"class", "of"}}, " on ").text(input.source);
  page.close("h1").element("p", {{"class", "lead"}},
                           input.answer.empty() ? describe_run(s) : input.answer);
  // Why it converged needs no words; what to do when it did not does.
  if (s.termination != Termination::Converged && !s.message.empty())
    page.element("p", {{"class", "lead"}}, as_sentence(s.message));
  page.close("header");
}

}  // namespace

std::string describe_run(const RunSummary& s) {
  return fmt::format("{} of {} fell into {}. The method {}, with objective {}, in {}.",
                     count_text(s.n, "sample"), count_text(s.d, "dimension"),
                     count_text(s.clusters, "cluster"), termination_text(s), real_text(s.objective),
                     seconds_text(s.seconds));
}

std::string render_report(const ReportInput& input) {
  check_input(input);
  const RunSummary& s = *input.summary;
  Markup page;
  add_header(page, input);
  add_warnings(page, s.warnings);
  add_tiles(page, make_tiles(input));
  page.open("div", {{"class", "grid"}});
  page.raw(input.first_cards);
  internal::add_overview_cards(page, input);
  internal::add_names_card(page, input);
  internal::add_samples_card(page, input);
  page.raw(input.cards);
  internal::add_classes_card(page, input);
  internal::add_table_cards(page, input);
  internal::add_command_card(page, input);
  page.close("div");
  add_footer(page, fmt::format("Seed {}.", s.seed));
  const std::string title =
      input.source.empty() ? title_of(input) : title_of(input) + " on " + input.source;
  return render_page(title + " - Milieu", std::move(page).finish());
}

}  // namespace milieu
