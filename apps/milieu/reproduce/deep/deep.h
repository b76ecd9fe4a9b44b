// SPDX-License-Identifier: Apache-2.0
// Every context method on the features of a network, beside the strongest baselines on the same
// features: one file per experiment, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_deep_baselines(ReproduceRun& run);
void reproduce_deep_dlgmm(ReproduceRun& run);
void reproduce_deep_cac(ReproduceRun& run);
void reproduce_deep_exemplar(ReproduceRun& run);
void reproduce_deep_dcp(ReproduceRun& run);
void reproduce_deep_icc(ReproduceRun& run);

inline constexpr int kDeepRuns = 3;  // seeds of every figure

// Of the network, with how its images are prepared: "onnx:FILE:preset=imagenet". Throw MissingData.
std::string embedding_feature(const ReproduceRun& run);
std::string map_feature(const ReproduceRun& run);  // the same network's last map, as patches

// A set of images, its classes and features; features come through the cache when first asked for.
class DeepSet {
 public:
  // Throws MissingData.
  DeepSet(ReproduceRun& run, std::string name);
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  const std::vector<int>& classes() const { return classes_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  int num_classes() const { return static_cast<int>(class_names_.size()); }
  // One row per image. Empty if the run was stopped.
  const Matrix<float>& feature(const std::string& text);
  const Matrix<float>& embedding() { return feature(embedding_feature(run_)); }
  int num_threads() const { return run_.options().num_threads; }

 private:
  ReproduceRun& run_;
  std::string name_, path_;
  std::vector<int> classes_;
  std::vector<std::string> class_names_;
  std::map<std::string, Matrix<float>> features_;
};

// Of scenes15, caltech101, uiuc_textures, brodatz24 those that --sets asks for. All are named
// before the first piece, so that pieces of different experiments can share one file.
std::vector<DeepSet> deep_sets(ReproduceRun& run);
std::vector<std::string> names_of(const std::vector<DeepSet>& sets);

// A clustering of rows into k clusters; empty labels if it was stopped.
struct Baseline {
  std::string name;
  bool is_random = true;  // depends on the seed
  std::function<std::vector<int>(FloatView points, int k, uint64_t seed)> labels;
};
// k-means, spherical k-means, normalized cut, Ward and average linkage.
std::vector<Baseline> deep_baselines(const ReproduceRun& run);

// Views side by side, each with unit total variance.
Matrix<float> join_views(const std::vector<FloatView>& views);

// Methods by sets: accuracy, NMI and CPU seconds of several seeds.
class DeepTable {
 public:
  DeepTable(ReproduceRun& run, std::string name, std::string title, std::vector<std::string> sets);
  // What a row does on one set.
  struct Task {
    std::function<void()> prepare;  // loads what it needs; its time does not count
    std::function<std::vector<int>(uint64_t seed)> labels;
    bool is_random = true;  // false: one run, for all seeds
  };
  // Runs or recalls one cell; `row` also names the labels among the pieces. False if stopped.
  bool add(const std::string& row, const DeepSet& set, const Task& task);
  // The baselines on `points` of one set, as rows "NAME, WHAT".
  bool add_baselines(const std::string& what, DeepSet& set,
                     const std::function<const Matrix<float>&()>& points);
  void show(const std::vector<std::string>& notes) const;

 private:
  struct Cell {
    std::vector<double> accuracy, nmi, seconds;
  };
  void show_one(const std::string& name, const std::string& title,
                const std::function<std::string(const Cell&)>& text,
                const std::vector<std::string>& notes) const;

  ReproduceRun& run_;
  std::string name_, title_;
  std::vector<std::string> sets_, rows_;
  std::map<std::pair<std::string, std::string>, Cell> cells_;
};

// CPU seconds of this process so far, all threads together.
double cpu_seconds();

// Mean and 95 % interval of plain numbers.
std::string number_text(const std::vector<double>& values);

}  // namespace milieu::cli
