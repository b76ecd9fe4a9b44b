// SPDX-License-Identifier: Apache-2.0
// The report's tables: metrics, clusters against classes, options, details, command.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>

#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/render/svg.h"
#include "milieu/report/report_internal.h"

namespace milieu::internal {
namespace {

constexpr int kMaxHeatRows = 30;
constexpr int kMaxHeatColumns = 20;
constexpr size_t kMaxListed = 12;  // values of a list in the details

struct MetricRow {
  const char* name;
  double value;
  const char* meaning;
};

std::vector<MetricRow> metric_rows(const Metrics& m) {
  return {
      {"accuracy", m.accuracy, "samples right under the best one-to-one matching"},
      {"balanced error", m.balanced_error, "share of wrong samples, mean over the classes"},
      {"NMI", m.nmi, "shared information over the mean entropy"},
      {"NMI, geometric", m.nmi_sqrt, "... over the geometric mean of the entropies"},
      {"NMI, maximum", m.nmi_max, "... over the larger entropy"},
      {"ARI", m.ari, "agreement on pairs; 0 is chance, 1 is equal"},
      {"F, best match", m.f, "each class and the cluster that fits it best"},
      {"F of pairs", m.f_pairwise, "harmonic mean of the two below"},
      {"precision of pairs", m.precision_pairwise, "pairs of a cluster that share their class"},
      {"recall of pairs", m.recall_pairwise, "pairs of a class that share their cluster"},
      {"F, B-cubed", m.f_bcubed, "a sample's cluster and class, mean over the samples"},
      {"purity", m.purity, "samples in the majority class of their cluster"},
  };
}

// Rows or columns of the table of clusters and classes: the largest ones, in their own order.
std::vector<int> largest_indices(const std::vector<int64_t>& sizes, int max_count) {
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sizes[a] > sizes[b]; });
  std::erase_if(order, [&](int i) { return sizes[i] == 0; });
  if (static_cast<int>(order.size()) > max_count) order.resize(max_count);
  std::sort(order.begin(), order.end());
  return order;
}

// Samples of each class in each cluster, for the largest clusters and classes.
struct HeatTable {
  std::vector<int> clusters;  // rows
  std::vector<int> classes;   // columns
  std::vector<std::vector<int64_t>> counts;
  std::vector<int64_t> cluster_sizes;  // by cluster, all of them
  bool is_cut = false;                 // some clusters or classes are not shown
};

// Samples by label, those with both a cluster and a class.
std::vector<int64_t> count_labels(std::span<const int> labels, std::span<const int> others) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || others[i] < 0) continue;
    if (labels[i] >= static_cast<int>(sizes.size())) sizes.resize(labels[i] + 1, 0);
    ++sizes[labels[i]];
  }
  return sizes;
}

// Place of each label among the shown ones, -1 for the others.
std::vector<int> places(const std::vector<int>& shown, size_t num_labels) {
  std::vector<int> place(num_labels, -1);
  for (size_t i = 0; i < shown.size(); ++i) place[shown[i]] = static_cast<int>(i);
  return place;
}

HeatTable count_classes(std::span<const int> labels, std::span<const int> truth) {
  HeatTable table;
  table.cluster_sizes = count_labels(labels, truth);
  const std::vector<int64_t> class_sizes = count_labels(truth, labels);
  table.clusters = largest_indices(table.cluster_sizes, kMaxHeatRows);
  table.classes = largest_indices(class_sizes, kMaxHeatColumns);
  table.counts.assign(table.clusters.size(), std::vector<int64_t>(table.classes.size(), 0));
  const std::vector<int> row = places(table.clusters, table.cluster_sizes.size());
  const std::vector<int> column = places(table.classes, class_sizes.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || truth[i] < 0) continue;
    if (row[labels[i]] < 0 || column[truth[i]] < 0)
      table.is_cut = true;
    else
      ++table.counts[row[labels[i]]][column[truth[i]]];
  }
  return table;
}

void add_heat_table(Markup& page, const HeatTable& table, const std::vector<std::string>& names) {
  page.open("div", {{"class", "scroll"}}).open("table", {{"class", "heat"}});
  page.element("caption", "Samples of each class in each cluster");
  page.open("thead").open("tr").element("th", {{"scope", "col"}}, "Cluster");
  for (int c : table.classes)
    page.element("th", {{"scope", "col"}},
                 c < static_cast<int>(names.size()) ? names[c] : fmt::format("{}", c));
  page.close("tr").close("thead").open("tbody");
  for (size_t row = 0; row < table.clusters.size(); ++row) {
    const int cluster = table.clusters[row];
    page.open("tr").open("th", {{"scope", "row"}});
    add_swatch(page, cluster);
    page.text(fmt::format("{}", cluster)).close("th");
    for (int64_t count : table.counts[row]) {
      const double share =
          static_cast<double>(count) / static_cast<double>(table.cluster_sizes[cluster]);
      page.element("td",
                   {{"style", fmt::format("background:rgba(var(--heat),{:.2f})", 0.5 * share)}},
                   count == 0 ? "·" : count_text(count));
    }
    page.close("tr");
  }
  page.close("tbody").close("table").close("div");
}

