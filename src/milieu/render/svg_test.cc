// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PlotSpec unit_spec() {
  PlotSpec spec;
  spec.id = "p";
  spec.title = "a < b";
  spec.description = "words";
  spec.x = {.label = "x"};
  spec.y = {.label = "y"};
  return spec;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Svg, CoordinatesAreShort) {
  EXPECT_EQ(coordinate_text(1), "1");
  EXPECT_EQ(coordinate_text(1.5), "1.5");
  EXPECT_EQ(coordinate_text(100), "100");
  EXPECT_EQ(coordinate_text(-0.001), "0");
  EXPECT_EQ(coordinate_text(1.0 / 3), "0.33");
}

TEST(Svg, FittedAxisHoldsAllFiniteValues) {
  const std::vector<double> values = {2, kNan, -1, INFINITY};
  const Axis axis = fit_axis({}, values, 0.1);
  EXPECT_NEAR(axis.low, -1.3, 1e-12);
  EXPECT_NEAR(axis.high, 2.3, 1e-12);
}

TEST(Svg, FittedAxisAlwaysHasAWidth) {
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const std::vector<double>& values :
       std::vector<std::vector<double>>{{},
                                        {kNan},
                                        {0},
                                        {5, 5},
                                        {-1e300},
                                        {kMax, -kMax},
                                        {1, std::nextafter(1.0, 2.0)},
                                        {5e-324}}) {
    const Axis axis = fit_axis({}, values, 0.05);
    EXPECT_LT(axis.low, axis.high);
    EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high));
    for (double value : values)
      EXPECT_TRUE(!std::isfinite(value) || (axis.low <= value && value <= axis.high)) << value;
  }
}

TEST(Svg, PositionsAreLinearAndUpwards) {
  const Plot plot(unit_spec());
  EXPECT_LT(plot.to_view_x(0), plot.to_view_x(1));
  EXPECT_GT(plot.to_view_y(0), plot.to_view_y(1));
  EXPECT_NEAR(plot.to_view_x(0.5), (plot.to_view_x(0) + plot.to_view_x(1)) / 2, 1e-9);
}

TEST(Svg, LineIsBrokenWhereAValueIsMissing) {
  Plot plot(unit_spec());
  const std::vector<double> x = {0, 0.2, 0.4, 0.6, 0.8}, y = {0, 1, kNan, 0.5, INFINITY};
  plot.add_line(x, y);
  const std::string svg = std::move(plot).finish();
  const std::string path = svg.substr(svg.find("class=\"line\""));
  const std::string data = path.substr(path.find(" d=\""), path.find("/>") - path.find(" d=\""));
  EXPECT_EQ(count_of(data, "M"), 2);
  EXPECT_EQ(count_of(data, "L"), 1);
  EXPECT_THAT(find_markup_faults(svg), IsEmpty());
}

TEST(Svg, SeveralLinesHaveColoursOfTheirOwn) {
  Plot plot(unit_spec());
  const std::vector<double> x = {0, 1}, y = {0, 1};
  plot.add_line(x, y, cluster_color(0));
  plot.add_line(x, y, cluster_color(1));
  const std::string svg = std::move(plot).finish();
  for (const int line : {0, 1})
    EXPECT_EQ(count_of(svg, "stroke=\"" + to_hex(cluster_color(line)) + "\""), 1) << line;
  EXPECT_THAT(find_markup_faults(svg), IsEmpty());
}

TEST(Svg, MarkersBarsAndDotsLeaveOutWhatIsNotFinite) {
  Plot plot(unit_spec());
  const std::vector<double> x = {0, kNan, 0.5}, y = {0, 0, INFINITY};
  const std::vector<std::string> titles = {"first <1>", "second", "third"};
  plot.add_markers(x, y, titles, true);
  plot.add_bars(std::vector<Bar>{{0, 0.5, 0.7, {}, "seven"}, {0.5, 1, kNan, {}, "none"}});
  plot.add_dots({.x = x, .y = y, .color = {}, .title = "group", .class_name = "k0"});
  plot.add_label(0.5, 0.5, "a & b");
  const std::string svg = std::move(plot).finish();
  EXPECT_THAT(find_markup_faults(svg), IsEmpty());
  EXPECT_EQ(count_of(svg, "<circle"), 1);
  EXPECT_EQ(count_of(svg, "<rect"), 1);
  EXPECT_EQ(count_of(svg, "h0"), 1);
  EXPECT_THAT(svg, HasSubstr("first &lt;1&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("second")));
}

TEST(Svg, ScreenReadersGetTitleAndDescription) {
  const std::string svg = Plot(unit_spec()).finish();
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("<title id=\"p-title\">a &lt; b</title>"));
  EXPECT_THAT(svg, HasSubstr("<desc id=\"p-desc\">words</desc>"));
  EXPECT_THAT(svg, HasSubstr("aria-labelledby=\"p-title p-desc\""));
}

TEST(Svg, PowerOfTenGoesToTheAxisTitle) {
  PlotSpec spec = unit_spec();
  spec.y.high = 5e8;
  EXPECT_THAT(Plot(spec).finish(), HasSubstr("y (×10⁸)"));
}

TEST(Svg, HiddenAxisHasNoTicks) {
  PlotSpec spec = unit_spec();
  spec.x.is_hidden = spec.y.is_hidden = true;
  EXPECT_THAT(Plot(spec).finish(), Not(HasSubstr("class=\"tick\"")));
}

}  // namespace
}  // namespace milieu
