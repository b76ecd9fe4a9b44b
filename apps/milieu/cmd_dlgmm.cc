// SPDX-License-Identifier: Apache-2.0
// milieu dlgmm: dlgmm/dlgmm.h on the command line.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands.h"
#include "dlgmm_pictures.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "patch_images.h"
#include "patch_pictures.h"
#include "rows.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

struct DlgmmFiles {
  PatchFiles patches;
  std::string checkpoint;
};

template <class Visitor>
void visit_fields(DlgmmFiles& o, Visitor&& v) {
  v("offsets", o.patches.offsets, anything(),
    "file of whole numbers: where the patches of each image begin, and their number at the end");
  v("grid", o.patches.grid, anything(),
    "file with rows and columns of the patch grid of each image; patches stand row by row");
  v("positions", o.patches.positions, anything(),
    "file with x and y of each patch: bands without a grid");
  v("checkpoint", o.checkpoint, anything(),
    "file that is written after every pass; a run that was killed goes on from it");
}

std::string npy_content(FloatView matrix) {
  const int64_t shape[] = {matrix.rows(), matrix.cols()};
  std::string content = npy_float_header(shape);
  for (int64_t i = 0; i < matrix.rows(); ++i)
    content.append(reinterpret_cast<const char*>(matrix.row(i)),
                   static_cast<size_t>(matrix.cols()) * sizeof(float));
  return content;
}

class DlgmmMethod : public MethodWith<DlgmmOptions, DlgmmFiles> {
 public:
  std::vector<Field> option_fields() override {
    std::vector<Field> fields = fields_of(options_);
    for (Field& field : fields_of(pictures_)) fields.push_back(std::move(field));
    return fields;
  }

  // The paper's model: mean field from LDA, a variance for each word, no bands, step 16, whole
  // SIFT.
  std::vector<Preset> presets() override {
    return {{"paper", [this] {
               options_.posterior = DlgmmPosterior::MeanField;
               options_.start = DlgmmStart::Lda;
               options_.tie_words = false;
               options_.num_bands = 1;
               options_.num_restarts = 1;
               pictures_.step = 16;
               pictures_.num_components = 0;
             }}};
  }

  std::optional<Dataset> load_own_input(const std::string& path, const LoadOptions& load) override {
    images_ = load_patch_images(path, files_.patches, pictures_, load, options_.seed);
    if (options_.num_bands == 0) options_.num_bands = images_.root.empty() ? 1 : 3;
    images_.set_bands(options_.num_bands);
    return image_dataset(images_);
  }

  MethodResult fit(const Dataset& data, Monitor& monitor) override {
    DlgmmInput input;
    input.images = images_.view();
    std::optional<DlgmmState> state;
    if (!files_.checkpoint.empty() && fs::exists(files_.checkpoint))
      state = load_model<DlgmmState>(files_.checkpoint);
    input.resume = state ? &*state : nullptr;
    input.on_pass = [this, watched = watch_state(images_)](const DlgmmState& now) {
      if (watch_state(images_) != watched)
        throw DataError(fmt::format(
            "{} has changed while it was in use: the result would be of neither; run again",
            images_.source));
      if (!files_.checkpoint.empty()) save_model(files_.checkpoint, now);
    };
    DlgmmResult fitted = fit_dlgmm(input, options_, monitor);
    if (!monitor.should_stop() && !files_.checkpoint.empty()) fs::remove(files_.checkpoint);
    std::vector<ResultFile> files;
    if (!monitor.should_stop()) files = draw_dlgmm(images_, fitted, options_.num_threads);
    if (!images_.projection.empty())
      files.push_back({kProjectionName, npy_content(images_.projection.view())});
    Matrix<float> alpha(fitted.prediction.alpha.rows(), fitted.prediction.alpha.cols());
    for (int64_t i = 0; i < alpha.size(); ++i)
      alpha.data()[i] = static_cast<float>(fitted.prediction.alpha.data()[i]);
    MethodResult result = to_method_result(std::move(fitted));
    result.units = data;
    result.units->points = Points(std::move(alpha));
    result.units_root = images_.root;
    result.files = std::move(files);
    return result;
  }

 private:
  PatchOptions pictures_;
  PatchImages images_;
};

constexpr std::string_view kExample =
    "  milieu dlgmm photos --words 100 --clusters 15 --out run\n"
    "    groups the pictures in photos/ and learns their 100 visual words together; three bands\n"
    "    know sky from ground. Patches of your own, and the paper's spatially coherent model:\n"
    "  milieu dlgmm patches.npy --offsets offsets.npy --words 50 --clusters 4\n"
    "  milieu dlgmm photos --words 100 --clusters 15 --preset paper --gamma 0.5\n";

}  // namespace

Command dlgmm_command() {
  return {.name = "dlgmm",
          .summary = "clusters of images and their codebook, learned together",
          .example = kExample,
          .make_method = std::make_unique<DlgmmMethod>};
}

}  // namespace milieu::cli
