// SPDX-License-Identifier: Apache-2.0
// The report's pictures: map, cluster sizes, objective trace, contact sheets.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/point_map.h"
#include "milieu/render/svg.h"
#include "milieu/report/report_internal.h"

namespace milieu::internal {
namespace {

constexpr size_t kMaxSizeRows = 16;      // clusters with a line each; more become columns
constexpr size_t kMaxSizeColumns = 200;  // columns; more are thinned out
constexpr size_t kMaxTraceMarkers = 40;
constexpr size_t kMaxTracePoints = 600;
constexpr int kSideWidth = 420;  // of the plots beside the map

double share_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void add_size_rows(Markup& page, const std::vector<int64_t>& sizes) {
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  const int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  page.open("table", {{"class", "sizes"}}).element("caption", "Samples in each cluster");
  page.raw(
      "<thead><tr><th scope=\"col\">Cluster</th><td></td>"
      "<th scope=\"col\" class=\"number\">Samples</th>"
      "<th scope=\"col\" class=\"number\">Share</th></tr></thead>\n");
  page.open("tbody");
  for (size_t i = 0; i < sizes.size(); ++i) {
    page.open("tr").open("th", {{"scope", "row"}});
    add_swatch(page, static_cast<int>(i));
    page.text(fmt::format("{}", i)).close("th");
    page.open("td").open("span", {{"class", "track"}});
    page.element("span",
                 {{"class", "bar"},
                  {"style", fmt::format("width:{}%;background:{}",
                                        coordinate_text(100 * share_of(sizes[i], largest)),
                                        to_hex(cluster_color(static_cast<int>(i))))}},
                 "");
    page.close("span").close("td");
    page.element("td", {{"class", "number"}}, count_text(sizes[i]));
    page.element("td", {{"class", "number soft"}}, percent_text(share_of(sizes[i], total)));
    page.close("tr");
  }
  page.close("tbody").close("table");
}

// Many clusters: a column each, largest first.
void add_size_columns(Markup& page, const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  const size_t shown = std::min(order.size(), kMaxSizeColumns);
  std::vector<Bar> bars;
  for (size_t i = 0; i < shown; ++i) {
    const size_t rank = i * order.size() / shown;
    const auto cluster = static_cast<int>(order[rank]);
    const double gap = 0.12 * static_cast<double>(order.size()) / shown;
    const double low = static_cast<double>(rank);
    const double high = static_cast<double>((i + 1) * order.size() / shown);
    bars.push_back({low + gap / 2, high - gap / 2, static_cast<double>(sizes[cluster]),
                    cluster_color(cluster),
                    fmt::format("cluster {}: {}", cluster, count_text(sizes[cluster], "sample"))});
  }
  const double largest = static_cast<double>(sizes[order.front()]);
  PlotSpec spec;
  spec.id = "sizes";
  spec.title = "Cluster sizes, largest first";
  spec.description =
      fmt::format("{}; the largest has {}, the median {}, the smallest {}.",
                  counted(sizes.size(), "cluster"), count_text(sizes[order.front()], "sample"),
                  count_text(sizes[order[order.size() / 2]]), count_text(sizes[order.back()]));
  spec.width = kSideWidth;
  spec.height = 260;
  spec.x = {.label = "clusters, largest first",
            .low = 0,
            .high = static_cast<double>(sizes.size()),
            .whole_numbers = true};
  spec.y = {.label = "samples",
            .low = 0,
            .high = largest > 0 ? largest * 1.05 : 1,
            .whole_numbers = true,
            .has_grid = true};
  Plot plot(spec);
  plot.add_bars(bars);
  page.open("figure").raw(std::move(plot).finish());
  page.element("figcaption",
               spec.description +
                   (shown < sizes.size() ? fmt::format(" {} of them are drawn.", shown) : ""));
  page.close("figure");
}

// At most kMaxTracePoints points of a long trace: of each stretch its lowest and its highest one.
std::vector<size_t> thin_out_trace(const std::vector<double>& trace) {
  std::vector<size_t> chosen;
  const size_t stretches = kMaxTracePoints / 2;
  if (trace.size() <= kMaxTracePoints) {
    chosen.resize(trace.size());
    std::iota(chosen.begin(), chosen.end(), size_t{0});
    return chosen;
  }
  for (size_t s = 0; s < stretches; ++s) {
    const auto begin = trace.begin() + s * trace.size() / stretches;
    const auto end = trace.begin() + (s + 1) * trace.size() / stretches;
    const auto less = [](double a, double b) { return std::isfinite(b) && !(a >= b); };
    size_t low = std::min_element(begin, end, less) - trace.begin();
    size_t high = std::max_element(begin, end, less) - trace.begin();
    if (low > high) std::swap(low, high);
    chosen.push_back(low);
    if (high != low) chosen.push_back(high);
  }
  return chosen;
}

void add_trace_plot(Markup& page, const std::vector<double>& trace) {
  std::vector<double> x, y;
  for (size_t i : thin_out_trace(trace)) {
    x.push_back(static_cast<double>(i + 1));
    y.push_back(trace[i]);
  }
  PlotSpec spec;
  spec.id = "trace";
  spec.title = "Objective after each iteration";
  spec.description = fmt::format("{}, from {} to {}.", counted(trace.size(), "iteration"),
                                 real_text(trace.front()), real_text(trace.back()));
  spec.width = kSideWidth;
  spec.height = 250;
  spec.x = {.label = "iteration", .whole_numbers = true};
  spec.x = fit_axis(spec.x, x, 0.02);
  spec.y = {.label = "objective", .has_grid = true};
  spec.y = fit_axis(spec.y, y, 0.06);
  Plot plot(spec);
  plot.add_line(x, y);
  const size_t step = (x.size() + kMaxTraceMarkers - 1) / kMaxTraceMarkers;
  std::vector<double> marker_x, marker_y;
  std::vector<std::string> titles;
  for (size_t i = 0; i < x.size(); i += step) {
    marker_x.push_back(x[i]);
    marker_y.push_back(y[i]);
    titles.push_back(fmt::format("iteration {}: {}", x[i], real_text(y[i], 7)));
  }
  plot.add_markers(marker_x, marker_y, titles, step == 1);
  page.raw(std::move(plot).finish());
}

void add_sizes_card(Markup& page, const RunSummary& s) {
  if (s.sizes.empty()) return;
  open_card(page, CardWidth::Half, "Cluster sizes");
  if (s.sizes.size() <= kMaxSizeRows)
    add_size_rows(page, s.sizes);
  else
    add_size_columns(page, s.sizes);
  const int64_t total = std::accumulate(s.sizes.begin(), s.sizes.end(), int64_t{0});
  if (total < s.n)
    page.element("p", {{"class", "small"}},
                 fmt::format("{} no cluster.",
                             count_text(s.n - total, "sample belongs to", "samples belong to")));
  close_card(page);
}

void add_trace_card(Markup& page, const RunSummary& s) {
  if (s.trace.empty()) return;
  const bool has_finite = std::any_of(s.trace.begin(), s.trace.end(),
                                      [](double value) { return std::isfinite(value); });
  open_card(page, CardWidth::Half, "Objective",
            s.num_restarts > 1 ? fmt::format("of restart {} of {}, the one that was kept",
                                             s.restart + 1, s.num_restarts)
                               : "after each iteration");
  if (!has_finite)
    page.element("p", "No value of the objective is finite.");
  else if (s.trace.size() == 1)
    page.element("p",
                 fmt::format("{}; the objective is {}.",
                             s.iterations > 1 ? fmt::format("After {} iterations", s.iterations)
                                              : "One iteration",
                             real_text(s.trace[0], 7)));
  else
    add_trace_plot(page, s.trace);
  close_card(page);
}

}  // namespace

void add_overview_cards(Markup& page, const ReportInput& input) {
  const std::string map =
      input.points.empty()
          ? std::string()
          : render_point_map({.points = input.points, .labels = input.labels, .names = {}});
  if (!map.empty()) {
    open_card(page, CardWidth::Wide, "Map of the samples");
    page.raw(map);
    close_card(page);
    page.open("div", {{"class", "narrow stack"}});
  }
  add_sizes_card(page, *input.summary);
  add_trace_card(page, *input.summary);
  if (!map.empty()) page.close("div");
}

void add_samples_card(Markup& page, const ReportInput& input) {
  if ((input.image_width == 0 && !input.make_image) || input.points.empty()) return;
  SampleChoice choice;
  if (input.make_image) choice.num_typical = 6;  // colours take room: the page stays small
  const bool has_margins = !input.margins.empty();
  const std::vector<ClusterSamples> samples =
      has_margins ? choose_samples_by_margin(input.labels, input.margins, choice)
                  : choose_samples(input.points, input.labels, choice);
  if (samples.empty()) return;
  std::string note =
      has_margins
          ? "By the margin of the label: the largest decision value minus the second largest."
          : "Most typical: nearest to the cluster's mean. Least sure: nearest to another cluster's "
            "mean compared with their own.";
  if (static_cast<int>(samples.size()) < input.summary->clusters)
    note += fmt::format(" The {} largest of {}.", samples.size(),
                        counted(input.summary->clusters, "cluster"));
  open_card(page, CardWidth::Full, "Images of each cluster", note);
  const FloatView images = input.images.empty() ? input.points : input.images;
  const std::vector<SheetFigure> figures = make_cluster_figures(samples, {}, has_margins);
  page.raw(input.make_image
               ? render_sheets(input.make_image, figures)
               : render_sheets({images, input.image_width, input.image_height}, figures));
  close_card(page);
}

}  // namespace milieu::internal
