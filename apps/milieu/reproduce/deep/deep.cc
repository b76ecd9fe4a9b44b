// SPDX-License-Identifier: Apache-2.0
#include "reproduce/deep/deep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "milieu/base/error.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/cache_folder.h"
#include "milieu/input/views.h"

namespace milieu::cli {

namespace {

constexpr const char* kNetwork = "mobilenetv2_tv_embed_fp32.onnx";
constexpr std::string_view kSets[] = {"scenes15", "caltech101", "uiuc_textures", "brodatz24"};

double total_variance(FloatView points) {
  double variance = 0;
  const auto n = static_cast<double>(points.rows());
  for (int64_t t = 0; t < points.cols(); ++t) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < points.rows(); ++i) {
      sum += points(i, t);
      squares += static_cast<double>(points(i, t)) * points(i, t);
    }
    variance += std::max(0.0, squares / n - (sum / n) * (sum / n));
  }
  return variance;
}

}  // namespace

std::string embedding_feature(const ReproduceRun& run) {
  return fmt::format("onnx:{}:preset=imagenet", run.model_file(kNetwork));
}

std::string map_feature(const ReproduceRun& run) {
  return fmt::format("onnx-patches:{}:preset=imagenet", run.model_file(kNetwork));
}

DeepSet::DeepSet(ReproduceRun& run, std::string name)
    : run_(run), name_(std::move(name)), path_(run.data_file(name_)) {
  const ImageFolder images = list_image_folder(path_);
  classes_ = images.labels.indices;
  class_names_ = images.labels.names;
}

const Matrix<float>& DeepSet::feature(const std::string& text) {
  Matrix<float>& known = features_[text];
  if (!known.empty()) return known;
  std::vector<FeatureSpec> one = parse_features(text);
  const std::string id = one[0].id;
  const std::string place = cache_place(path_, "deep", Fingerprint("deep").text(text));
  ExtractOptions options;
  options.num_threads = run_.options().num_threads;
  options.waits = true;
  options.strict = true;
  run_.say(fmt::format("{} of {}", id, name_));
  const ExtractResult result =
      extract_features(list_image_folder(path_), std::move(one), place, options, run_.monitor());
  if (result.is_complete && !run_.is_stopped())
    known = Matrix<float>(open_feature_folder(place).points(id).view());
  return known;
}

std::vector<DeepSet> deep_sets(ReproduceRun& run) {
  embedding_feature(run);
  std::vector<std::string> wanted;
  if (!run.options().sets.empty()) wanted = split_text(run.options().sets, ',');
  for (const std::string& name : wanted)
    require(std::ranges::find(kSets, name) != std::end(kSets), [&] {
      return fmt::format("sets has '{}', must be of {}", name, fmt::join(kSets, ", "));
    });
  std::vector<DeepSet> sets;
  for (const std::string_view name : kSets) {
    DeepSet set(run,
                std::string(name));  // also one that is not wanted: figures depend on the same data
    if (wanted.empty() || std::ranges::find(wanted, set.name()) != wanted.end())
      sets.push_back(std::move(set));
  }
  return sets;
}

std::vector<std::string> names_of(const std::vector<DeepSet>& sets) {
  std::vector<std::string> names;
  for (const DeepSet& set : sets) names.push_back(set.name());
  return names;
}

Matrix<float> join_views(const std::vector<FloatView>& views) {
  int64_t width = 0;
  for (const FloatView& view : views) width += view.cols();
  Matrix<float> joined(views[0].rows(), width);
  int64_t column = 0;
  for (const FloatView& view : views) {
    const double variance = total_variance(view);
    const double factor = variance > 0 ? 1 / std::sqrt(variance) : 1;
    for (int64_t i = 0; i < view.rows(); ++i)
      for (int64_t t = 0; t < view.cols(); ++t)
        joined(i, column + t) = static_cast<float>(factor * view(i, t));
    column += view.cols();
  }
  return joined;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string number_text(const std::vector<double>& values) {
  std::vector<double> shares;
  for (const double value : values) shares.push_back(value / 100);
  return interval_text(shares);
}

}  // namespace milieu::cli
