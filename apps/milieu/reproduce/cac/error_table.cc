// SPDX-License-Identifier: Apache-2.0
#include "reproduce/cac/error_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/metrics/paired_test.h"

namespace milieu::cli {

ErrorTable::ErrorTable(std::string name, std::string title, std::vector<std::string> methods)
    : name_(std::move(name)), title_(std::move(title)), methods_(std::move(methods)) {}

void ErrorTable::add(const std::string& name, bool has_chosen, const std::vector<double>& figures) {
  names_.push_back(name);
  has_chosen_.push_back(has_chosen);
  errors_.emplace_back();
  seconds_.emplace_back();
  for (size_t i = 0; i + 1 < figures.size(); i += 2) {
    errors_.back().push_back(figures[i]);
    seconds_.back().push_back(figures[i + 1]);
  }
}

// Mean, largest lag of the last method, paired test and seconds over some of the problems.
std::vector<std::vector<std::string>> ErrorTable::summary_rows(bool has_chosen) const {
  std::vector<std::vector<double>> errors(methods_.size()), seconds(methods_.size());
  for (size_t p = 0; p < names_.size(); ++p)
    for (size_t m = 0; m < methods_.size() && has_chosen_[p] == has_chosen; ++m) {
      errors[m].push_back(errors_[p][m]);
      seconds[m].push_back(seconds_[p][m]);
    }
  if (errors[0].size() < 2) return {};
  const char* used = has_chosen ? "yes" : "no";
  std::vector<std::vector<std::string>> rows = {{fmt::format("mean of {}", errors[0].size()), used},
                                                {"cac behind it by at most (points)", used},
                                                {"p of the paired difference from cac", used},
                                                {"CPU seconds", used}};
  for (size_t m = 0; m < methods_.size(); ++m) {
    const bool is_cac = m + 1 == methods_.size();
    double behind = -1;
    for (size_t p = 0; p < errors[m].size(); ++p)
      behind = std::max(behind, errors.back()[p] - errors[m][p]);
    const double p_value = paired_t_test(errors[m], errors.back()).p_value;
    rows[0].push_back(percent_text(mean_of(errors[m])));
    rows[1].push_back(is_cac ? "-" : percent_text(behind));
    rows[2].push_back(is_cac ? "-" : fmt::format("{:.2g}", p_value));
    rows[3].push_back(fmt::format("{:.2f}", mean_of(seconds[m])));
  }
  return rows;
}

void ErrorTable::show(const ReproduceRun& run, std::vector<std::string> notes) const {
  ResultTable table{name_, title_, {"problem", "used for the choice"}, {}, std::move(notes)};
  table.columns.insert(table.columns.end(), methods_.begin(), methods_.end());
  for (size_t p = 0; p < names_.size(); ++p) {
    table.rows.push_back({names_[p], has_chosen_[p] ? "yes" : "no"});
    for (const double error : errors_[p]) table.rows.back().push_back(percent_text(error));
  }
  for (const bool has_chosen : {true, false})
    for (auto& row : summary_rows(has_chosen)) table.rows.push_back(std::move(row));
  run.show(table);
}

}  // namespace milieu::cli
