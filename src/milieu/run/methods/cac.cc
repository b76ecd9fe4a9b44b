// SPDX-License-Identifier: Apache-2.0
// cac (cac/cac.h) as a run: rows, views or keypoints of images, with the groups they occur in.
#include "milieu/run/methods/cac.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/input/keypoints.h"
#include "milieu/input/views.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/predictor_internal.h"
#include "milieu/store/labels_csv.h"

namespace milieu {

namespace {

struct CacRunInput : CacInput {
  std::span<const double> group_weights;  // one per group; empty: all 1
  std::span<const int> word_truth;        // n: true classes for the words; empty: unknown
};

template <class Visitor>
void visit_inputs(CacRunInput& in, Visitor&& v) {
  visit_inputs(static_cast<CacInput&>(in), v);
  v("group_weights", in.group_weights, InputRule{InputKind::Numbers, "groups"},
    "weight of every group");
  v("word_truth", in.word_truth, InputRule{InputKind::Classes, "n"},
    "true class of every sample for the words (default: truth, where it fits)");
}

struct CacDrawing {
  bool overlay = false;
};

template <class Visitor>
void visit_fields(CacDrawing& o, Visitor&& v) {
  v("overlay", o.overlay, anything(),
    "image folders: draw words and phrases over each image, in the run folder");
}

// Errors of the words and phrases after each half step, of every start.
class ErrorTrace : public CacObserver {
 public:
  ErrorTrace(std::span<const int> word_truth, std::span<const int> phrase_truth)
      : word_truth_(word_truth), phrase_truth_(phrase_truth) {}

  void on_step(int restart, const CacStep&, std::span<const int> words,
               std::span<const int> phrases) override {
    CacErrors& errors = by_restart_[restart];
    if (!word_truth_.empty())
      errors.words.push_back(compute_metrics(words.first(word_truth_.size()), word_truth_).error);
    if (!phrase_truth_.empty())
      errors.phrases.push_back(
          compute_metrics(phrases.first(phrase_truth_.size()), phrase_truth_).error);
  }
  CacErrors of(int restart) { return by_restart_[restart]; }

 private:
  std::span<const int> word_truth_, phrase_truth_;
  std::map<int, CacErrors> by_restart_;
};

class CacMethod : public MethodWith<CacOptions, CacRunInput> {
 public:
  std::vector<Field> own_fields() override { return fields_of(drawing_); }

  // What [Yuan08] prints: k-means words, phrases by the Hamming distance, raw distances, one
  // restart, lambda at once. The texton experiment (Sec. 3.2) by default; with views, that of the
  // digits (Sec. 3.3).
  std::vector<Preset> presets() override {
    const auto apply_common = [this] {
      options_.phrase_model = CacPhraseModel::Counts;
      options_.scaling = CacScaling::Raw;
      options_.init = CacInit::Words;
      options_.phrase_init = CacPhraseInit::KModes;
      options_.num_restarts = 1;
      options_.continuation = false;
      options_.reseed = false;
      options_.num_neighbors = 10;
      options_.view_neighbors = 0;
    };
    return {{"paper",
             [this, apply_common](InputSpec&) {
               apply_common();
               const bool has_views = files().has("view");
               options_.num_words = has_views ? 10 : 25;
               options_.num_phrases = has_views ? 10 : 2;
               options_.tau = has_views ? 1 : 0.5;
             }},
            {"paper-simulation", [this, apply_common](InputSpec&) {
               apply_common();
               options_.num_words = 5;
               options_.num_phrases = 2;
               options_.epsilon = 100;
               options_.lambda = 2000;
             }}};
  }

  bool takes_input() const override { return !has_views(); }

