// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_images.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/render/color.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/html.h"
#include "milieu/render/png.h"

namespace milieu::cli {

namespace {

constexpr size_t kImagesOfPart = 10;
constexpr size_t kImagesOfSet = 20;
constexpr int kPlanCell = 28;  // pixels of a plan per tile

// `count` of them, evenly spaced.
std::vector<int64_t> thin_out(const std::vector<int64_t>& rows, size_t count) {
  if (rows.size() <= count) return rows;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < count; ++i) kept.push_back(rows[i * (rows.size() - 1) / (count - 1)]);
  return kept;
}

ImageRows images_of(const DemoSet& set) {
  return {set.rows.view(), set.image_side, set.image_side};
}

SheetFigure figure_of(const std::string& title, int color, const std::vector<int64_t>& rows,
                      size_t count) {
  SheetFigure figure{title, color, static_cast<int64_t>(rows.size()), {}};
  figure.strips.push_back({"", "images of " + title, thin_out(rows, count)});
  return figure;
}

// A figure per label >= 0.
std::vector<SheetFigure> figures_by_label(std::span<const int> labels,
                                          const std::vector<std::string>& names) {
  const int count = labels.empty() ? 0 : 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(count));
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) rows[static_cast<size_t>(labels[i])].push_back(static_cast<int64_t>(i));
  std::vector<SheetFigure> figures;
  for (size_t c = 0; c < rows.size(); ++c)
    if (!rows[c].empty())
      figures.push_back(figure_of(c < names.size() ? names[c] : fmt::format("part {}", c + 1),
                                  static_cast<int>(c), rows[c], kImagesOfPart));
  return figures;
}

std::string image_markup(const RasterImage& image, int width, const std::string& alt) {
  Markup markup;
  markup.leaf("img", {{"src", png_data_uri(encode_png(image))},
                      {"alt", alt},
                      {"style", fmt::format("width:100%;max-width:{}px;height:auto", width)}});
  return std::move(markup).finish();
}

}  // namespace

std::vector<int> match_to_classes(std::span<const int> labels, const Metrics& metrics) {
  const std::vector<int>& matching = metrics.class_from_cluster;
  std::vector<int> number(matching.size());
  int next = metrics.num_classes;
  for (size_t c = 0; c < matching.size(); ++c) number[c] = matching[c] >= 0 ? matching[c] : next++;
  std::vector<int> matched;
  for (const int label : labels)
    matched.push_back(label >= 0 && label < static_cast<int>(number.size())
                          ? number[static_cast<size_t>(label)]
                          : -1);
  return matched;
}

std::string draw_sheet(const DemoStory& story, const DemoSheet& sheet) {
  const DemoSet& set = story.set(sheet.set);
  if (const DemoTruth* truth = find_truth(set, sheet.truth))
    return render_sheets(images_of(set),
                         figures_by_label(truth->labels.indices, truth->labels.names));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < set.rows.rows(); ++i) rows.push_back(i);
  return render_sheets(images_of(set), {figure_of(set.about, -1, rows, kImagesOfSet)});
}

std::string draw_parts(const DemoRun& run) {
  const auto& [name, heading] = run.story().columns[0];
  std::string by = name;
  for (const auto& [truth, column] : run.story().columns)  // a run is shown by its own question
    if (truth == run.job().truth) by = truth;
  const DemoTruth* truth = find_truth(run.set(), by);
  std::vector<int> labels = match_to_classes(run.labels(), *run.metrics(by));
  for (size_t i = 0; i < labels.size(); ++i)
    if (truth->labels.indices[i] < 0) labels[i] = -1;
  std::vector<SheetFigure> figures = figures_by_label(labels, {});
  return render_sheets(images_of(run.set()), figures);
}

std::string draw_wall(const DemoStory& story) {
  const DemoSet& wall = story.sets[0];
  const int side = story.grid_side * wall.image_side;
  RasterImage image(side, side, 1);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int64_t tile = int64_t{y / wall.image_side} * story.grid_side + x / wall.image_side;
      const int pixel = y % wall.image_side * wall.image_side + x % wall.image_side;
      image.at(x, y)[0] = static_cast<uint8_t>(255 * (1 - wall.rows(tile, pixel)) + 0.5f);
    }
  return image_markup(image, side, "the wall");
}

std::string draw_plan(int side, std::span<const int> labels, const std::string& alt) {
  RasterImage image(side * kPlanCell, side * kPlanCell, 3);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const int label = labels[static_cast<size_t>(y / kPlanCell * side + x / kPlanCell)];
      const Color color = cluster_color(label);
      uint8_t* pixel = image.at(x, y);
      pixel[0] = color.r;
      pixel[1] = color.g;
      pixel[2] = color.b;
    }
  return image_markup(image, image.width, alt);
}

}  // namespace milieu::cli
