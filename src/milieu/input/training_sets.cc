// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/training_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/input/training.h"
#include "milieu/input/views.h"
#include "milieu/linalg/kernel.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// "X.npy:labels.npy" as its two parts; no second one for a folder and for a file with
// --label-column.
std::pair<std::string, std::string> split_train(const std::string& train,
                                                const std::string& label_column) {
  const size_t colon = train.rfind(':');
  if (is_folder(train) || train.ends_with(".txt")) return {train, ""};
  if (colon != std::string::npos) return {train.substr(0, colon), train.substr(colon + 1)};
  if (!label_column.empty()) return {train, ""};
  std::error_code error;
  if (!fs::exists(train, error) && !is_list_of_files(train))
    throw IoError(fmt::format("{}: no such file or folder", train));
  throw InvalidArgument(fmt::format(
      "TRAIN is {}, must be a folder of class folders, or a file with its clusters: {}:labels.npy",
      train, train));
}

// The clusters of a set, numbered without gaps.
std::vector<int> without_gaps(const std::vector<int>& classes) {
  std::map<int, int> cluster_from_class;
  for (const int c : classes) cluster_from_class.emplace(c, 0);
  int next = 0;
  for (auto& [c, cluster] : cluster_from_class) cluster = next++;
  std::vector<int> clusters;
  for (const int c : classes) clusters.push_back(cluster_from_class[c]);
  return clusters;
}

// Gives the set its classes; rows without one are left out.
void take_labels(const Labels& labels, TrainingInput& input, TrainingSet& set) {
  if (labels.empty())
    throw InvalidArgument(fmt::format(
        "TRAIN is {}, which has no classes: sub-folders are classes, or write FILE:labels.npy",
        set.name));
  std::vector<int> class_from_index;
  for (const std::string& name : labels.names) {
    const auto found = std::ranges::find(input.class_names, name);
    class_from_index.push_back(static_cast<int>(found - input.class_names.begin()));
    if (found == input.class_names.end()) input.class_names.push_back(name);
  }
  std::vector<int64_t> kept;
  for (size_t i = 0; i < labels.indices.size(); ++i)
    if (labels.indices[i] >= 0) {
      kept.push_back(static_cast<int64_t>(i));
      set.classes.push_back(class_from_index[static_cast<size_t>(labels.indices[i])]);
    }
  if (kept.empty()) throw DataError(fmt::format("{}: no row has a class", set.name));
  set.total_rows = std::ssize(labels.indices);
  if (kept.size() < labels.indices.size()) {
    if (!set.matrices.empty())
      throw DataError(
          fmt::format("{}: {} no class; leave them out of the matrices", set.name,
                      counted(labels.indices.size() - kept.size(), "row has", "rows have")));
    set.points = set.points.gather(kept);
    set.kept_rows = kept;
    input.warnings.push_back(
        fmt::format("{}: {} left out", set.name,
                    counted(labels.indices.size() - kept.size(), "row without a class was",
                            "rows without a class were")));
  }
  set.clusters = without_gaps(set.classes);
}

void check_label_count(const TrainingSet& set, const std::string& labels_path, size_t count,
                       int64_t rows) {
  if (static_cast<int64_t>(count) != rows)
    throw DataError(fmt::format("{} has {}, {} has {}: they must match", labels_path,
                                counted(count, "row"), set.name, rows));
}

// The rows of set number `index`: the first as the request says, the others like the first.
InputRows open_set(const TrainingRequest& request, size_t index, const TrainingInput& input,
                   Monitor& monitor) {
  LoadOptions load;
  load.num_threads = request.num_threads;
  ImageOptions images = request.images;
  if (!request.vectors.empty()) images.vectors = request.vectors[index];
  if (!request.vector_names.empty()) images.vector_names = request.vector_names[index];
  if (!input.has_images) return open_rows(request.sets[index], images, load, monitor);
  images.feature.clear();
  images.codebook.clear();
  return open_rows_like(request.sets[index], input.images, request.sets[0], images, load, monitor);
}

