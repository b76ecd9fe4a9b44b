// SPDX-License-Identifier: Apache-2.0
#include "cli/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/render/number_text.h"

namespace milieu::cli {

namespace {

constexpr size_t kMaxBars = 20;      // clusters that are all shown
constexpr size_t kLargestBars = 10;  // shown of more than that
constexpr int kBarWidth = 40;

// A bar whose length is `share` of the full width; in blocks of eighths where the locale has them.
std::string size_bar(double share, bool has_unicode) {
  if (!has_unicode) return std::string(static_cast<size_t>(share * kBarWidth + 0.5), '#');
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(share * kBarWidth * 8 + 0.5);
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::string sizes_text(const RunSummary& summary, const Console& console) {
  std::vector<size_t> order(summary.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const bool has_many = order.size() > kMaxBars;
  if (has_many)
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return summary.sizes[a] > summary.sizes[b]; });
  const size_t shown = has_many ? kLargestBars : order.size();
  const int64_t largest = *std::max_element(summary.sizes.begin(), summary.sizes.end());
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const int64_t size = summary.sizes[order[i]];
    const double share = largest > 0 ? static_cast<double>(size) / static_cast<double>(largest) : 0;
    text += fmt::format("  cluster {:>4}  {:>9}  {}\n", order[i], count_text(size),
                        console.paint(Style::Cyan, size_bar(share, console.has_unicode())));
  }
  if (has_many)
    text += fmt::format("  and {} more of {} to {}\n", count_text(order.size() - shown),
                        count_text(summary.sizes[order.back()]),
                        count_text(summary.sizes[order[shown]], "sample"));
  const int64_t placed = std::accumulate(summary.sizes.begin(), summary.sizes.end(), int64_t{0});
  if (placed < summary.n)
    text += fmt::format("  in no cluster  {:>7}\n", count_text(summary.n - placed));
  return text;
}

// Single values only; lists belong to the JSON and the report.
std::string extra_text(const RunSummary& summary) {
  std::string text;
  for (const auto& [name, value] : summary.extra) {
    std::string shown;
    if (const auto* flag = std::get_if<bool>(&value)) shown = *flag ? "yes" : "no";
    if (const auto* number = std::get_if<int64_t>(&value))
      shown = *number < 0 ? fmt::format("{}", *number) : count_text(*number);
    if (const auto* number = std::get_if<double>(&value)) shown = fmt::format("{:.6g}", *number);
    if (const auto* word = std::get_if<std::string>(&value)) shown = *word;
    if (shown.empty()) continue;
    std::string title = name;
    std::replace(title.begin(), title.end(), '_', ' ');
    text += fmt::format("  {}: {}\n", title, shown);
  }
  return text;
}

}  // namespace

std::string dataset_text(const Dataset& data, const std::string& feature) {
  std::string text =
      fmt::format("read {}: {}", data.source, count_text(data.points.rows(), "sample"));
  if (data.points.cols() > 1) text += fmt::format(" x {}", count_text(data.points.cols()));
  if (!data.labels.empty()) {
    std::vector<char> is_used(data.labels.names.size(), 0);
    for (int label : data.labels.indices)
      if (label >= 0) is_used[label] = 1;
    text += fmt::format(", {}",
                        counted(std::count(is_used.begin(), is_used.end(), 1), "class", "classes"));
  }
  if (!data.rows.empty()) text += ", selected";
  if (!feature.empty()) text += fmt::format(", described by {}", feature);
  return text;
}

std::string summary_text(const RunSummary& summary, const Console& console) {
  std::string text = console.paint(Style::Bold, summary.brief()) + "\n";
  if (summary.num_restarts > 1)
    text +=
        fmt::format("  restart {} of {} was the best\n", summary.restart + 1, summary.num_restarts);
  text += extra_text(summary);
  if (!summary.sizes.empty()) text += sizes_text(summary, console);
  return text;
}

std::string metrics_table(const Metrics& metrics) {
  const std::vector<std::pair<const char*, double>> figures = {
      {"accuracy", metrics.accuracy},
      {"error", metrics.error},
      {"balanced_error", metrics.balanced_error},
      {"nmi", metrics.nmi},
      {"nmi_max", metrics.nmi_max},
      {"nmi_sqrt", metrics.nmi_sqrt},
      {"ari", metrics.ari},
      {"f", metrics.f},
      {"f_pairwise", metrics.f_pairwise},
      {"precision_pairwise", metrics.precision_pairwise},
      {"recall_pairwise", metrics.recall_pairwise},
      {"f_bcubed", metrics.f_bcubed},
      {"precision_bcubed", metrics.precision_bcubed},
      {"recall_bcubed", metrics.recall_bcubed},
      {"purity", metrics.purity},
  };
  std::string text;
  for (const auto& [name, value] : figures) text += fmt::format("  {:<20} {:>8.4f}\n", name, value);
  return text;
}

std::string metrics_line(const Metrics& metrics) {
  return fmt::format("against the truth: accuracy {:.4f}, nmi {:.4f}, ari {:.4f}, purity {:.4f}",
                     metrics.accuracy, metrics.nmi, metrics.ari, metrics.purity);
}

}  // namespace milieu::cli
