// SPDX-License-Identifier: Apache-2.0
#include "reproduce/icc_figures.h"

#include <fmt/format.h>

#include "milieu/render/page.h"
#include "milieu/render/svg.h"

namespace milieu::cli {

namespace {

// A line and dots in the series' colour; names are placed at different points, so that they do
// not overlap.
std::string plot_text(const SeriesPlot& figure, size_t number) {
  std::vector<double> xs, ys;
  for (const Series& series : figure.series) {
    xs.insert(xs.end(), series.x.begin(), series.x.end());
    ys.insert(ys.end(), series.y.begin(), series.y.end());
  }
  PlotSpec spec;
  spec.id = fmt::format("figure-{}", number);
  spec.title = figure.title;
  spec.description = fmt::format("{} against {}", figure.y_label, figure.x_label);
  spec.x = fit_axis({.label = figure.x_label}, xs, 0.12);
  spec.y = fit_axis({.label = figure.y_label, .has_grid = true}, ys, 0.12);
  Plot plot(spec);
  const double lift = (spec.y.high - spec.y.low) / 16;
  for (size_t s = 0; s < figure.series.size(); ++s) {
    const Series& series = figure.series[s];
    const Color color = cluster_color(static_cast<int>(s));
    plot.add_line(series.x, series.y, color);
    Dots dots;
    dots.x = series.x;
    dots.y = series.y;
    dots.color = color;
    dots.diameter = 8;
    dots.title = series.name;
    plot.add_dots(dots);
    if (series.x.size() <= s) continue;
    const size_t named = series.x.size() - 1 - s;
    plot.add_label(series.x[named], series.y[named] + lift, series.name);
  }
  return std::move(plot).finish();
}

}  // namespace

void draw_series(const ReproduceRun& run, const std::string& name, const std::string& title,
                 const std::vector<SeriesPlot>& plots) {
  Markup page;
  for (size_t p = 0; p < plots.size(); ++p) {
    open_card(page, CardWidth::Half, plots[p].title,
              fmt::format("{} against {}", plots[p].y_label, plots[p].x_label));
    page.raw(plot_text(plots[p], p));
    close_card(page);
  }
  run.write(name + ".html", render_page(title, std::move(page).finish()));
}

}  // namespace milieu::cli