  // Views take the place of INPUT, which is the first of them. Images are read by their keypoints,
  // unless other files say what occurs together.
  void adapt_to_collection(InputSpec& spec, DescribeSpec& describe) override {
    if (has_views()) {
      for (const Field& field : files().fields())
        if (field.name == "view") field.set(spec.path + "\n" + files()["view"]);
      spec.path.clear();
      describe = {};
    } else if (!files().has("positions") && !files().has("groups") && !files().has("links")) {
      spec.feature = spec.max_side = spec.codebook = spec.vectors = spec.vector_names = "";
      if (!describe.is_classifier()) describe = {};
    }
  }

  // Views in place of INPUT; keypoints of images; rows, where a feature is named or INPUT is a
  // file.
  Input read(InputSpec& spec, Monitor& monitor) override {
    const LoadOptions load = load_options_of(spec, options_.num_threads);
    if (has_views()) return read_views(load);
    std::error_code error;
    if (spec.feature.empty() && spec.vectors.empty() &&
        std::filesystem::is_directory(spec.path, error))
      if (std::optional<Input> keypoints = read_keypoints(spec.path, load))
        return std::move(*keypoints);
    return read_rows(spec, options_.num_threads, "", monitor);
  }

  void bind(InputBinder& binder) override {
    check_usage();
    binder_ = &binder;
    visit_inputs(input_, binder);
    word_truth_.assign(input_.word_truth.begin(), input_.word_truth.end());
    if (input_.group_weights.empty()) return;
    ContextGroups& groups = *binder.groups();
    if (static_cast<int64_t>(input_.group_weights.size()) != groups.num_groups())
      throw DataError(fmt::format(
          "{} has {}, must have {}: one weight per group", files()["group_weights"],
          counted(input_.group_weights.size(), "entry", "entries"), groups.num_groups()));
    groups.group_weights.assign(input_.group_weights.begin(), input_.group_weights.end());
  }

  Labels read_truth(const InputBinder& binder, const std::string& path) override;
  RunOutcome fit(const Input& input, Monitor& monitor) override;

 private:
  bool has_views() const { return const_cast<CacMethod*>(this)->files().has("view"); }
  bool has_own_groups() { return files().has("groups") && num_views_ <= 1; }

  Input read_views(const LoadOptions& load) {
    Views views = load_views(split_text(files()["view"], '\n'), load);
    Input input;
    input.kind = SampleKind::Views;
    num_views_ = views.points.size();
    input.views = std::move(views.points);
    input.data = std::move(views.data);
    return input;
  }

  std::optional<Input> read_keypoints(const std::string& path, const LoadOptions& load) {
    std::optional<KeypointSet> set =
        is_feature_folder(path) ? keypoints_of_features(path, load) : load_keypoints(path, load);
    if (!set) return std::nullopt;
    Input input;
    input.kind = SampleKind::Keypoints;
    input.data = std::move(set->data);
    input.places = {Points(std::move(set->positions)), std::move(set->images),
                    std::move(set->paths), set->root, set->max_side};
    input.warnings = std::move(set->skipped);
    has_keypoints_ = true;
    return input;
  }

  void check_usage() {
    const auto has = [&](const char* name) { return files().has(name); };
    if (drawing_.overlay && !has_keypoints_)
      throw InvalidArgument("--overlay is given without images: INPUT must be an image folder");
    if (has_keypoints_ && (has("groups") || has("positions") || has("links")))
      throw InvalidArgument(
          "an image folder has its own positions: leave out --groups, --links and --positions, or "
          "name a feature of whole images");
    if (has("groups") + has("positions") + has("links") > 1)
      throw InvalidArgument("give only one of --groups, --links and --positions");
    if (has("group_weights") && !has("groups"))
      throw InvalidArgument("--group-weights is given without --groups: give the groups too");
    if (has("images") && !has("positions"))
      throw InvalidArgument("--images is given without --positions: give the positions too");
  }

  void add_overlays(const Input& input, const CacResult& result, RunOutcome& out) const;
  void add_row_labels(const Input& input, const CacResult& result, RunOutcome& out);
  void add_metrics(const CacResult& result, RunOutcome& out) const;
  void add_columns(const Input& input, const CacResult& result, RunOutcome& out) const;
  Dataset units_of(const Dataset& data);

