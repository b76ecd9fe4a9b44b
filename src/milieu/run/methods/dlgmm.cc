// SPDX-License-Identifier: Apache-2.0
// dlgmm (dlgmm/dlgmm.h) as a run: images made of patches, checkpoints, pictures of the words.
#include "milieu/dlgmm/dlgmm.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/input/codebook.h"
#include "milieu/input/patch_projection.h"
#include "milieu/run/checkpoint_file.h"
#include "milieu/run/methods/dlgmm_pictures.h"
#include "milieu/run/methods/dlgmm_tables.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/methods/kept_file.h"
#include "milieu/run/predictor_internal.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

struct DlgmmFiles : CheckpointPath {
  bool probabilities = false;
};

template <class Visitor>
void visit_fields(DlgmmFiles& o, Visitor&& v) {
  visit_fields(static_cast<CheckpointPath&>(o), v);
  v("probabilities", o.probabilities, anything(),
    "also write probabilities.npy, theta.npy and word_shares.npy: the soft results of images and "
    "patches");
}

// Where the two layers start, or stay with --fix: the paper's "separate" cases.
struct DlgmmStart {
  std::span<const int> initial_labels;
};

template <class Visitor>
void visit_inputs(DlgmmStart& in, Visitor&& v) {
  v("initial_labels", in.initial_labels, InputRule{InputKind::Parts, "images"},
    "cluster of every image to start from, such as labels.csv of another run; with --fix clusters "
    "what is estimated from them stays");
}

// Words for the patches: as they are, or descriptors on the components of the patches.
Matrix<float> words_for(const PatchImages& images, const std::string& codebook) {
  Matrix<float> words = read_codebook(codebook);
  const bool is_descriptor = !images.projection.empty() && words.cols() == images.projection.cols();
  if (is_descriptor) words = project(pca_of(images.projection), words.view());
  const int64_t columns = images.patches.view().cols();
  if (words.cols() != columns)
    throw DataError(fmt::format("{} has words of {}, the patches of {} have {}: they must match",
                                codebook, counted(words.cols(), "number"), images.source, columns));
  return words;
}

