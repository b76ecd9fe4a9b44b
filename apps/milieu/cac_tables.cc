// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "cac_method.h"

namespace milieu::cli {

namespace {

std::string words_csv(const CacResult& result, const Dataset& data) {
  std::string text = "row,view,word,margin\n";
  const auto n = static_cast<size_t>(data.points.rows());
  for (size_t p = 0; p < result.words.size(); ++p) {
    const size_t i = p % n;
    const int64_t row = data.rows.empty() ? static_cast<int64_t>(i) : data.rows[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},", row, p / n, result.words[p]);
    if (p < result.margins.size())
      fmt::format_to(std::back_inserter(text), "{}", result.margins[p]);
    text += "\n";
  }
  return text;
}

std::string steps_csv(const CacResult& result, const CacErrors& errors) {
  std::string text = "step,iteration,lambda,j,j1,j2";
  if (!errors.phrases.empty()) text += ",error";
  if (!errors.words.empty()) text += ",word_error";
  text += "\n";
  for (size_t s = 0; s < result.steps.size(); ++s) {
    const CacStep& step = result.steps[s];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}", to_string(step.kind),
                   step.iteration, step.lambda, step.objective(), step.words_objective,
                   step.context_objective);
    for (const auto* list : {&errors.phrases, &errors.words})
      if (s < list->size()) fmt::format_to(std::back_inserter(text), ",{}", (*list)[s]);
    text += "\n";
  }
  return text;
}

}  // namespace

std::vector<ResultFile> cac_tables(const CacResult& result, const Dataset& data,
                                   const CacErrors& errors) {
  std::string phrases;
  for (const std::string& line : describe_phrases(result.model)) phrases += line + "\n";
  return {{"words.csv", words_csv(result, data)},
          {"phrases.txt", phrases},
          {"steps.csv", steps_csv(result, errors)}};
}

}  // namespace milieu::cli