  CacDrawing drawing_;
  InputBinder* binder_ = nullptr;
  size_t num_views_ = 0;
  bool has_keypoints_ = false;
  std::vector<int> word_truth_;    // of the kept rows; empty: unknown
  std::vector<int> phrase_truth_;  // of the labels; empty: unknown
};

// A truth with one entry per group belongs to the phrases, one with an entry per row to the words,
// and to the phrases too where every row has its own group.
Labels CacMethod::read_truth(const InputBinder& binder, const std::string& path) {
  const RowFiles& rows = binder.rows();
  const int64_t num_groups = has_own_groups() ? input_.groups->num_groups() : 0;
  Labels truth;
  bool is_of_rows = true;
  if (path.empty()) {
    truth = rows.data().labels;
  } else if (has_own_groups()) {
    truth = load_labels(path);
    is_of_rows =
        static_cast<int64_t>(truth.indices.size()) != num_groups || num_groups == rows.num_rows();
    if (is_of_rows) truth = rows.labels(path);
  } else {
    truth = rows.labels(path);
  }
  if (is_of_rows && word_truth_.empty()) word_truth_ = truth.indices;
  const bool fits_labels =
      !has_own_groups() || !is_of_rows || num_groups == static_cast<int64_t>(truth.indices.size());
  if (!fits_labels) return {};
  phrase_truth_ = truth.indices;
  return truth;
}

// One picture per image: the words at the end, then phrases at the stages of [Yuan08, Fig. 2].
void CacMethod::add_overlays(const Input& input, const CacResult& result, RunOutcome& out) const {
  const SamplePlaces& places = input.places;
  for (size_t p = 0; p < places.paths.size(); ++p) {
    std::vector<int> rows;
    std::vector<int64_t> keypoints;
    for (size_t i = 0; i < places.images.size(); ++i)
      if (places.images[i] == static_cast<int>(p)) {
        rows.push_back(static_cast<int>(i));
        keypoints.push_back(static_cast<int64_t>(i));
      }
    if (rows.empty()) continue;
    std::string name = places.paths[p];
    std::replace(name.begin(), name.end(), '/', '_');
    DecodeOptions decode;
    decode.max_side = places.max_side;
    const Image image = load_image(places.root + "/" + places.paths[p], decode);
    if (!name.ends_with(".png")) name += ".png";
    out.files.push_back(
        {"overlay_" + name,
         draw_stages(image, places.positions.gather(keypoints).view(), rows, result)});
  }
}

// Labels are of keypoints or groups there: what the rows (images, samples) are called by them.
void CacMethod::add_row_labels(const Input& input, const CacResult& result, RunOutcome& out) {
  const SamplePlaces& places = input.places;
  if (has_keypoints_) {
    out.row_labels = phrases_of_images(result, places.images, places.paths.size());
    out.files.push_back({"row_labels.csv", labels_csv_text(out.row_labels, places.paths, {})});
  } else if (has_own_groups()) {
    out.row_labels = phrases_of_members(result, *input_.groups);
    out.files.push_back({"row_labels.csv", labels_csv_text(out.row_labels, input.data.sample_names,
                                                           input.data.rows)});
  }
}

// Groups as the labels' rows: each is represented by the mean of its members.
Dataset CacMethod::units_of(const Dataset& data) {
  const ContextGroups& groups = *input_.groups;
  Dataset units;
  Matrix<float> means(groups.num_groups(), data.points.cols());
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    for (const int i : groups.members_of(g))
      for (int64_t t = 0; t < means.cols(); ++t)
        means(g, t) += data.points.view()(i, t) / static_cast<float>(groups.members_of(g).size());
  units.points = Points(std::move(means));
  units.sample_names = binder_->group_names();
  units.sample_shape = {units.points.cols()};
  units.source = files()["groups"];
  return units;
}

void CacMethod::add_metrics(const CacResult& result, RunOutcome& out) const {
  if (word_truth_.empty()) return;
  NamedMetrics named{"word_metrics", {}};
  const size_t n = word_truth_.size();
  for (size_t first = 0; first + n <= result.words.size(); first += n)
    named.metrics.push_back(
        compute_metrics(std::span(result.words).subspan(first, n), word_truth_));
  out.metrics.push_back(std::move(named));
}

// Words of the samples, first view; of keypoints also where they are and their phrases.
void CacMethod::add_columns(const Input& input, const CacResult& result, RunOutcome& out) const {
  const auto n = static_cast<size_t>(input.data.points.rows());
  if (result.words.size() < n) return;
  const auto end = result.words.begin() + static_cast<int64_t>(n);
  out.columns.push_back(whole_column("words", {result.words.begin(), end}));
  if (result.margins.size() >= n)
    out.columns.push_back(real_column(
        "word_margins", std::vector<float>(result.margins.begin(),
                                           result.margins.begin() + static_cast<int64_t>(n))));
  if (!has_keypoints_) return;
  out.columns.push_back(whole_column("phrases", {result.phrases.begin(), result.phrases.end()}));
  out.columns.push_back(real_column("positions", input.places.positions.view()));
  out.columns.push_back(
      whole_column("images", {input.places.images.begin(), input.places.images.end()}));
}

RunOutcome CacMethod::fit(const Input& input, Monitor& monitor) {
  if (input.views.empty()) input_.views = {input.data.points.view()};
  for (const Points& points : input.views) input_.views.push_back(points.view());
  if (has_keypoints_) {
    input_.positions = input.places.positions.view();
    input_.images = input.places.images;
  }
  const Team team(ranks(), monitor);
  input_.team = &team;
  ErrorTrace trace(word_truth_, phrase_truth_);
  const bool has_truth = !word_truth_.empty() || !phrase_truth_.empty();
  CacResult result = fit_cac(input_, options_, team.monitor(), has_truth ? &trace : nullptr);
  if (team.rank() > 0) return {};
  const CacErrors errors = trace.of(result.summary.restart);
  if (!errors.phrases.empty()) result.summary.extra.emplace_back("step_error", errors.phrases);
  if (!errors.words.empty()) result.summary.extra.emplace_back("step_word_error", errors.words);
  RunOutcome out;
  out.model = to_model_file(result.model);
  out.summary = result.summary;
  out.text = stability_text(result.summary);
  add_metrics(result, out);
  add_columns(input, result, out);
  if (!result.phrases.empty()) {
    out.files = cac_tables(result, input.data, errors);
    add_row_labels(input, result, out);
  }
  if (drawing_.overlay && !result.snapshots.empty()) add_overlays(input, result, out);
  if (has_own_groups()) out.units = units_of(input.data);
  out.labels = std::move(result.labels);
  return out;
}

constexpr const char* kExample =
    "  milieu cac sift.npy --positions places.npy --words 25 --phrases 2 --out run\n"
    "    clusters descriptors into 25 words, and the groups that each forms with its 10 nearest\n"
    "    neighbours into 2 phrases. Several views of the same samples, without INPUT:\n"
    "  milieu cac --view fou.npy --view kar.npy --view pix.npy --words 10 --phrases 10\n"
    "    gives each view its own words; the phrases are the clusters of the samples.\n";

}  // namespace

MethodEntry cac_method() {
  return {.name = "cac",
          .title = "Context-aware clustering",
          .summary = "context-aware clustering: words of samples, phrases of groups",
          .group = MethodGroup::Context,
          .needs = {MethodNeed::Images},
          .shared_files = {"positions", "images", "groups", "links", "view"},
          .shares_rows = true,
          .example = kExample,
          .make = std::make_unique<CacMethod>,
          .predictors = {internal::predictor<&CacModel::prototypes>()}};
}

}  // namespace milieu