void add_images(const TrainingRequest& request, size_t index, Monitor& monitor,
                TrainingInput& input) {
  InputRows opened = open_set(request, index, input, monitor);
  const Dataset data = opened.rows.take();
  TrainingSet set;
  set.name = request.sets[index];
  set.points = data.points;
  if (input.has_images && set.points.cols() != input.sets[0].points.cols())
    throw DataError(fmt::format("{} has {}, {} has {}: training sets must have the same columns",
                                set.name, counted(set.points.cols(), "column"), input.sets[0].name,
                                input.sets[0].points.cols()));
  take_labels(data.labels, input, set);
  input.sets.push_back(std::move(set));
  input.warnings.insert(input.warnings.end(), opened.warnings.begin(), opened.warnings.end());
  if (input.has_images) return;
  input.has_images = true;
  input.images = std::move(opened.images);
  if (input.images.max_side.empty()) input.images.max_side = request.images.max_side;
  input.views = input.images.columns;
}

// One file of vectors per set, or none.
void check_vector_files(const TrainingRequest& request) {
  const auto check = [&](const char* flag, size_t count) {
    if (count != 0 && count != request.sets.size())
      throw InvalidArgument(
          fmt::format("{} is given {} for {}: give it once per TRAIN, in the same order", flag,
                      counted(count, "time"), counted(request.sets.size(), "training set")));
  };
  check("--vectors", request.vectors.size());
  check("--vector-names", request.vector_names.size());
}

void add_files(const std::string& train, const TrainingRequest& request, TrainingInput& input) {
  const auto [files, labels_path] = split_train(train, request.label_column);
  TrainingSet set;
  set.name = train;
  Labels labels;
  std::vector<ColumnRange> views;
  int64_t rows = 0;
  if (request.is_precomputed) {
    std::vector<std::string> names;
    set.matrices = load_matrices(files, request.num_threads, &names,
                                 request.is_kernel ? MatrixKind::Kernels : MatrixKind::Distances);
    for (const std::string& name : names) views.push_back({name, 0, 0});
    rows = set.matrices[0].rows();
  } else {
    LoadOptions load;
    load.num_threads = request.num_threads;
    load.label_column = labels_path.empty() ? request.label_column : "";
    const Views loaded = load_views(files_of(files), load);
    views = loaded.columns;
    set.points = loaded.data.points;
    labels = loaded.data.labels;
    rows = set.points.rows();
  }
  if (!labels_path.empty()) labels = load_labels(labels_path);
  check_label_count(set, labels_path, labels.indices.size(), rows);
  take_labels(labels, input, set);
  input.sets.push_back(std::move(set));
  if (input.views.empty()) input.views = std::move(views);
}

bool has_negative(const TrainingInput& input, const ColumnRange& view) {
  for (const TrainingSet& set : input.sets)
    for (int64_t p = 0; p < set.points.rows(); ++p)
      for (int64_t t = view.first; t < view.first + view.count; ++t)
        if (set.points.view()(p, t) < 0) return true;
  return false;
}

// Every view has a distance, and every list has a view.
void check_views(const TrainingInput& input, const DistanceList& distances) {
  std::vector<std::string> names;
  for (const ColumnRange& view : input.views) names.push_back(view.name);
  for (const auto& [name, own] : distances.of_view)
    if (std::ranges::find(names, name) == names.end())
      throw InvalidArgument(fmt::format("distance is given for '{}', must be for one of {}", name,
                                        fmt::join(names, ", ")));
  for (const std::string& name : names)
    if (distances.of(name).empty())
      throw InvalidArgument(fmt::format(
          "distance is given for some features, but not for {0}: add {0}:NAME, or a distance for "
          "all",
          name));
}

// The distances of a kernel matrix [Komodakis11, footnote 3].
Points distances_of_kernel(const Points& kernel, const std::string& path) {
  const auto owner = std::make_shared<Matrix<float>>(kernel_distances(kernel.view(), path));
  return {owner->view(), owner, false};
}

}  // namespace

