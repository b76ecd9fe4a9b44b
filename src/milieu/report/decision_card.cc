// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/decision_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/svg.h"

namespace milieu {
namespace {

constexpr int kMaxParts = 8;
constexpr int kNumBars = 40;
constexpr Color kContextColor{140, 140, 140};

// The decision values of one part's classifier.
struct PartValues {
  std::vector<double> own, context;
  int64_t num_wrong_own = 0, num_wrong_context = 0;  // on the wrong side of 0
};

PartValues collect_values(const DecisionCardInput& input, int part) {
  PartValues values;
  for (int64_t i = 0; i < input.decisions.rows(); ++i)
    if (input.labels[i] == part) values.own.push_back(input.decisions(i, part));
  for (int64_t i = 0; i < input.context_decisions.rows(); ++i)
    values.context.push_back(input.context_decisions(i, part));
  std::erase_if(values.own, [](double v) { return !std::isfinite(v); });
  std::erase_if(values.context, [](double v) { return !std::isfinite(v); });
  values.num_wrong_own =
      std::count_if(values.own.begin(), values.own.end(), [](double v) { return v <= 0; });
  values.num_wrong_context =
      std::count_if(values.context.begin(), values.context.end(), [](double v) { return v >= 0; });
  return values;
}

// The central 99 % of both, and the margin from -1 to 1 in any case.
Axis find_range(const PartValues& values) {
  std::vector<double> all = values.own;
  all.insert(all.end(), values.context.begin(), values.context.end());
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    return all[static_cast<size_t>(share * static_cast<double>(all.size() - 1))];
  };
  Axis axis;
  axis.label = "decision value";
  axis.low = std::min(-1.5, at(0.005));
  axis.high = std::max(1.5, at(0.995));
  return axis;
}

std::vector<double> count_shares(const std::vector<double>& values, const Axis& axis) {
  std::vector<double> shares(kNumBars);
  for (const double value : values) {
    const double place = (value - axis.low) / (axis.high - axis.low) * kNumBars;
    const int bar = static_cast<int>(std::clamp(place, 0.0, kNumBars - 1.0));
    shares[bar] += 100 / static_cast<double>(values.size());
  }
  return shares;
}

void add_side(const std::vector<double>& shares, const Axis& axis, double sign, Color color,
              const char* of, std::vector<Bar>& bars) {
  const double width = (axis.high - axis.low) / kNumBars;
  for (int i = 0; i < kNumBars; ++i) {
    if (shares[i] == 0) continue;
    const double low = axis.low + i * width;
    bars.push_back({low + 0.06 * width, low + 0.94 * width, sign * shares[i], color,
                    fmt::format("{} % of {} from {} to {}", real_text(shares[i], 3), of,
                                real_text(low, 3), real_text(low + width, 3))});
  }
}

std::string describe(int part, const PartValues& values) {
  return fmt::format("Part {}: {} up, {} down; {} and {} of the context on the wrong side of 0.",
                     part, count_text(static_cast<int64_t>(values.own.size()), "sample"),
                     count_text(static_cast<int64_t>(values.context.size()),
                                "sample of the context", "samples of the context"),
                     count_text(values.num_wrong_own, "sample"),
                     count_text(values.num_wrong_context));
}

void add_plot(Markup& page, int part, const PartValues& values) {
  PlotSpec spec;
  spec.id = fmt::format("decisions-{}", part);
  spec.title = fmt::format("Decision values of part {}", part);
  spec.description = describe(part, values);
  spec.width = 520;
  spec.height = 240;
  spec.x = find_range(values);
  const std::vector<double> own = count_shares(values.own, spec.x);
  const std::vector<double> context = count_shares(values.context, spec.x);
  const double top = values.own.empty() ? 1 : *std::max_element(own.begin(), own.end());
  const double bottom =
      values.context.empty() ? 1 : *std::max_element(context.begin(), context.end());
  spec.y = {.label = "% of the part (up), of the context (down)",
            .low = -1.08 * bottom,
            .high = 1.08 * top,
            .has_grid = true};
  std::vector<Bar> bars;
  add_side(own, spec.x, 1, cluster_color(part), "the part's samples", bars);
  add_side(context, spec.x, -1, kContextColor, "the context", bars);
  Plot plot(spec);
  plot.add_bars(bars);
  for (const double edge : {-1.0, 0.0, 1.0}) {
    const double x[] = {edge, edge}, y[] = {spec.y.low, spec.y.high};
    plot.add_line(x, y);
  }
  page.open("figure").raw(std::move(plot).finish());
  page.element("figcaption", spec.description).close("figure");
}

}  // namespace

std::string render_decision_cards(const DecisionCardInput& input) {
  require(static_cast<int64_t>(input.labels.size()) == input.decisions.rows() &&
              (input.context_decisions.rows() == 0 ||
               input.context_decisions.cols() == input.decisions.cols()),
          "render_decision_cards: labels, decisions and context_decisions do not match");
  if (input.decisions.rows() == 0) return {};
  const int num_parts = static_cast<int>(input.decisions.cols());
  const int num_shown = std::min(num_parts, kMaxParts);
  Markup page;
  for (int part = 0; part < num_shown; ++part) {
    const PartValues values = collect_values(input, part);
    if (values.own.empty() && values.context.empty()) continue;
    open_card(page, CardWidth::Half, fmt::format("Part {} against the context", part),
              "Its samples (up) should lie right of 1, the context (down) left of -1." +
                  (part == 0 && num_shown < num_parts
                       ? fmt::format(" The first {} of {} parts are shown.", num_shown, num_parts)
                       : std::string()));
    add_plot(page, part, values);
    close_card(page);
  }
  return std::move(page).finish();
}

}  // namespace milieu
