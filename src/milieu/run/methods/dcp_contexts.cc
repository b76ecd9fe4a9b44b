// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/dcp_contexts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/selection.h"
#include "milieu/dcp/dcp_vote.h"

namespace milieu {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json to_json(const DcpContextSplit& split) {
  return {{"name", split.name},
          {"objective", split.objective},
          {"separation", split.separation},
          {"confidence", split.confidence},
          {"agreement", split.agreement},
          {"stability", split.stability},
          {"seconds", split.seconds},
          {"labels", split.labels}};
}

DcpContextSplit from_json(const Json& json) {
  return {json.at("name"),       json.at("labels"),    json.at("objective"), json.at("separation"),
          json.at("confidence"), json.at("agreement"), json.at("stability"), json.at("seconds")};
}

void check_labels(const DcpContextSplit& split, const RankingShape& shape,
                  const std::string& path) {
  const auto count = static_cast<int64_t>(split.labels.size());
  if (count != shape.num_samples)
    throw DataError(fmt::format("{} has {} labels for context {}, there are {} samples: remove it",
                                path, count, split.name, shape.num_samples));
  for (const int label : split.labels)
    if (label < 0 || label >= shape.num_parts)
      throw DataError(fmt::format("{} has the label {} for context {}, must be 0 to {}: remove it",
                                  path, label, split.name, shape.num_parts - 1));
}

std::vector<int64_t> part_sizes(const std::vector<int>& labels) {
  std::vector<int64_t> sizes;
  for (const int label : labels) {
    if (label >= static_cast<int>(sizes.size())) sizes.resize(label + 1);
    ++sizes[label];
  }
  return sizes;
}

constexpr const char* kAllContexts = "all contexts";

// The rows of all of them, in order. Throws DataError when they do not have the same columns.
Dataset joined(const std::vector<Dataset>& contexts) {
  int64_t rows = 0;
  for (const Dataset& one : contexts) rows += one.points.rows();
  Matrix<float> points(rows, contexts[0].points.cols());
  int64_t at = 0;
  for (const Dataset& one : contexts) {
    if (one.points.cols() != points.cols())
      throw DataError(fmt::format("the contexts have {} and {} columns: they must match",
                                  points.cols(), one.points.cols()));
    const FloatView view = one.points.view();
    for (int64_t i = 0; i < view.rows(); ++i)
      std::copy_n(view.row(i), view.cols(), points.row(at++));
  }
  Dataset all;
  all.points = Points(std::move(points));
  return all;
}

// The files' names without their endings, unless another file would then have the same name.
std::vector<std::string> context_names(const std::vector<fs::path>& files) {
  std::map<std::string, int> uses;
  for (const fs::path& file : files) ++uses[file.stem().string()];
  std::vector<std::string> names;
  for (const fs::path& file : files)
    names.push_back((uses[file.stem().string()] > 1 ? file.filename() : file.stem()).string());
  return names;
}

// Classes that have no row but the given ones: what is left of the others can be a context.
std::vector<bool> whole_classes_in(const std::vector<int64_t>& rows, const Labels& all) {
  std::vector<bool> is_whole(all.names.size(), true);
  for (size_t i = 0; i < all.indices.size(); ++i)
    if (all.indices[i] >= 0 &&
        !std::binary_search(rows.begin(), rows.end(), static_cast<int64_t>(i)))
      is_whole[static_cast<size_t>(all.indices[i])] = false;
  return is_whole;
}

}  // namespace

std::vector<DcpContext> ContextCandidates::views() const {
  std::vector<DcpContext> views;
  for (size_t i = 0; i < data.size(); ++i) views.push_back({names[i], data[i].points.view()});
  return views;
}