// One line per pass: the bound and its eight terms.
std::string bound_csv(const DlgmmResult& fitted) {
  CsvWriter table;
  table.row("pass", "bound", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8");
  for (int64_t pass = 0; pass < fitted.bound_terms.rows(); ++pass) {
    table.cell(pass + 1).cell(fitted.summary.trace[pass]);
    for (const double term : fitted.bound_terms.row_span(pass)) table.cell(term);
    table.end_row();
  }
  return table.text();
}

// The paper's model: mean field from LDA, a variance for each word, no bands.
void apply_paper_preset(DlgmmOptions& options) {
  options.posterior = DlgmmPosterior::MeanField;
  options.init = DlgmmInit::Lda;
  options.tie_words = false;
  options.num_bands = 1;
  options.num_restarts = 1;
  options.covariance = DlgmmCovariance::Diagonal;
  options.fix = DlgmmFix::None;
}

class DlgmmMethod : public Method {
 public:
  std::vector<InputField> inputs() const override {
    std::vector<InputField> fields = inputs_of<PatchImages>();
    for (InputField& field : inputs_of<DlgmmStart>()) fields.push_back(std::move(field));
    return fields;
  }
  std::vector<Field> option_fields() override {
    std::vector<Field> fields = fields_of(options_);
    for (Field& field : fields_of(patches_)) fields.push_back(std::move(field));
    return fields;
  }
  std::vector<Field> own_fields() override { return fields_of(output_); }
  // It takes patches: what describes whole images says nothing about them, and its words are its
  // own.
  void adapt_to_collection(InputSpec& spec, DescribeSpec& describe) override {
    spec.vectors = spec.vector_names = spec.codebook = "";
    if (!describe.is_classifier()) describe = {};
    if (spec.feature.empty()) return;
    const std::vector<FeatureSpec> specs = parse_features(spec.feature);
    if (specs.size() != 1 || !specs[0].is_local()) spec.feature.clear();
  }

  // With whole SIFT on a grid of 16 pixels, unless another feature or grid is given.
  std::vector<Preset> presets() override {
    return {{"paper", [this](InputSpec&) {
               apply_paper_preset(options_);
               patches_.num_components = 0;
               patches_.image_feature = "none";
               wants_paper_grid_ = true;
             }}};
  }

  Input read(InputSpec& spec, Monitor& monitor) override {
    if (wants_paper_grid_) set_paper_grid(spec);
    codebook_ = spec.codebook;
    if (!spec.vectors.empty())
      throw InvalidArgument(
          fmt::format("vectors is {}, one row per image, but dlgmm takes patches: give a local "
                      "feature, such as "
                      "--feature onnx-patches:MODEL.onnx",
                      spec.vectors));
    PatchRequest request;
    request.path = spec.path;
    request.files = files();
    request.options = patches_;
    request.feature = spec.feature;
    request.max_side = spec.max_side;
    request.load = load_options_of(spec, options_.num_threads);
    request.seed = options_.seed;
    Input input;
    input.kind = SampleKind::Patches;
    input.patches = load_patch_images(request, monitor);
    PatchImages& images = input.patches;
    if (is_feature_folder(spec.path)) spec.feature = images.feature;
    if (images.max_side != DecodeOptions().max_side && !images.feature.empty())
      spec.max_side = std::to_string(images.max_side);
    patches_.image_feature = images.image_feature.empty() ? "none" : images.image_feature;
    input.warnings = images.warnings;
    if (patches_.step > 0 && !images.feature.empty())
      input.warnings.push_back(
          fmt::format("step is deprecated: write --feature dense-sift:step={}", patches_.step));
    if (options_.num_bands == 0) options_.num_bands = images.root.empty() ? 1 : 3;
    images.set_bands(options_.num_bands);
    input.data = image_dataset(images);
    input.images.feature = images.feature;
    input.images.max_side = spec.max_side;
    has_images_ = !images.root.empty();
    return input;
  }

  // The patches' own files were read with the patches.
  void bind(InputBinder& binder) override { visit_inputs(start_, binder); }

  RunOutcome fit(const Input& given, Monitor& given_monitor) override {
    const PatchImages& images = given.patches;
    DlgmmInput input;
    input.images = images.view();
    input.initial_labels = start_.initial_labels;
    Matrix<float> words;
    if (!codebook_.empty()) words = words_for(images, codebook_);
    input.initial_words = words.view();
    if (!words.empty()) options_.num_words = static_cast<int>(words.rows());
    const Team team(ranks(), given_monitor);
    Monitor& monitor = team.monitor();
    input.team = &team;
    const std::optional<DlgmmState> state = kept_state();
    input.resume = state ? &*state : nullptr;
    const std::string watched = watch_state(images);
    KeptFile kept(monitor);
    input.on_pass = [&](const DlgmmState& now) {
      require_unchanged(images, watched);
      keep(now, team, kept);
    };
    DlgmmResult fitted = fit_dlgmm(input, options_, monitor);
    require_unchanged(images, watched);
    is_complete_ = !monitor.should_stop();
    if (team.rank() > 0) return {};
    if (!is_complete_) kept.report(fitted.summary);
    std::vector<ResultFile> files;
    if (is_complete_) files = draw(images, fitted);
    if (is_complete_) add_tables(images, fitted, monitor, files);
    files.push_back({"bound.csv", bound_csv(fitted)});
    fitted.model.projection = images.projection;
    if (patches_.position_neighbors > 0)
      fitted.model.position_neighbors = {patches_.position_neighbors};
    Matrix<float> alpha(fitted.prediction.alpha.rows(), fitted.prediction.alpha.cols());
    for (int64_t i = 0; i < alpha.size(); ++i)
      alpha.data()[i] = static_cast<float>(fitted.prediction.alpha.data()[i]);
    Column probabilities = real_column("probabilities", fitted.prediction.probabilities.view());
    RunOutcome out = to_outcome(std::move(fitted));
    out.columns.push_back(std::move(probabilities));
    out.units = given.data;
    out.units->points = Points(std::move(alpha));
    out.units_root = images.root;
    out.files = std::move(files);
    return out;
  }

  // A checkpoint is needed until the result is there.
  void on_saved() override {
    if (is_complete_ && !output_.checkpoint.empty()) fs::remove(output_.checkpoint);
  }

  std::string new_input_text() const override {
    return has_images_ ? "FOLDER" : "NEW.npy --offsets OFFSETS.npy";
  }

 private:
  void set_paper_grid(InputSpec& spec) const {
    std::error_code error;
    const bool has_step = patches_.step != 0 || spec.feature.find("step=") != std::string::npos;
    if (has_step || !fs::is_directory(spec.path, error)) return;
    if (spec.feature.empty()) spec.feature = "dense-sift";
    if (spec.feature == "dense-sift" || spec.feature.starts_with("dense-sift:"))
      spec.feature += ":step=16";
  }

  static void require_unchanged(const PatchImages& images, const std::string& watched) {
    if (watch_state(images) != watched)
      throw DataError(fmt::format(
          "{} changed while it was in use: the result would match neither version; run again",
          images.source));
  }

  // Where a killed run had come to, from a file that all ranks see.
  std::optional<DlgmmState> kept_state() {
    if (output_.checkpoint.empty()) return std::nullopt;
    const bool exists = fs::exists(output_.checkpoint);
    if (ranks().size() > 1)
      check_same_everywhere(ranks(), output_.checkpoint,
                            exists ? hex(hash_text(read_text_file(output_.checkpoint))) : "");
    if (!exists) return std::nullopt;
    return load_model<DlgmmState>(output_.checkpoint);
  }

  void keep(const DlgmmState& now, const Team& team, KeptFile& kept) const {
    if (output_.checkpoint.empty()) return;
    const auto save = [&](const DlgmmState& all) {
      kept.save([&] { save_model(output_.checkpoint, all); });
    };
    if (!team.is_shared()) return save(now);
    const DlgmmState all = gather_state(now, team);
    if (team.rank() == 0) save(all);
  }

  void add_tables(const PatchImages& images, const DlgmmResult& fitted, Monitor& monitor,
                  std::vector<ResultFile>& files) const {
    const int threads = options_.num_threads;
    files.push_back(
        counts_file(fitted.model, images.view(), fitted.prediction.alpha, threads, monitor));
    for (ResultFile& file : correlation_files(fitted.model)) files.push_back(std::move(file));
    if (!output_.probabilities) return;
    for (ResultFile& file :
         soft_files(fitted.model, images.view(), fitted.prediction, threads, monitor))
      files.push_back(std::move(file));
  }

  // The result is worth more than its pictures.
  std::vector<ResultFile> draw(const PatchImages& images, DlgmmResult& fitted) const {
    try {
      return draw_dlgmm(images, fitted, options_.num_threads);
    } catch (const Error& error) {
      fitted.summary.warnings.push_back(
          fmt::format("words and clusters could not be drawn: {}", error.what()));
      return {};
    }
  }

  DlgmmOptions options_;
  PatchOptions patches_;
  DlgmmFiles output_;
  DlgmmStart start_;
  std::string codebook_;
  bool wants_paper_grid_ = false;  // SIFT every 16 pixels, unless another feature or grid is given
  bool has_images_ = false;
  bool is_complete_ = false;
};

constexpr const char* kExample =
    "  milieu dlgmm photos --words 100 --clusters 15 --out run\n"
    "    groups the images in photos/ and learns their 100 visual words together; three bands\n"
    "    separate sky from ground. Your own patches, and the paper's spatially coherent model:\n"
    "  milieu dlgmm patches.npy --offsets offsets.npy --words 50 --clusters 4\n"
    "  milieu dlgmm photos --words 100 --clusters 15 --preset paper --gamma 0.5\n";

}  // namespace

MethodEntry dlgmm_method() {
  return {.name = "dlgmm",
          .title = "Double-layer Gaussian mixture",
          .summary = "clusters of images and their codebook, learned together",
          .group = MethodGroup::Context,
          .needs = {MethodNeed::Images},
          .shares_rows = true,
          .example = kExample,
          .make = std::make_unique<DlgmmMethod>,
          .predictors = {internal::predictor<&DlgmmModel::words>()}};
}

}  // namespace milieu
