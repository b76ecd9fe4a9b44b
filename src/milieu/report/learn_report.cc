// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/learn_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/svg.h"

namespace milieu {

namespace {

constexpr double kSwitchedOff = 1e-3;  // of the largest share, as learn.cc has it
constexpr size_t kMaxRows = 100;       // of the table
constexpr size_t kMaxNames = 8;        // of those switched off, in the sentence

std::vector<size_t> by_share(const std::vector<double>& shares) {
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(shares[a]) > std::abs(shares[b]); });
  return order;
}

std::vector<std::string> switched_off(const LearnReportInput& input) {
  double largest = 0;
  for (const double share : input.shares) largest = std::max(largest, std::abs(share));
  std::vector<std::string> names;
  for (size_t t = 0; t < input.names.size(); ++t)
    if (std::abs(input.shares[t]) <= kSwitchedOff * largest) names.push_back(input.names[t]);
  return names;
}

std::string off_sentence(std::vector<std::string> off, size_t count) {
  if (off.empty())
    return fmt::format("All {}.", counted(static_cast<int64_t>(count), "candidate takes part",
                                          "candidates take part"));
  const size_t more = off.size() > kMaxNames ? off.size() - kMaxNames : 0;
  const size_t total = off.size();
  off.resize(total - more);
  return fmt::format("{} of {} candidates {} switched off: {}{}.", total, count,
                     by_number(static_cast<int64_t>(total), "is", "are"), fmt::join(off, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void add_weight_table(Markup& page, const LearnReportInput& input) {
  Table table;
  table.caption = "Candidates by their share";
  table.columns = {{"Candidate"}, {"Share", ColumnKind::Number}, {"Weight", ColumnKind::Number}};
  for (const size_t t : by_share(input.shares)) {
    if (table.rows.size() == kMaxRows) break;
    table.rows.push_back({input.names[t], fmt::format("{:.1f} %", 100 * input.shares[t]),
                          real_text(input.weights[t], 4)});
  }
  add_table(page, table);
}

void add_objective_card(Markup& page, const LearnReportInput& input) {
  const std::vector<double>& trace = input.summary->trace;
  if (trace.size() < 2) return;
  // The trace of many rounds has every k-th of them.
  const double num_rounds = std::max<double>(input.summary->iterations, std::ssize(trace));
  std::vector<double> x;
  for (size_t i = 1; i <= trace.size(); ++i)
    x.push_back(static_cast<double>(i) * num_rounds / static_cast<double>(trace.size()));
  open_card(page, CardWidth::Half, "Objective",
            "after each round: an upper bound of the loss, and the price of the weights");
  page.raw(render_lines("objective", "Objective after each round", "round", "objective",
                        {{"", x, trace}}));
  close_card(page);
  if (input.energy.size() != trace.size() || input.bound.size() != trace.size()) return;
  open_card(page, CardWidth::Half, "Its parts",
            "energy of the true partitions, and the bound by the slaves, per sample");
  page.raw(render_lines("parts", "Energy and bound after each round", "round", "",
                        {{"energy", x, input.energy}, {"bound", x, input.bound}}));
  close_card(page);
}

constexpr size_t kMostNamedBars = 12, kMostLetters = 18;

// The end of a long name: paths and features differ there.
std::string shortened(const std::string& name) {
  return name.size() <= kMostLetters ? name : "…" + name.substr(name.size() - kMostLetters + 1);
}

}  // namespace

std::string render_weight_bars(std::span<const std::string> names, std::span<const double> shares,
                               const std::string& id) {
  std::vector<Bar> bars;
  std::vector<double> values = {0};
  for (size_t t = 0; t < shares.size(); ++t) {
    bars.push_back({static_cast<double>(t) - 0.4, static_cast<double>(t) + 0.4, 100 * shares[t],
                    cluster_color(0), fmt::format("{}: {:.2f} %", names[t], 100 * shares[t])});
    values.push_back(100 * shares[t]);
  }
  PlotSpec spec;
  spec.id = id;
  spec.title = "Share of every candidate";
  spec.description = fmt::format(
      "{} in their order, each with its part of the mean "
      "learned distance.",
      counted(shares.size(), "candidate"));
  spec.width = 1120;
  spec.height = 300;
  const bool has_names = shares.size() <= kMostNamedBars;
  spec.x = {.label = has_names ? "" : "candidate",
            .low = -0.6,
            .high = static_cast<double>(shares.size()) - 0.4,
            .whole_numbers = true,
            .is_hidden = has_names};
  spec.y = {.label = "share in %", .has_grid = true};
  spec.y = fit_axis(spec.y, values, 0.1);
  spec.y.low = std::min(0.0, *std::min_element(values.begin(), values.end()));
  Plot plot(spec);
  plot.add_bars(bars);
  const double above = 0.04 * (spec.y.high - spec.y.low);
  for (size_t t = 0; has_names && t < shares.size(); ++t)
    plot.add_label(static_cast<double>(t), std::max(0.0, 100 * shares[t]) + above,
                   shortened(names[t]));
  return std::move(plot).finish();
}

std::string render_lines(const std::string& id, const std::string& title,
                         const std::string& x_label, const std::string& y_label,
                         const std::vector<NamedLine>& lines) {
  std::vector<double> all_x, all_y;
  for (const NamedLine& line : lines) {
    all_x.insert(all_x.end(), line.x.begin(), line.x.end());
    all_y.insert(all_y.end(), line.y.begin(), line.y.end());
  }
  PlotSpec spec;
  spec.id = id;
  spec.title = title;
  std::vector<std::string> named;
  for (const NamedLine& line : lines)
    if (!line.name.empty() && !line.y.empty())
      named.push_back(fmt::format("{} from {} to {}", line.name, real_text(line.y.front()),
                                  real_text(line.y.back())));
  spec.description = fmt::format("{}.", fmt::join(named, "; "));
  spec.x = {.label = x_label};
  spec.x = fit_axis(spec.x, all_x, 0.04);
  spec.y = {.label = y_label, .has_grid = true};
  spec.y = fit_axis(spec.y, all_y, lines.size() > 1 ? 0.15 : 0.08);
  Plot plot(spec);
  for (size_t i = 0; i < lines.size(); ++i) {
    const NamedLine& line = lines[i];
    if (lines.size() > 1)
      plot.add_line(line.x, line.y, cluster_color(static_cast<int>(i)));
    else
      plot.add_line(line.x, line.y);
    if (line.name.empty() || line.x.empty()) continue;
    // Away from the edge; above the line, unless another one runs close above it.
    const size_t place = line.x.size() * 3 / 4;
    const double range = spec.y.high - spec.y.low;
    const bool is_crowded = std::ranges::any_of(lines, [&](const NamedLine& other) {
      return place < other.y.size() && other.y[place] > line.y[place] &&
             other.y[place] < line.y[place] + 0.15 * range;
    });
    const double shift = (is_crowded ? -0.1 : 0.06) * range;
    plot.add_label(line.x[place], line.y[place] + shift, line.name);
  }
  return std::move(plot).finish();
}

std::string render_learn_report(const LearnReportInput& input) {
  require(input.summary != nullptr, "render_learn_report: the summary is missing");
  require(input.names.size() == input.weights.size() && input.names.size() == input.shares.size(),
          "render_learn_report: names, weights and shares must have the same length");
  const RunSummary& s = *input.summary;
  Markup page;
  page.open("header");
  add_masthead(page, "learning report");
  page.open("h1").text("Distance").element("span", {{"class", "of"}}, " learned from ");
  page.text(input.source).close("h1");
  const std::vector<std::string> off = switched_off(input);
  page.element("p", {{"class", "lead"}}, off_sentence(off, input.names.size())).close("header");
  add_warnings(page, s.warnings);
  double penalty = 0;
  for (const auto& [name, value] : s.extra)
    if (name == "penalty") penalty = std::get<double>(value);
  const std::vector<Tile> tiles = {
      {"Samples", count_text(s.n), fmt::format("in {}", counted(s.clusters, "cluster")), ""},
      {"Candidates in use",
       fmt::format("{} of {}", input.names.size() - off.size(), input.names.size()), "", ""},
      {"Penalty of an exemplar", real_text(penalty), "", fmt::format("{}", penalty)},
      {"Objective", real_text(s.objective), fmt::format("after {}", counted(s.iterations, "round")),
       fmt::format("{}", s.objective)}};
  add_tiles(page, tiles);
  page.open("div", {{"class", "grid"}});
  open_card(
      page, CardWidth::Full, "Weights",
      "each candidate's part of the mean learned distance over all pairs of training samples");
  page.raw(render_weight_bars(input.names, input.shares, "weights"));
  close_card(page);
  add_objective_card(page, input);
  open_card(page, CardWidth::Full, "Candidates");
  add_weight_table(page, input);
  close_card(page);
  if (!input.command.empty()) {
    open_card(page, CardWidth::Full, "Command");
    add_command(page, input.command);
    close_card(page);
  }
  page.close("div");
  add_footer(page, fmt::format("Seed {}.", s.seed));
  return render_page(fmt::format("Distance learned from {} - Milieu", input.source),
                     std::move(page).finish());
}

}  // namespace milieu
