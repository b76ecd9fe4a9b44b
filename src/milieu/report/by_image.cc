// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <sstream>

#include "milieu/report/by_image_internal.h"

namespace milieu::internal {

namespace {

// The keypoints of the images that have a label, by the row that such an image gets.
struct Keypoints {
  std::vector<int> row_of_image;  // -1: the image has no label
  std::vector<std::vector<size_t>> of_row;
};

Keypoints keypoints_of(const RunOutcome& run) {
  Keypoints out;
  int rows = 0;
  for (const int label : run.row_labels) out.row_of_image.push_back(label < 0 ? -1 : rows++);
  out.of_row.resize(static_cast<size_t>(rows));
  const std::vector<int>& images = run.input.places.images;
  for (size_t i = 0; i < images.size(); ++i)
    if (const int row = out.row_of_image[static_cast<size_t>(images[i])]; row >= 0)
      out.of_row[static_cast<size_t>(row)].push_back(i);
  return out;
}

// How often each word occurs, as a share of the image's keypoints: where the map puts the image.
Dataset image_data(const RunOutcome& run, const Keypoints& keypoints,
                   const std::vector<int32_t>& words) {
  const int32_t num_words = std::max(1, *std::max_element(words.begin(), words.end()) + 1);
  Matrix<float> shares(static_cast<int64_t>(keypoints.of_row.size()), num_words);
  for (int64_t row = 0; row < shares.rows(); ++row) {
    const std::vector<size_t>& own = keypoints.of_row[static_cast<size_t>(row)];
    for (const size_t i : own)
      if (words[i] >= 0) shares(row, words[i]) += 1 / static_cast<float>(own.size());
  }
  Dataset data;
  data.points = Points(std::move(shares));
  data.source = run.input.data.source;
  data.sample_shape = {num_words};
  for (size_t p = 0; p < keypoints.row_of_image.size(); ++p)
    if (keypoints.row_of_image[p] >= 0) data.sample_names.push_back(run.input.places.paths[p]);
  return data;
}

// By how large a share of an image's keypoints its phrase leads.
float lead(const std::vector<size_t>& keypoints, const std::vector<int32_t>& phrases) {
  std::map<int32_t, int64_t> counts;
  for (const size_t i : keypoints) ++counts[phrases[i]];
  int64_t most = 0, next = 0;
  for (const auto& [phrase, count] : counts) {
    next = std::max(next, std::min(count, most));
    most = std::max(count, most);
  }
  return static_cast<float>(most - next) / static_cast<float>(keypoints.size());
}

// All keypoints of an image have its class.
void take_truth(const RunOutcome& run, const Keypoints& keypoints, RunOutcome& out) {
  if (run.truth.indices.size() != run.input.places.images.size()) return;
  out.truth.names = run.truth.names;
  for (const std::vector<size_t>& own : keypoints.of_row)
    out.truth.indices.push_back(run.truth.indices[own.front()]);
  const bool is_whole = std::ranges::none_of(out.truth.indices, [](int c) { return c < 0; });
  if (is_whole) out.truth_metrics = compute_metrics(out.labels, out.truth.indices);
}

void take_files(const RunOutcome& run, RunByImage& out) {
  out.outcome.files = run.files;
  for (const ResultFile& file : run.files) {
    if (file.name != "phrases.txt") continue;
    std::istringstream text(file.content);
    for (std::string line; std::getline(text, line);) out.words.phrases.push_back(line);
  }
}

void take_words(const RunOutcome& run, const Keypoints& keypoints,
                const std::vector<int32_t>& words, const std::vector<int32_t>& phrases,
                WordView& out) {
  const FloatView places = run.input.places.positions.view();
  for (size_t row = 0; row < keypoints.of_row.size(); ++row)
    for (const size_t i : keypoints.of_row[row]) {
      const auto at = static_cast<int64_t>(i);
      out.images[static_cast<int32_t>(row)].push_back(
          {places(at, 0), places(at, 1), words[i], phrases[i]});
    }
}

}  // namespace

std::optional<RunByImage> run_by_image(const RunOutcome& run) {
  const SamplePlaces& places = run.input.places;
  const std::vector<int32_t>* words = find_wholes(run.columns, "words");
  const std::vector<int32_t>* phrases = find_wholes(run.columns, "phrases");
  if (places.root.empty() || !words || !phrases || words->empty() ||
      run.row_labels.size() != places.paths.size() || words->size() != places.images.size() ||
      phrases->size() != words->size())
    return std::nullopt;
  const Keypoints keypoints = keypoints_of(run);
  if (keypoints.of_row.empty()) return std::nullopt;
  RunByImage out;
  RunOutcome& page = out.outcome;
  page.summary = run.summary;
  page.command = run.command;
  page.options = run.options;
  page.keep_alive = run.keep_alive;
  page.part_names = run.part_names;
  page.shows_truth = run.shows_truth;
  std::ranges::copy_if(run.row_labels, std::back_inserter(page.labels),
                       [](int label) { return label >= 0; });
  page.units = image_data(run, keypoints, *words);
  page.units_root = places.root;
  page.summary.n = std::ssize(page.labels);
  page.summary.extra.emplace_back(
      "keypoint_sizes", std::vector<int64_t>(run.summary.sizes.begin(), run.summary.sizes.end()));
  set_sizes(page.summary, page.labels, static_cast<int>(run.summary.sizes.size()));
  std::vector<float> margins;
  for (const std::vector<size_t>& own : keypoints.of_row) margins.push_back(lead(own, *phrases));
  page.columns.push_back(real_column("margins", margins));
  take_truth(run, keypoints, page);
  take_files(run, out);
  take_words(run, keypoints, *words, *phrases, out.words);
  return out;
}

}  // namespace milieu::internal
