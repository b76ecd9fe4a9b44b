// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_images.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/render/contact_sheet.h"
#include "milieu/render/point_map.h"

namespace milieu::cli {

namespace {

constexpr size_t kImagesOfPart = 10;
constexpr size_t kImagesOfSet = 20;
constexpr size_t kStrips = 4;  // of a class

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

// For every class, some classes of `strips` that lie in it, whole.
std::vector<SheetFigure> figures_of_strips(const Labels& classes, const Labels& strips) {
  std::vector<std::vector<int64_t>> members(strips.names.size());
  for (size_t i = 0; i < strips.indices.size(); ++i)
    members[static_cast<size_t>(strips.indices[i])].push_back(static_cast<int64_t>(i));
  std::vector<SheetFigure> figures;
  for (size_t c = 0; c < classes.names.size(); ++c)
    figures.push_back({classes.names[c], static_cast<int>(c), 0, {}});
  for (size_t s = 0; s < members.size(); ++s) {
    SheetFigure& figure =
        figures[static_cast<size_t>(classes.indices[static_cast<size_t>(members[s].front())])];
    figure.size += static_cast<int64_t>(members[s].size());
    if (figure.strips.size() < kStrips)
      figure.strips.push_back({strips.names[s], "images of " + strips.names[s], members[s]});
  }
  return figures;
}

}  // namespace

std::vector<int> match_to_classes(std::span<const int> labels, const Metrics& metrics) {
  const std::vector<int>& matching = metrics.class_from_cluster;
  std::vector<bool> is_used(matching.size() + static_cast<size_t>(metrics.num_classes));
  for (const int c : matching)
    if (c >= 0) is_used[static_cast<size_t>(c)] = true;
  std::vector<int> number(matching.size());
  int next = 0;
  for (size_t c = 0; c < matching.size(); ++c) {
    while (is_used[static_cast<size_t>(next)]) ++next;
    number[c] = matching[c] >= 0 ? matching[c] : next++;
  }
  std::vector<int> matched;
  for (const int label : labels)
    matched.push_back(label >= 0 && label < static_cast<int>(number.size())
                          ? number[static_cast<size_t>(label)]
                          : -1);
  return matched;
}

std::string draw_sheet(const DemoStory& story, const DemoSheet& sheet) {
  const DemoSet& set = story.set(sheet.set);
  const DemoTruth* truth = find_truth(set, sheet.truth);
  if (const DemoTruth* strips = find_truth(set, sheet.strips))
    return render_sheets(images_of(set), figures_of_strips(truth->labels, strips->labels));
  if (truth != nullptr)
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

std::string draw_map(const DemoStory& story, const DemoMap& map) {
  const DemoTruth* truth = find_truth(story.set(map.truth_set), map.truth);
  return render_point_map({.points = story.set(map.set).rows.view(),
                           .labels = truth->labels.indices,
                           .names = truth->labels.names,
                           .id = fmt::format("map-{}-{}", story.name, map.truth),
                           .noun = map.truth});
}

std::string draw_hits(const DemoRun& run) {
  const DemoMap& map = run.story().maps[0];
  const std::string& asked = run.story().columns[0].first;
  const std::vector<int>& truth = find_truth(run.set(), asked)->labels.indices;
  const std::span<const int> labels = run.job().word_truth == asked ? run.words() : run.labels();
  std::vector<int> hits = match_to_classes(labels, *run.metrics(asked));
  for (size_t i = 0; i < hits.size(); ++i) hits[i] = hits[i] != truth[i];
  return render_point_map({.points = run.story().set(map.set).rows.view(),
                           .labels = hits,
                           .names = {"right", "wrong"},
                           .id = "map-" + run.name(),
                           .noun = "answer"});
}

}  // namespace milieu::cli
