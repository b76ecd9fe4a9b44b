// SPDX-License-Identifier: Apache-2.0
// The page of a learned distance: weights of the candidates, the objective with its parts, and in
// words which candidates were switched off.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/summary.h"

namespace MILIEU_API milieu {

struct LearnReportInput {
  const RunSummary* summary = nullptr;
  std::vector<Field> options;
  std::string command;                // the exact command line; may be empty
  std::string source;                 // what was learned from
  std::vector<std::string> names;     // F candidates
  std::vector<double> weights;        // F, of the candidates as given
  std::vector<double> shares;         // F, part of each in the mean learned distance
  std::vector<double> energy, bound;  // one per round; may be empty
};

std::string render_learn_report(const LearnReportInput& input);

// The bars by themselves: candidates in their order, names where there are few. Markup of an <svg>.
std::string render_weight_bars(std::span<const std::string> names, std::span<const double> shares,
                               const std::string& id);

// Some lines over the same steps, each with its name at its end. Markup of an <svg>.
struct NamedLine {
  std::string name;
  std::vector<double> x, y;
};
std::string render_lines(const std::string& id, const std::string& title,
                         const std::string& x_label, const std::string& y_label,
                         const std::vector<NamedLine>& lines);

}  // namespace milieu
