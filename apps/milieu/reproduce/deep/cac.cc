// SPDX-License-Identifier: Apache-2.0
// cac with views of a network and classical ones, beside the baselines on the same views side by
// side (each with unit total variance) and on the embedding alone.
#include <fmt/format.h>

#include "milieu/cac/cac.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

// The embedding, the bag of the last map's words, and two classical features.
std::vector<std::string> view_features(const ReproduceRun& run) {
  return {embedding_feature(run), map_feature(run) + ":words=200", "gist", "dense-sift"};
}

struct Views {
  std::vector<FloatView> views;
  Matrix<float> joined;
};

std::vector<int> fit_labels(const ReproduceRun& run, const std::vector<FloatView>& views,
                            int num_words, int num_phrases, uint64_t seed) {
  CacInput input;
  input.views = views;
  CacOptions options;
  if (num_words > 0) options.num_words = num_words;
  options.num_phrases = num_phrases;
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_cac(input, options, run.monitor()).labels;
}

}  // namespace

void reproduce_deep_cac(ReproduceRun& run) {
  std::vector<DeepSet> sets = deep_sets(run);
  run.keep_progress("deep");
  DeepTable table(run, "deep_cac", "cac with four views", names_of(sets));
  for (DeepSet& set : sets) {
    Views views;
    const auto load = [&] {
      if (!views.views.empty()) return;
      for (const std::string& feature : view_features(run)) {
        views.views.push_back(set.feature(feature));
        if (run.is_stopped()) return;
      }
      views.joined = join_views(views.views);
    };
    const auto embedding = [&]() -> const Matrix<float>& { return set.embedding(); };
    const auto joined = [&]() -> const Matrix<float>& {
      load();
      return views.joined;
    };
    if (!table.add_baselines("embedding", set, embedding)) return;
    if (!table.add_baselines("four views", set, joined)) return;
    const auto add_cac = [&](const std::string& name, size_t num_views, int num_words) {
      const DeepTable::Task task{load, [&](uint64_t seed) {
                                   const std::vector<FloatView> used(
                                       views.views.begin(),
                                       views.views.begin() + static_cast<long>(num_views));
                                   return fit_labels(run, used, num_words, set.num_classes(), seed);
                                 }};
      return table.add(name, set, task);
    };
    if (!add_cac("cac, four views, default (25 words)", 4, 0) ||
        !add_cac("cac, four views, as many words as classes", 4, set.num_classes()) ||
        !add_cac("cac, embedding and its map's bag, as many words as classes", 2,
                 set.num_classes()))
      return;
  }
  table.show({"views: embedding, bag of 200 words of the last map, gist, bag of dense SIFT",
              "four views: side by side, each with unit total variance"});
}

}  // namespace milieu::cli
