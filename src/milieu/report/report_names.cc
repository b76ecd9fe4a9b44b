// SPDX-License-Identifier: Apache-2.0
// The report's names of clusters: the labels that set each apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "milieu/render/number_text.h"
#include "milieu/render/page.h"
#include "milieu/report/report_internal.h"

namespace milieu::internal {

namespace {

constexpr size_t kMaxNamedRows = 100;

std::string labels_text(const std::vector<NamedLabel>& labels) {
  std::vector<std::string> texts;
  for (const NamedLabel& label : labels)
    texts.push_back(fmt::format("{} ({})", label.name, percent_text(label.sure)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

void add_names_card(Markup& page, const ReportInput& input) {
  if (input.part_names.empty()) return;
  const size_t shown = std::min(input.part_names.size(), kMaxNamedRows);
  const bool has_exemplars = std::ranges::any_of(
      input.part_names, [](const PartNames& part) { return !part.exemplar.empty(); });
  Table table{.caption = "Names of the clusters",
              .columns = {{"Cluster", ColumnKind::Number}, {"Labels that set it apart"}},
              .rows = {},
              .links = {}};
  if (has_exemplars) table.columns.push_back({"Labels that set its exemplar apart"});
  for (size_t k = 0; k < shown; ++k) {
    const PartNames& part = input.part_names[k];
    table.rows.push_back(
        {fmt::format("{}", k), part.labels.empty() ? "none" : labels_text(part.labels)});
    if (has_exemplars) table.rows.back().push_back(PartNames{part.exemplar, {}}.title());
  }
  std::string note =
      "From the rest and from the context; in brackets how sure: the share of resamples of the "
      "samples in which the cluster gets the label again.";
  if (shown < input.part_names.size())
    note += fmt::format(" The first {} of {}.", shown, count_text(std::ssize(input.part_names)));
  open_card(page, CardWidth::Full, "Names", note);
  add_table(page, table);
  close_card(page);
}

}  // namespace milieu::internal
