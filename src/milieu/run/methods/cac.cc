// SPDX-License-Identifier: Apache-2.0
#include "cac_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "cac_pictures.h"
#include "cli/flags.h"
#include "milieu/base/error.h"
#include "milieu/data/groups.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/metrics/metrics.h"
#include "milieu/store/labels_csv.h"

namespace milieu::cli {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Labels as they are written, when they are whole numbers: label files give classes in order.
std::vector<int> load_whole_labels(const std::string& path) {
  const Labels labels = load_labels(path);
  std::vector<int> values;
  for (const int index : labels.indices) {
    int value = -1;
    if (index >= 0 && std::sscanf(labels.names[index].c_str(), "%d", &value) != 1)
      throw DataError(
          fmt::format("{} has the label {}, must have whole numbers", path, labels.names[index]));
    values.push_back(value);
  }
  return values;
}

// Errors of the words and phrases after each half step, of every start.
class ErrorTrace : public CacObserver {
 public:
  ErrorTrace(std::span<const int> word_truth, std::span<const int> phrase_truth)
      : word_truth_(word_truth), phrase_truth_(phrase_truth) {}

  void on_step(int restart, const CacStep&, std::span<const int> words,
               std::span<const int> phrases) override {
    CacErrors& errors = by_restart_[restart];
    if (!word_truth_.empty())
      errors.words.push_back(compute_metrics(words.first(word_truth_.size()), word_truth_).error);
    if (!phrase_truth_.empty())
      errors.phrases.push_back(
          compute_metrics(phrases.first(phrase_truth_.size()), phrase_truth_).error);
  }
  CacErrors of(int restart) { return by_restart_[restart]; }

 private:
  std::span<const int> word_truth_, phrase_truth_;
  std::map<int, CacErrors> by_restart_;
};

}  // namespace

// What [Yuan08] prints: k-means words, phrases by the Hamming distance, raw distances, one start,
// lambda at once. The texton experiment (Sec. 3.2) by default; with views, that of the digits
// (Sec. 3.3).
std::vector<Preset> CacMethod::presets() {
  const auto apply_common = [this] {
    options_.scaling = CacScaling::Raw;
    options_.init = CacInit::Words;
    options_.phrase_init = CacPhraseInit::KModes;
    options_.num_restarts = 1;
    options_.continuation = false;
    options_.reseed = false;
    options_.num_neighbors = 10;
    options_.view_neighbors = 0;
  };
  return {{"paper",
           [this, apply_common] {
             apply_common();
             const bool has_views = !files_.view.empty();
             options_.num_words = has_views ? 10 : 25;
             options_.num_phrases = has_views ? 10 : 2;
             options_.tau = has_views ? 1 : 0.5;
           }},
          {"paper-simulation", [this, apply_common] {
             apply_common();
             options_.num_words = 5;
             options_.num_phrases = 2;
             options_.epsilon = 100;
             options_.lambda = 2000;
           }}};
}

std::optional<Dataset> CacMethod::load_own_input(const std::string& path,
                                                 const LoadOptions& options, OwnInput&) {
  if (!files_.view.empty()) return join_views(lines_of(files_.view), options);
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  std::optional<KeypointSet> set;
  if (is_feature_folder(path))
    set = keypoints_of_features(path, options);
  else
    set = load_keypoints(path, options.num_threads, options);
  if (!set) return std::nullopt;
  positions_ = Points(std::move(set->positions));
  images_ = std::move(set->images);
  pictures_ = std::move(set->paths);
  skipped_ = std::move(set->skipped);
  folder_ = set->root;
  max_side_ = set->max_side;
  return std::move(set->data);
}