std::vector<Points> load_matrices(const std::string& paths, int num_threads,
                                  std::vector<std::string>* names, MatrixKind kind) {
  std::vector<Points> matrices;
  LoadOptions load;
  load.num_threads = num_threads;
  load.allow_non_finite = true;  // refused later, by matrix, row and column
  for (const std::string& file : files_of(paths)) {
    const Dataset data = load_dataset(file, load);
    const std::string stem = fs::path(file).stem().string();
    const std::vector<int64_t>& shape = data.sample_shape;
    if (shape.size() == 2) {  // F x n x n
      const auto owner = std::make_shared<Points>(data.points);
      for (int64_t r = 0; r < data.points.rows(); ++r) {
        const FloatView page(data.points.view().row(r), shape[0], shape[1]);
        matrices.emplace_back(page, owner, false);
        if (names != nullptr) names->push_back(fmt::format("{} {}", stem, r));
      }
      continue;
    }
    matrices.push_back(data.points);
    if (names != nullptr) names->push_back(stem);
  }
  for (const Points& matrix : matrices)
    if (kind != MatrixKind::Cross &&
        (matrix.rows() != matrix.cols() || matrix.rows() != matrices[0].rows()))
      throw DataError(
          fmt::format("{} holds a matrix of {} x {}, must be square and as large as the "
                      "others ({}): [p, q] is the distance of samples p and q",
                      paths, matrix.rows(), matrix.cols(), counted(matrices[0].rows(), "row")));
  for (Points& matrix : matrices)
    if (kind == MatrixKind::Kernels) matrix = distances_of_kernel(matrix, paths);
  return matrices;
}

TrainingInput load_training_sets(const TrainingRequest& request, Monitor& monitor) {
  check_vector_files(request);
  TrainingInput input;
  bool has_files = false;
  for (size_t i = 0; i < request.sets.size(); ++i) {
    const std::string& train = request.sets[i];
    monitor.on_stage(RunStage::Reading, train);
    const bool is_images = is_folder(train) || train.ends_with(".txt");
    has_files = has_files || !is_images;
    if (is_images)
      add_images(request, i, monitor, input);
    else
      add_files(train, request, input);
    if (has_files && input.has_images)
      throw InvalidArgument(
          "TRAIN mixes image folders with files of numbers: they have no candidate distances in "
          "common");
  }
  if (has_files && !request.images.feature.empty())
    throw InvalidArgument(
        fmt::format("feature is {}, but TRAIN is not an image folder", request.images.feature));
  if (has_files && !request.vectors.empty())
    throw InvalidArgument(
        fmt::format("vectors is {}, but TRAIN is not an image folder: give the vectors themselves "
                    "as TRAIN, with their clusters: {}:labels.npy",
                    request.vectors[0], request.vectors[0]));
  return input;
}

Points load_exemplar_features(const std::string& path, const TrainingSet& set) {
  const Points all = load_dataset(path).points;
  if (all.rows() != set.total_rows)
    throw DataError(fmt::format("{} has {}, {} has {}: they must match", path,
                                counted(all.rows(), "row"), set.name, set.total_rows));
  return set.kept_rows.empty() ? all : all.gather(set.kept_rows);
}

std::vector<CandidateDistance> make_candidates(const TrainingInput& input,
                                               const DistanceList& distances,
                                               std::vector<std::string>& warnings) {
  check_views(input, distances);
  std::vector<CandidateDistance> candidates;
  for (const ColumnRange& view : input.views) {
    const bool is_negative = has_negative(input, view);
    for (const auto& [text, distance, gamma] : distances.of(view.name)) {
      const bool wants_histograms =
          distance == Distance::ChiSquared || distance == Distance::Intersection;
      if (wants_histograms && is_negative) {
        warnings.push_back(
            fmt::format("{} was left out for {}, which has negative values", text, view.name));
        continue;
      }
      candidates.push_back(
          {fmt::format("{} {}", view.name, text), distance, gamma, view.first, view.count});
    }
  }
  return candidates;
}

}  // namespace milieu