ContextCandidates candidates_from_folder(const std::string& folder, int num_threads) {
  if (!fs::is_directory(folder))
    throw InvalidArgument(fmt::format(
        "context is {}, but rank_contexts takes a folder with one file per context", folder));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw DataError(fmt::format("{} has no files: put one file per context into it", folder));
  ContextCandidates candidates;
  LoadOptions plain;
  plain.num_threads = num_threads;
  for (const fs::path& file : files) candidates.data.push_back(load_dataset(file.string(), plain));
  candidates.names = context_names(files);
  if (files.size() > 1) {
    candidates.data.push_back(joined(candidates.data));
    candidates.names.push_back(kAllContexts);
  }
  return candidates;
}

ContextCandidates candidates_from_classes(const Input& input, const SplitRows& split,
                                          const std::string& classes) {
  if (split.select.empty() && split.rows.empty())
    throw InvalidArgument(
        "rank_contexts needs select: give the classes to split, the others are the contexts");
  const RowSource& source = *input.source;
  const Labels& all = source.labels();
  const std::vector<bool> is_split = split.select.empty()
                                         ? whole_classes_in(split.rows, all)
                                         : kept_classes(split.select, all, source.labels_source());
  const std::vector<bool> is_wanted = classes.empty()
                                          ? std::vector<bool>(all.names.size(), true)
                                          : kept_classes(classes, all, source.labels_source());
  ContextCandidates candidates;
  std::string together;
  for (size_t c = 0; c < all.names.size(); ++c) {
    if (!is_wanted[c] || is_split[c]) continue;
    candidates.data.push_back(input.take_classes(selection_item(all.names[c])));
    candidates.names.push_back(all.names[c]);
    together += (together.empty() ? "" : ",") + selection_item(all.names[c]);
  }
  if (candidates.names.size() > 1) {
    candidates.data.push_back(input.take_classes(together));
    candidates.names.push_back(kAllContexts);
  }
  if (candidates.data.empty())
    throw InvalidArgument(fmt::format(
        "select is '{}', which leaves no class to be a context: select fewer", split.select));
  return candidates;
}

namespace {

DcpContextSplit read_split(std::string_view text, const RankingShape& shape,
                           const std::string& path) {
  try {
    DcpContextSplit split = from_json(Json::parse(text));
    check_labels(split, shape, path);
    return split;
  } catch (const Json::exception&) {
    throw DataError(fmt::format("{} does not hold a ranking: choose another file", path));
  }
}

}  // namespace

RankingState::RankingState(const std::string& path, const std::string& key,
                           const RankingShape& shape, KnownSplits& known)
    : journal_(path, {"ranking", key}, [&](std::string_view text) {
        DcpContextSplit split = read_split(text, shape, path);
        known.insert_or_assign(split.name, std::move(split));
      }) {}