// One picture each: the words at the end, then phrases at the stages of [Yuan08, Fig. 2].
void CacMethod::add_overlays(const CacResult& result, MethodResult& out) const {
  for (size_t p = 0; p < pictures_.size(); ++p) {
    std::vector<int> rows;
    std::vector<int64_t> places;
    for (size_t i = 0; i < images_.size(); ++i)
      if (images_[i] == static_cast<int>(p)) {
        rows.push_back(static_cast<int>(i));
        places.push_back(static_cast<int64_t>(i));
      }
    if (rows.empty()) continue;
    std::string name = pictures_[p];
    std::replace(name.begin(), name.end(), '/', '_');
    DecodeOptions decode;
    decode.max_side = max_side_;
    out.files.push_back(
        {"overlay_" + name + ".png", draw_stages(load_image(folder_ + "/" + pictures_[p], decode),
                                                 positions_.gather(places).view(), rows, result)});
  }
}

// Labels are of keypoints or groups there: what the rows (pictures, samples) are called by them.
void CacMethod::add_row_labels(const CacResult& result, const Dataset& data,
                               MethodResult& out) const {
  std::string text;
  if (!pictures_.empty())
    text = labels_csv_text(phrases_of_pictures(result, images_, pictures_.size()), pictures_, {});
  else if (has_own_groups())
    text = labels_csv_text(phrases_of_members(result, *groups_), data.sample_names, data.rows);
  if (!text.empty()) out.files.push_back({"row_labels.csv", std::move(text)});
}

// The views side by side, for the report and for what belongs to rows.
Dataset CacMethod::join_views(const std::vector<std::string>& paths, const LoadOptions& options) {
  Dataset data = load_dataset(paths[0], options);
  views_ = {data.points};
  int64_t width = data.points.cols();
  LoadOptions other = options;
  if (!options.label_column.empty()) other.label_column.clear();
  for (size_t v = 1; v < paths.size(); ++v) {
    Points points = load_dataset(paths[v], other).points;
    if (points.rows() != data.points.rows())
      throw DataError(fmt::format("{} has {} rows, {} has {}: views must match", paths[v],
                                  points.rows(), paths[0], data.points.rows()));
    width += points.cols();
    views_.push_back(std::move(points));
  }
  if (views_.size() == 1) return data;
  Matrix<float> joined(data.points.rows(), width);
  int64_t column = 0;
  for (const Points& points : views_) {
    for (int64_t i = 0; i < joined.rows(); ++i)
      std::copy_n(points.view().row(i), points.cols(), joined.row(i) + column);
    column += points.cols();
  }
  data.points = Points(std::move(joined));
  data.sample_shape = {width};
  return data;
}

void CacMethod::load_groups_of(RowFiles& rows) {
  Groups groups = load_groups(files_.groups, rows.num_rows());
  if (!rows.data().rows.empty()) groups = select_members(groups, rows.data().rows);
  group_names_ = groups.names;
  groups_ = context_from_groups(groups);
  if (files_.group_weights.empty()) return;
  const Dataset weights = load_dataset(files_.group_weights);
  if (weights.points.rows() != groups.num_groups() || weights.points.cols() != 1)
    throw DataError(fmt::format("{} is {} x {}, must be {} x 1: one weight for each group",
                                files_.group_weights, weights.points.rows(), weights.points.cols(),
                                groups.num_groups()));
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    groups_->group_weights.push_back(weights.points.view()(g, 0));
}

void CacMethod::load_files(RowFiles& rows) {
  if (files_.overlay && pictures_.empty())
    throw UsageError("--overlay is given without pictures: INPUT must be a folder of pictures");
  if (!pictures_.empty() && (!files_.groups.empty() || !files_.positions.empty()))
    throw UsageError("a folder of pictures has places of its own: leave --groups and --positions");
  if (!files_.groups.empty() && !files_.positions.empty())
    throw UsageError("--groups and --positions are both given: give one of them");
  if (!files_.group_weights.empty() && files_.groups.empty())
    throw UsageError("--group-weights is given without --groups: give the groups too");
  if (!files_.images.empty() && files_.positions.empty())
    throw UsageError("--images is given without --positions: give the places too");
  if (!files_.groups.empty()) load_groups_of(rows);
  if (!files_.positions.empty()) positions_ = rows.matrix(files_.positions);
  if (!files_.images.empty()) images_ = rows.labels(files_.images).indices;
  if (!files_.initial_words.empty()) initial_words_ = load_whole_labels(files_.initial_words);
  if (!files_.initial_phrases.empty()) initial_phrases_ = load_whole_labels(files_.initial_phrases);
  if (!files_.word_truth.empty()) word_truth_ = rows.labels(files_.word_truth).indices;
}

