// SPDX-License-Identifier: Apache-2.0
// dlgmm on the patches of a network's last map, beside the baselines on the pooled embedding and
// beside words learned before the clusters. The first rows are the default options; each further
// one changes a single thing.
#include <fmt/format.h>

#include <optional>
#include <ranges>

#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/patch_images.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

struct Setting {
  std::string name;
  int words = 100;
  int bands = 0;  // 0: the default of image folders
  DlgmmFix fix = DlgmmFix::None;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {.name = "dlgmm, default (100 words, 3 bands, 64 components)"},
      {.name = "dlgmm, --fix codebook", .fix = DlgmmFix::Codebook},
      {.name = "dlgmm, 1 band", .bands = 1},
      {.name = "dlgmm, 1 band, --fix codebook", .bands = 1, .fix = DlgmmFix::Codebook},
      {.name = "dlgmm, 1 band, 300 words", .words = 300, .bands = 1},
  };
  return all;
}

constexpr int kDefaultBands = 3;  // of image folders

// The patches of one set, read when first needed.
class MapPatches {
 public:
  MapPatches(const ReproduceRun& run, const DeepSet& set)
      : run_(run), path_(set.path()), feature_(map_feature(run)) {}

  const PatchImages& images() {
    if (!images_) {
      PatchRequest request;
      request.path = path_;
      request.feature = feature_;
      request.options.image_feature = "none";
      request.load.num_threads = run_.options().num_threads;
      images_ = load_patch_images(request, run_.monitor());
    }
    return *images_;
  }

 private:
  const ReproduceRun& run_;
  std::string path_, feature_;
  std::optional<PatchImages> images_;
};

std::vector<int> fit_labels(const ReproduceRun& run, const PatchImages& images,
                            const Setting& setting, int num_clusters, uint64_t seed) {
  DlgmmOptions options;
  options.num_words = setting.words;
  options.num_clusters = num_clusters;
  options.num_bands = setting.bands > 0 ? setting.bands : kDefaultBands;
  options.fix = setting.fix;
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  DlgmmInput input;
  input.images = images.view();
  return fit_dlgmm(input, options, run.monitor()).labels;
}

}  // namespace

void reproduce_deep_dlgmm(ReproduceRun& run) {
  std::vector<DeepSet> sets = deep_sets(run);
  run.keep_progress("deep");
  DeepTable table(run, "deep_dlgmm", "dlgmm on MobileNetV2's last map (7 x 7 patches)",
                  names_of(sets));
  for (DeepSet& set : std::views::reverse(sets)) {  // small sets first
    const auto embedding = [&]() -> const Matrix<float>& { return set.embedding(); };
    if (!table.add_baselines("embedding", set, embedding)) return;
    MapPatches patches(run, set);
    for (const Setting& setting : settings()) {
      const DeepTable::Task task{[&] { patches.images(); },
                                 [&](uint64_t seed) {
                                   return fit_labels(run, patches.images(), setting,
                                                     set.num_classes(), seed);
                                 }};
      if (!table.add(setting.name, set, task)) return;
    }
  }
  table.show({"patches of norm 1, projected on 64 principal components of all patches of the set"});
}

}  // namespace milieu::cli
