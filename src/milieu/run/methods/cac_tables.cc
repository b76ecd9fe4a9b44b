// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "milieu/data/csv_text.h"
#include "milieu/run/methods/cac.h"

namespace milieu {

namespace {

std::string words_csv(const CacResult& result, const Dataset& data) {
  CsvWriter table;
  table.row("row", "view", "word", "margin");
  const auto n = static_cast<size_t>(data.points.rows());
  for (size_t p = 0; p < result.words.size(); ++p) {
    const size_t i = p % n;
    table.row(data.rows.empty() ? static_cast<int64_t>(i) : data.rows[i], p / n, result.words[p],
              p < result.margins.size() ? std::optional(result.margins[p]) : std::nullopt);
  }
  return table.text();
}

std::string steps_csv(const CacResult& result, const CacErrors& errors) {
  CsvWriter table;
  for (const char* name : {"step", "iteration", "lambda", "j", "j1", "j2"}) table.cell(name);
  if (!errors.phrases.empty()) table.cell("error");
  if (!errors.words.empty()) table.cell("word_error");
  table.end_row();
  for (size_t s = 0; s < result.steps.size(); ++s) {
    const CacStep& step = result.steps[s];
    table.cell(to_string(step.kind)).cell(step.iteration).cell(step.lambda).cell(step.objective());
    table.cell(step.words_objective).cell(step.context_objective);
    for (const auto* list : {&errors.phrases, &errors.words})
      if (s < list->size()) table.cell((*list)[s]);
    table.end_row();
  }
  return table.text();
}

const std::vector<double>* find_list(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get_if<std::vector<double>>(&value);
  return nullptr;
}

// Calls visit(what, values, stability) for each curve of the summary.
template <class Visit>
void visit_curves(const RunSummary& summary, Visit&& visit) {
  std::vector<std::string> options = {"phrases", "words"};
  for (const auto& [key, value] : summary.extra)  // view_1_words: of one view alone
    if (key.starts_with("view_") && key.ends_with("_tried"))
      options.push_back(key.substr(0, key.size() - std::string_view("_tried").size()));
  options.emplace_back("tau");
  for (const std::string& what : options) {
    const auto* values = find_list(summary, fmt::format("{}_tried", what));
    const auto* stability = find_list(summary, fmt::format("{}_stability", what));
    if (values && stability && values->size() == stability->size())
      visit(what, *values, *stability);
  }
}

// For each of `count` units the label that most of its entries have, by weight; ties to the lowest,
// -1 for a unit without entries.
class LabelVote {
 public:
  LabelVote(size_t count, int num_labels) : weights_(count, num_labels) {}
  void add(size_t unit, int label, double weight) {
    if (label >= 0) weights_(static_cast<int64_t>(unit), label) += weight;
  }
  std::vector<int> winners() const {
    std::vector<int> labels;
    for (int64_t u = 0; u < weights_.rows(); ++u) {
      const auto row = weights_.row_span(u);
      const auto most = std::max_element(row.begin(), row.end());
      labels.push_back(most == row.end() || *most == 0 ? -1 : static_cast<int>(most - row.begin()));
    }
    return labels;
  }

 private:
  Matrix<double> weights_;
};

int num_phrases_of(const CacResult& result) {
  return static_cast<int>(result.model.compositions.rows());
}

}  // namespace

std::string stability_csv(const RunSummary& summary) {
  CsvWriter table;
  visit_curves(summary, [&](const std::string& what, const auto& values, const auto& stability) {
    if (table.text().empty()) table.row("option", "value", "stability");
    for (size_t i = 0; i < values.size(); ++i) table.row(what, values[i], stability[i]);
  });
  return table.text();
}

std::string stability_text(const RunSummary& summary) {
  constexpr double kWidth = 40;
  std::string text;
  visit_curves(summary, [&](const std::string& what, const auto& values, const auto& stability) {
    text += fmt::format("{:<8} agreement of the restarts\n", what);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto length = static_cast<size_t>(kWidth * std::clamp(stability[i], 0.0, 1.0));
      text += fmt::format("{:>8} {:>6.3f} {}\n", values[i], stability[i], std::string(length, '#'));
    }
  });
  return text;
}

std::vector<int> phrases_of_images(const CacResult& result, std::span<const int> images,
                                   size_t num_images) {
  LabelVote vote(num_images, num_phrases_of(result));
  for (size_t i = 0; i < images.size(); ++i)
    vote.add(static_cast<size_t>(images[i]), result.phrases[i], 1);
  return vote.winners();
}

std::vector<int> phrases_of_members(const CacResult& result, const ContextGroups& groups) {
  LabelVote vote(static_cast<size_t>(groups.num_samples), num_phrases_of(result));
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e)
      vote.add(static_cast<size_t>(groups.members[e]), result.phrases[g],
               groups.member_weight(e) * groups.group_weight(g));
  return vote.winners();
}

std::vector<ResultFile> cac_tables(const CacResult& result, const Dataset& data,
                                   const CacErrors& errors) {
  std::string phrases;
  for (const std::string& line : describe_phrases(result.model)) phrases += line + "\n";
  std::vector<ResultFile> files = {{"words.csv", words_csv(result, data)},
                                   {"phrases.txt", phrases},
                                   {"steps.csv", steps_csv(result, errors)}};
  const std::string curves = stability_csv(result.summary);
  if (!curves.empty()) files.push_back({"stability.csv", curves});
  return files;
}

}  // namespace milieu