// A truth of one entry a group belongs to the phrases, one of an entry a row to the words, and to
// the phrases too where every row has a group of its own.
Labels CacMethod::load_truth(RowFiles& rows, const std::string& path) {
  Labels truth;
  bool is_of_rows = true;
  if (path.empty()) {
    truth = rows.data().labels;
  } else if (has_own_groups()) {
    truth = load_labels(path);
    is_of_rows = static_cast<int64_t>(truth.indices.size()) != groups_->num_groups() ||
                 groups_->num_groups() == rows.num_rows();
    if (is_of_rows) truth = rows.labels(path);
  } else {
    truth = rows.labels(path);
  }
  if (is_of_rows && word_truth_.empty()) word_truth_ = truth.indices;
  const bool fits_labels = !has_own_groups() || !is_of_rows ||
                           groups_->num_groups() == static_cast<int64_t>(truth.indices.size());
  if (!fits_labels) return {};
  phrase_truth_ = truth.indices;
  return truth;
}

CacInput CacMethod::input_of(const Dataset& data) const {
  CacInput input;
  if (views_.empty()) input.views = {data.points.view()};
  for (const Points& points : views_) input.views.push_back(points.view());
  if (groups_) input.groups = &*groups_;
  input.positions = positions_.view();
  input.images = images_;
  input.initial_words = initial_words_;
  input.initial_phrases = initial_phrases_;
  return input;
}

// Groups as the labels' rows: the mean of their members stands for each.
Dataset CacMethod::units_of(const Dataset& data) const {
  Dataset units;
  Matrix<float> means(groups_->num_groups(), data.points.cols());
  for (int64_t g = 0; g < groups_->num_groups(); ++g)
    for (const int i : groups_->members_of(g))
      for (int64_t t = 0; t < means.cols(); ++t)
        means(g, t) += data.points.view()(i, t) / static_cast<float>(groups_->members_of(g).size());
  units.points = Points(std::move(means));
  units.sample_names = group_names_;
  units.sample_shape = {units.points.cols()};
  units.source = files_.groups;
  return units;
}

void CacMethod::add_metrics(const CacResult& result, MethodResult& out) const {
  if (word_truth_.empty()) return;
  NamedMetrics named{"word_metrics", {}};
  const size_t n = word_truth_.size();
  for (size_t first = 0; first + n <= result.words.size(); first += n)
    named.metrics.push_back(
        compute_metrics(std::span(result.words).subspan(first, n), word_truth_));
  out.metrics.push_back(std::move(named));
}

MethodResult CacMethod::fit(const Dataset& data, Monitor& monitor) {
  const CacInput input = input_of(data);
  ErrorTrace trace(word_truth_, phrase_truth_);
  const bool has_truth = !word_truth_.empty() || !phrase_truth_.empty();
  CacResult result = fit_cac(input, options_, monitor, has_truth ? &trace : nullptr);
  const CacErrors errors = trace.of(result.summary.restart);
  if (!errors.phrases.empty()) result.summary.extra.emplace_back("step_error", errors.phrases);
  if (!errors.words.empty()) result.summary.extra.emplace_back("step_word_error", errors.words);
  MethodResult out;
  out.model = to_model_file(result.model);
  out.summary = result.summary;
  out.summary.warnings.insert(out.summary.warnings.end(), skipped_.begin(), skipped_.end());
  out.text = stability_text(result.summary);
  add_metrics(result, out);
  if (!result.phrases.empty()) {
    out.files = cac_tables(result, data, errors);
    add_row_labels(result, data, out);
  }
  if (files_.overlay && !result.snapshots.empty()) add_overlays(result, out);
  if (has_own_groups()) out.units = units_of(data);
  out.labels = std::move(result.labels);
  return out;
}

}  // namespace milieu::cli
