// SPDX-License-Identifier: Apache-2.0
// milieu dlgmm: dlgmm/dlgmm.h on the command line.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "dlgmm_pictures.h"
#include "method.h"
#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/decode/decode.h"
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
    ".npy of whole numbers: where the patches of each image begin, and their number at the end");
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

// One line a pass: the bound and its eight terms.
std::string bound_csv(const DlgmmResult& fitted) {
  std::string text = "pass,bound,T1,T2,T3,T4,T5,T6,T7,T8\n";
  for (int64_t pass = 0; pass < fitted.bound_terms.rows(); ++pass) {
    text += fmt::format("{},{}", pass + 1, fitted.summary.trace[pass]);
    for (const double term : fitted.bound_terms.row_span(pass)) text += fmt::format(",{}", term);
    text += '\n';
  }
  return text;
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
               options_.init = DlgmmInit::Lda;
               options_.tie_words = false;
               options_.num_bands = 1;
               options_.num_restarts = 1;
               pictures_.step = 16;
               pictures_.num_components = 0;
             }}};
  }

  std::optional<Dataset> load_own_input(const std::string& path, const LoadOptions& load,
                                        OwnInput& own) override {
    if (!own.codebook.empty())
      throw InvalidArgument(
          fmt::format("codebook is {}, but dlgmm learns its words from the patches: leave it out",
                      own.codebook));
    pictures_.feature = own.feature, pictures_.max_side = own.max_side;
    images_ = load_patch_images(path, files_.patches, pictures_, load, options_.seed, *own.monitor);
    if (is_feature_folder(path)) own.feature = images_.feature;
    if (images_.max_side != DecodeOptions().max_side && !images_.feature.empty())
      own.max_side = std::to_string(images_.max_side);
    own.warnings = images_.warnings;
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
    const std::string watched = watch_state(images_);
    input.on_pass = [&](const DlgmmState& now) {
      require_unchanged(watched);
      if (!files_.checkpoint.empty()) save_model(files_.checkpoint, now);
    };
    DlgmmResult fitted = fit_dlgmm(input, options_, monitor);
    require_unchanged(watched);
    is_complete_ = !monitor.should_stop();
    std::vector<ResultFile> files;
    if (is_complete_) files = draw(fitted);
    files.push_back({"bound.csv", bound_csv(fitted)});
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

  // A checkpoint is of use until the result is there.
  void on_saved() override {
    if (is_complete_ && !files_.checkpoint.empty()) fs::remove(files_.checkpoint);
  }

  std::string new_input_text() const override {
    return images_.root.empty() ? "NEW.npy --offsets OFFSETS.npy" : "FOLDER";
  }

 private:
  void require_unchanged(const std::string& watched) const {
    if (watch_state(images_) != watched)
      throw DataError(fmt::format(
          "{} has changed while it was in use: the result would be of neither; run again",
          images_.source));
  }

  // The result is worth more than its pictures.
  std::vector<ResultFile> draw(DlgmmResult& fitted) const {
    try {
      return draw_dlgmm(images_, fitted, options_.num_threads);
    } catch (const Error& error) {
      fitted.summary.warnings.push_back(
          fmt::format("there are no pictures of words and clusters: {}", error.what()));
      return {};
    }
  }

  PatchOptions pictures_;
  PatchImages images_;
  bool is_complete_ = false;
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