template <class T>
std::string list_text(const std::vector<T>& values) {
  const size_t shown = std::min(values.size(), kMaxListed);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    if constexpr (std::is_same_v<T, double>)
      text += real_text(values[i]);
    else
      text += fmt::format("{}", values[i]);
  }
  if (shown < values.size())
    text += fmt::format(", ... ({} values)", count_text(static_cast<int64_t>(values.size())));
  return text;
}

std::string value_text(const SummaryValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>)
          return v ? "yes" : "no";
        else if constexpr (std::is_same_v<T, int64_t>)
          return count_text(v);
        else if constexpr (std::is_same_v<T, double>)
          return real_text(v, 7);
        else if constexpr (std::is_same_v<T, std::string>)
          return v;
        else
          return list_text(v);
      },
      value);
}

// "lower_bound" is "lower bound".
std::string as_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void add_metrics_card(Markup& page, CardWidth width, const Metrics& m) {
  open_card(page, width, "Agreement with the classes",
            fmt::format("{} against {}, {}", count_text(m.num_clusters, "cluster"),
                        count_text(m.num_classes, "class", "classes"), count_text(m.n, "sample")));
  page.open("table").element("caption", "Agreement of clusters and classes");
  page.raw(
      "<thead><tr><th scope=\"col\">Figure</th><th scope=\"col\" class=\"number\">Value</th>"
      "<th scope=\"col\">Meaning</th></tr></thead>\n");
  page.open("tbody");
  for (const MetricRow& row : metric_rows(m)) {
    page.open("tr").element("th", {{"scope", "row"}}, row.name);
    page.open("td", {{"class", "number"}, {"title", fmt::format("{}", row.value)}});
    page.text(fixed_text(row.value, 3)).close("td");
    page.element("td", {{"class", "soft"}}, row.meaning).close("tr");
  }
  page.close("tbody").close("table");
  close_card(page);
}

void add_details_card(Markup& page, CardWidth width, const RunSummary& s) {
  Table table{
      .caption = "More about the run", .columns = {{"Figure"}, {"Value"}}, .rows = {}, .links = {}};
  for (const auto& [name, value] : s.extra)
    table.rows.push_back({as_words(name), value_text(value)});
  open_card(page, width, "More about the run");
  add_table(page, table);
  close_card(page);
}

void add_options_card(Markup& page, CardWidth width, const std::vector<Field>& options) {
  Table table{.caption = "Options of the run",
              .columns = {{"Option", ColumnKind::Code}, {"Value", ColumnKind::Code}, {"Meaning"}},
              .rows = {},
              .links = {}};
  for (const Field& field : options)
    table.rows.push_back({field.name, to_text(field.get()), field.help});
  open_card(page, width, "Options");
  add_table(page, table);
  close_card(page);
}

}  // namespace

void add_table_cards(Markup& page, const ReportInput& input) {
  std::vector<std::function<void(CardWidth)>> cards;
  if (input.metrics)
    cards.push_back([&](CardWidth width) { add_metrics_card(page, width, *input.metrics); });
  if (!input.options.empty())
    cards.push_back([&](CardWidth width) { add_options_card(page, width, input.options); });
  if (!input.summary->extra.empty())
    cards.push_back([&](CardWidth width) { add_details_card(page, width, *input.summary); });
  // Two in a row; a last one without a partner takes the whole row.
  for (size_t i = 0; i < cards.size(); ++i)
    cards[i](i + 1 == cards.size() && i % 2 == 0 ? CardWidth::Full : CardWidth::Half);
}

void add_classes_card(Markup& page, const ReportInput& input) {
  if (input.truth.empty()) return;
  const HeatTable table = count_classes(input.labels, input.truth);
  if (table.clusters.empty()) return;
  open_card(page, CardWidth::Full, "Clusters and classes",
            table.is_cut ? "How many samples of each class each cluster holds; the largest of both."
                         : "How many samples of each class each cluster holds.");
  add_heat_table(page, table, input.class_names);
  close_card(page);
}

void add_command_card(Markup& page, const ReportInput& input) {
  if (input.command.empty()) return;
  open_card(page, CardWidth::Full, "Run it again",
            "The same command on the same data gives the same result, on any number of threads.");
  add_command(page, input.command);
  close_card(page);
}

}  // namespace milieu::internal