void RankingState::keep(const DcpContextSplit& split) {
  journal_.append(to_json(split).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void sample_cell(const Dataset& data, size_t i, CsvWriter& table) {
  if (data.sample_names.empty())
    table.cell(data.rows.empty() ? static_cast<int64_t>(i) : data.rows[i]);
  else
    table.cell(data.sample_names[i]);
}

std::string ranking_text(const DcpRanking& ranking) {
  size_t width = 7;
  for (const DcpRankedContext& one : ranking.contexts)
    width = std::max(width, one.split.name.size());
  std::string text =
      fmt::format("\n  {:>4}  {:<{}}  {:>6}  {:>10}  {:>9}  {:>9}  {}\n", "rank", "context", width,
                  "match", "confidence", "consensus", "stability", "sizes");
  int rank = 0;
  for (const DcpRankedContext& one : ranking.contexts)
    text += fmt::format("  {:>4}  {:<{}}  {:>6.3f}  {:>10.2f}  {:>9.3f}  {:>9.3f}  {}{}\n", ++rank,
                        one.split.name, width, one.match, one.split.confidence, one.consensus,
                        one.split.stability, fmt::join(part_sizes(one.split.labels), " "),
                        one.is_outlier_split ? "  outliers" : "");
  return text;
}

std::string ranking_csv(const DcpRanking& ranking) {
  CsvWriter table;
  table.row("rank", "context", "match", "confidence", "separation", "consensus", "stability",
            "agreement", "objective", "sizes", "outliers");
  int rank = 0;
  for (const DcpRankedContext& one : ranking.contexts)
    table.row(++rank, one.split.name, one.match, one.split.confidence, one.split.separation,
              one.consensus, one.split.stability, one.split.agreement, one.split.objective,
              fmt::format("{}", fmt::join(part_sizes(one.split.labels), " ")),
              one.is_outlier_split ? 1 : 0);
  return table.text();
}

void add_ranking(const DcpRanking& ranking, size_t num_candidates, RunSummary& summary) {
  std::vector<std::string> names, outliers;
  std::vector<double> match, confidence, consensus, stability;
  for (const DcpRankedContext& one : ranking.contexts) {
    names.push_back(one.split.name);
    consensus.push_back(one.consensus);
    match.push_back(one.match);
    confidence.push_back(one.split.confidence);
    stability.push_back(one.split.stability);
    if (one.is_outlier_split) outliers.push_back(one.split.name);
  }
  summary.extra.emplace_back("contexts", std::move(names));
  summary.extra.emplace_back("context_consensus", std::move(consensus));
  summary.extra.emplace_back("context_match", std::move(match));
  summary.extra.emplace_back("context_confidence", std::move(confidence));
  summary.extra.emplace_back("context_stability", std::move(stability));
  summary.extra.emplace_back("outlier_contexts", std::move(outliers));
  if (ranking.contexts.size() < num_candidates)
    summary.warnings.push_back(
        fmt::format("only {} of {} contexts {} run before the stop: with --resume FILE the same "
                    "command resumes there",
                    ranking.contexts.size(), num_candidates,
                    by_number(std::ssize(ranking.contexts), "was", "were")));
}

namespace {

std::string votes_csv(const DcpRanking& ranking, const Dataset& data, const DcpVote& vote) {
  CsvWriter table;
  table.cell("sample").cell("label").cell("agreement");
  for (const DcpRankedContext& one : ranking.contexts) table.cell(one.split.name);
  table.end_row();
  for (size_t i = 0; i < vote.labels.size(); ++i) {
    sample_cell(data, i, table);
    table.cell(vote.labels[i]).cell(vote.agreement[i]);
    for (const DcpRankedContext& one : ranking.contexts) table.cell(one.split.labels[i]);
    table.end_row();
  }
  return table.text();
}

}  // namespace

void add_vote(const DcpRanking& ranking, const Dataset& data, int num_parts, RunOutcome& out) {
  if (ranking.contexts.empty()) return;
  std::vector<std::vector<int>> splits;
  for (const DcpRankedContext& one : ranking.contexts) splits.push_back(one.split.labels);
  DcpVote vote = vote_on_parts(splits, num_parts);
  out.files.front() = {"votes.csv", votes_csv(ranking, data, vote)};
  std::erase_if(out.columns, [](const Column& column) {
    return column.name == "margins" || column.name == "decisions" ||
           column.name == "context_decisions";
  });
  out.columns.push_back(real_column("margins", std::move(vote.margins)));
  const double mean = std::accumulate(vote.agreement.begin(), vote.agreement.end(), 0.0) /
                      static_cast<double>(std::max<size_t>(vote.agreement.size(), 1));
  out.summary.extra.emplace_back("vote_agreement", mean);
  out.summary.extra.emplace_back("context_votes", std::move(vote.split_share));
  out.labels = std::move(vote.labels);
  set_sizes(out.summary, out.labels, num_parts);
  out.summary.message += fmt::format(
      "; labels are the vote of {}; new samples are labelled by the split against {} alone",
      counted(std::ssize(ranking.contexts), "context"), ranking.contexts[0].split.name);
}

}  // namespace milieu
