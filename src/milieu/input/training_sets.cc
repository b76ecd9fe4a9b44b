// SPDX-License-Identifier: Apache-2.0
#include "learn_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/mapped_file.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

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
  throw UsageError(fmt::format(
      "TRAIN is {}, must be a folder of class folders, or a file with its clusters: {}:labels.npy",
      train, train));
}

void join(Dataset& all, const Dataset& more) {
  if (all.points.rows() != more.points.rows())
    throw DataError(fmt::format("{} has {} rows, {} has {}: they must match", more.source,
                                more.points.rows(), all.source, all.points.rows()));
  Matrix<float> joined(all.points.rows(), all.points.cols() + more.points.cols());
  for (int64_t i = 0; i < joined.rows(); ++i) {
    std::copy_n(all.points.view().row(i), all.points.cols(), joined.row(i));
    std::copy_n(more.points.view().row(i), more.points.cols(), joined.row(i) + all.points.cols());
  }
  all.points = Points(std::move(joined));
  all.sample_shape = {all.points.cols()};
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
void take_labels(const Labels& labels, TrainInput& input, TrainSet& set) {
  if (labels.empty())
    throw UsageError(fmt::format(
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
  if (kept.size() < labels.indices.size()) {
    if (!set.matrices.empty())
      throw DataError(fmt::format("{}: {} rows have no class; leave them out of the matrices",
                                  set.name, labels.indices.size() - kept.size()));
    set.points = set.points.gather(kept);
    input.warnings.push_back(fmt::format("{}: {} rows without a class were left out", set.name,
                                         labels.indices.size() - kept.size()));
  }
  set.clusters = without_gaps(set.classes);
}

void check_label_count(const TrainSet& set, const std::string& labels_path, size_t count,
                       int64_t rows) {
  if (static_cast<int64_t>(count) != rows)
    throw DataError(fmt::format("{} has {} rows, {} has {}: they must match", labels_path, count,
                                set.name, rows));
}

// A place in the cache with the words of the first set, so that other sets find them: named after
// their content.
std::string share_vocabulary(const std::vector<std::pair<std::string, std::string>>& files) {
  uint64_t hash = 14695981039346656037u;
  for (const auto& [name, path] : files)
    for (const unsigned char c : name + std::string(MappedFile::open(path)->text()))
      hash = (hash ^ c) * 1099511628211u;
  const std::string folder = fmt::format("{}/words-{:016x}", cache_folder(), hash);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: {}", folder, error.message()));
  for (const auto& [name, path] : files)
    if (const std::string place = folder + "/" + name; !fs::exists(place, error))
      write_file_atomically(place, MappedFile::open(path)->text());
  return folder;
}

void add_pictures(const std::string& train, const PictureOptions& pictures, int num_threads,
                  ProgressMonitor& monitor, Session& session, TrainInput& input) {
  PictureOptions like = pictures;
  if (input.is_pictures) {
    like.feature = input.feature;
    if (!input.vocabulary.empty()) like.vocabulary_folder = share_vocabulary(input.vocabulary);
  }
  LoadOptions load;
  load.num_threads = num_threads;
  PictureInput loaded = load_input(train, like, load, monitor, session);
  TrainSet set;
  set.name = train;
  set.points = loaded.data.points;
  take_labels(loaded.data.labels, input, set);
  input.sets.push_back(std::move(set));
  input.warnings.insert(input.warnings.end(), loaded.warnings.begin(), loaded.warnings.end());
  if (input.is_pictures) return;
  input.is_pictures = true;
  input.feature = loaded.feature;
  input.max_side = loaded.max_side.empty() ? pictures.max_side : loaded.max_side;
  input.vocabulary = loaded.vocabulary;
  for (const auto& [name, first, count] : loaded.columns)
    input.views.push_back({name, first, count});
}

void add_files(const std::string& train, const std::string& label_column, bool is_precomputed,
               int num_threads, TrainInput& input) {
  const auto [files, labels_path] = split_train(train, label_column);
  TrainSet set;
  set.name = train;
  Labels labels;
  std::vector<ViewColumns> views;
  int64_t rows = 0;
  if (is_precomputed) {
    std::vector<std::string> names;
    set.matrices = load_matrices(files, num_threads, &names);
    for (const std::string& name : names) views.push_back({name, 0, 0});
    rows = set.matrices[0].rows();
  } else {
    LoadOptions load;
    load.num_threads = num_threads;
    load.label_column = labels_path.empty() ? label_column : "";
    Dataset data = load_views(files, load, &views);
    set.points = data.points;
    labels = data.labels;
    rows = set.points.rows();
  }
  if (!labels_path.empty()) labels = load_labels(labels_path);
  check_label_count(set, labels_path, labels.indices.size(), rows);
  take_labels(labels, input, set);
  input.sets.push_back(std::move(set));
  if (input.views.empty()) input.views = std::move(views);
}

bool has_negative(const TrainInput& input, const ViewColumns& view) {
  for (const TrainSet& set : input.sets)
    for (int64_t p = 0; p < set.points.rows(); ++p)
      for (int64_t t = view.first; t < view.first + view.count; ++t)
        if (set.points.view()(p, t) < 0) return true;
  return false;
}

}  // namespace

bool is_list_of_files(const std::string& path) {
  std::error_code error;
  return path.find(',') != std::string::npos && !fs::exists(path, error);
}

Dataset load_views(const std::string& paths, const LoadOptions& options,
                   std::vector<ViewColumns>* views) {
  Dataset all;
  const std::vector<std::string> files =
      is_list_of_files(paths) ? split(paths, ',') : std::vector<std::string>{paths};
  for (size_t i = 0; i < files.size(); ++i) {
    Dataset one = load_dataset(files[i], i == 0 ? options : LoadOptions());
    const int64_t first = i == 0 ? 0 : all.points.cols();
    if (views != nullptr)
      views->push_back({fs::path(files[i]).stem().string(), first, one.points.cols()});
    if (i == 0)
      all = std::move(one);
    else
      join(all, one);
  }
  all.source = paths;
  return all;
}

std::vector<Points> load_matrices(const std::string& paths, int num_threads,
                                  std::vector<std::string>* names) {
  std::vector<Points> matrices;
  LoadOptions load;
  load.num_threads = num_threads;
  load.allow_non_finite = true;  // refused later, by matrix, row and column
  const std::vector<std::string> files =
      is_list_of_files(paths) ? split(paths, ',') : std::vector<std::string>{paths};
  for (const std::string& file : files) {
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
    if (matrix.rows() != matrix.cols() || matrix.rows() != matrices[0].rows())
      throw DataError(
          fmt::format("{} holds a matrix of {} x {}, must be square and as large as the "
                      "others ({} rows): [p, q] is the distance of samples p and q",
                      paths, matrix.rows(), matrix.cols(), matrices[0].rows()));
  return matrices;
}

TrainInput load_train_sets(const std::vector<std::string>& trains, const PictureOptions& pictures,
                           const std::string& label_column, bool is_precomputed, int num_threads,
                           ProgressMonitor& monitor, Session& session) {
  TrainInput input;
  bool has_files = false;
  for (const std::string& train : trains) {
    monitor.announce("reading " + train);
    const bool is_pictures = is_folder(train) || train.ends_with(".txt");
    has_files = has_files || !is_pictures;
    if (is_pictures)
      add_pictures(train, pictures, num_threads, monitor, session, input);
    else
      add_files(train, label_column, is_precomputed, num_threads, input);
    if (has_files && input.is_pictures)
      throw UsageError(
          "TRAIN mixes folders of pictures with files of numbers: they have no "
          "candidate distances in common");
  }
  if (has_files && !pictures.feature.empty())
    throw UsageError(
        fmt::format("feature is {}, but TRAIN is no folder of pictures", pictures.feature));
  return input;
}

std::vector<Distance> parse_distances(const std::string& list) {
  std::vector<Distance> distances;
  std::vector<std::string> known;
  for (const auto& [word, distance] : distance_choices().choices) known.push_back(word);
  for (const std::string& name : split(list, ',')) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw UsageError(fmt::format("distance is '{}', must be some of {}, with commas between",
                                   name, fmt::join(known, ", ")));
    distances.push_back(distance_choices().choices[found - known.begin()].second);
  }
  return distances;
}

std::string distance_name(Distance distance) {
  for (const auto& [word, value] : distance_choices().choices)
    if (value == distance) return word;
  return "";
}

std::vector<CandidateDistance> make_candidates(const TrainInput& input,
                                               const std::vector<Distance>& distances,
                                               std::vector<std::string>& warnings) {
  std::vector<CandidateDistance> candidates;
  for (const ViewColumns& view : input.views) {
    const bool is_negative = has_negative(input, view);
    for (const Distance distance : distances) {
      const bool wants_histograms =
          distance == Distance::ChiSquared || distance == Distance::Intersection;
      if (wants_histograms && is_negative) {
        warnings.push_back(fmt::format("{} was left out for {}, which has negative values",
                                       distance_name(distance), view.name));
        continue;
      }
      candidates.push_back({fmt::format("{} {}", view.name, distance_name(distance)), distance, 0,
                            view.first, view.count});
    }
  }
  return candidates;
}

}  // namespace milieu::cli
