// SPDX-License-Identifier: Apache-2.0
// Textures and scenes of [Komodakis11, section 6]: features x distances as candidates, half of each
// class for training, the other half to be clustered, and classified by the nearest training
// sample. Beside the learned distance: the average of all normalised candidates and the best single
// one (chosen by its own accuracy on the test half, so it has more than its due); both are told the
// true number of clusters. Features are computed once, codebooks from all pictures without their
// classes, into a cache.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn.h"
#include "milieu/feature/decode.h"
#include "milieu/feature/extract.h"
#include "milieu/feature/feature_store.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/learn_report.h"
#include "milieu/render/page.h"
#include "milieu/render/png.h"
#include "picture_input.h"
#include "reproduce_exemplar.h"

namespace milieu::cli {

namespace {

struct PictureSetting {
  std::string set;  // folder of the data sets
  std::string title;
  std::string features;   // list, one cached folder each
  int max_per_class = 0;  // pictures of a class that take part, drawn at random; 0: all
  int own_runs = 10;
};

// All pictures with the columns of all features side by side.
struct PictureSet {
  Matrix<float> points;
  std::vector<std::string> paths;  // below root
  std::string root;
  std::vector<int> classes;
  int num_classes = 0;
  std::vector<CandidateDistance> candidates;
};

constexpr std::array kDistances = {std::pair{Distance::ChiSquared, "chi2"},
                                   std::pair{Distance::SquaredEuclidean, "l2"},
                                   std::pair{Distance::L1, "l1"}, std::pair{Distance::Rbf, "RBF"}};

// The pictures that take part: up to `max_per_class` of each class, the same for every run.
ImageFolder draw_pictures(ImageFolder all, int max_per_class) {
  if (max_per_class == 0) return all;
  ImageFolder drawn;
  drawn.root = all.root;
  drawn.labels.names = all.labels.names;
  Random random(15);
  std::vector<std::vector<int64_t>> members(all.labels.names.size());
  for (size_t i = 0; i < all.paths.size(); ++i)
    members[static_cast<size_t>(all.labels.indices[i])].push_back(static_cast<int64_t>(i));
  for (std::vector<int64_t>& each : members) {
    random.shuffle(std::span(each));
    each.resize(std::min<size_t>(each.size(), static_cast<size_t>(max_per_class)));
    std::sort(each.begin(), each.end());
    for (const int64_t i : each) {
      drawn.paths.push_back(all.paths[static_cast<size_t>(i)]);
      drawn.labels.indices.push_back(all.labels.indices[static_cast<size_t>(i)]);
    }
  }
  return drawn;
}

void add_feature(const FeatureFolder& folder, const std::string& id, PictureSet& set) {
  const Points points = folder.points(id);
  const int64_t first = set.points.cols();
  Matrix<float> joined(points.rows(), first + points.cols());
  bool is_histogram = true;
  for (int64_t i = 0; i < points.rows(); ++i) {
    if (first > 0) std::copy_n(set.points.row(i), first, joined.row(i));
    std::copy_n(points.view().row(i), points.cols(), joined.row(i) + first);
    for (int64_t t = 0; t < points.cols(); ++t)
      is_histogram = is_histogram && points.view()(i, t) >= 0;
  }
  set.points = std::move(joined);
  for (const auto& [distance, name] : kDistances)
    if (is_histogram || distance != Distance::ChiSquared)
      set.candidates.push_back({fmt::format("{} {}", id, name), distance, 0, first, points.cols()});
}

// Null when stopped: features that are done stay in the cache.
bool load_pictures(const PictureSetting& setting, ReproduceRun& run, PictureSet& set) {
  const ImageFolder images =
      draw_pictures(list_image_folder(run.data_file(setting.set)), setting.max_per_class);
  set.root = images.root;
  set.paths = images.paths;
  set.classes = images.labels.indices;
  set.num_classes = static_cast<int>(images.labels.names.size());
  for (FeatureSpec& spec : parse_features(setting.features)) {
    const std::string id = spec.id, text = to_text(spec);
    std::string place = text;
    for (char& c : place)
      if (c == ':' || c == '=') c = '-';
    ExtractOptions extract;
    extract.num_threads = run.options().num_threads;
    extract.waits = true;
    std::vector<FeatureSpec> one;
    one.push_back(std::move(spec));
    run.say(fmt::format("{} of {} pictures", text, images.paths.size()));
    const std::string folder = fmt::format("{}/reproduce-{}-{}-{}", cache_folder(), setting.set,
                                           images.paths.size(), place);
    const ExtractResult result =
        extract_features(images, std::move(one), folder, extract, run.monitor());
    if (!result.is_complete || run.is_stopped()) return false;
    add_feature(open_feature_folder(folder), id, set);
  }
  return true;
}

// As many candidates of noise as there are real ones [Komodakis11, section 6].
void add_noise(PictureSet& set, uint64_t seed) {
  Random random(seed);
  constexpr int64_t kColumns = 50;
  const size_t num_views = (set.candidates.size() + 3) / 4;
  const int64_t first = set.points.cols();
  Matrix<float> joined(set.points.rows(), first + kColumns * static_cast<int64_t>(num_views));
  for (int64_t i = 0; i < joined.rows(); ++i) {
    std::copy_n(set.points.row(i), first, joined.row(i));
    for (int64_t t = first; t < joined.cols(); ++t)
      joined(i, t) = static_cast<float>(std::abs(random.normal()));
  }
  set.points = std::move(joined);
  for (size_t v = 0; v < num_views; ++v)
    for (const auto& [distance, name] : kDistances)
      set.candidates.push_back({fmt::format("noise {} {}", v, name), distance, 0,
                                first + kColumns * static_cast<int64_t>(v), kColumns});
}

struct Half {
  Matrix<float> points;
  std::vector<int> classes;
  std::vector<int64_t> rows;  // in the whole set
};

// Half of every class each, drawn at random.
std::pair<Half, Half> split(const PictureSet& set, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(set.num_classes));
  for (size_t i = 0; i < set.classes.size(); ++i)
    members[static_cast<size_t>(set.classes[i])].push_back(static_cast<int64_t>(i));
  std::pair<Half, Half> halves;
  for (std::vector<int64_t>& each : members) {
    random.shuffle(std::span(each));
    for (size_t i = 0; i < each.size(); ++i)
      (i < each.size() / 2 ? halves.first : halves.second).rows.push_back(each[i]);
  }
  for (Half* half : {&halves.first, &halves.second}) {
    std::sort(half->rows.begin(), half->rows.end());
    half->points = Matrix<float>(static_cast<int64_t>(half->rows.size()), set.points.cols());
    for (size_t i = 0; i < half->rows.size(); ++i) {
      std::copy_n(set.points.row(half->rows[i]), set.points.cols(),
                  half->points.row(static_cast<int64_t>(i)));
      half->classes.push_back(set.classes[static_cast<size_t>(half->rows[i])]);
    }
  }
  return halves;
}

// Distances of the candidates, one matrix each; from the rows of `a` to those of `b`.
std::vector<Matrix<float>> all_distances(const std::vector<CandidateDistance>& candidates,
                                         FloatView a, FloatView b) {
  std::vector<Matrix<float>> all;
  for (const CandidateDistance& c : candidates) {
    all.emplace_back(a.rows(), b.rows());
    const FloatView x(a.data() + c.first_column, a.rows(), c.num_columns, a.stride());
    const FloatView y(b.data() + c.first_column, b.rows(), c.num_columns, b.stride());
    pair_distances(c.distance, x, y, all.back(), c.gamma);
  }
  return all;
}

Matrix<float> weighted_sum(const std::vector<Matrix<float>>& all, const std::vector<double>& w) {
  Matrix<float> sum(all[0].rows(), all[0].cols());
  for (size_t t = 0; t < all.size(); ++t)
    for (int64_t i = 0; w[t] != 0 && i < sum.size(); ++i)
      sum.data()[i] += static_cast<float>(w[t]) * all[t].data()[i];
  return sum;
}

// Share of rows whose nearest column has their class.
double nearest_accuracy(const Matrix<float>& distances, const std::vector<int>& rows,
                        const std::vector<int>& columns) {
  double right = 0;
  for (int64_t i = 0; i < distances.rows(); ++i) {
    const auto row = distances.row_span(i);
    const auto nearest = std::min_element(row.begin(), row.end()) - row.begin();
    right += rows[static_cast<size_t>(i)] == columns[static_cast<size_t>(nearest)];
  }
  return right / static_cast<double>(distances.rows());
}

struct Found {
  double accuracy = 0, f = 0;
  double count = 0;
  std::vector<int64_t> exemplars;
};

// With `num_clusters` > 0 the true number is told, else the penalty decides.
Found cluster(const Matrix<float>& costs, const std::vector<int>& truth, double penalty,
              int num_clusters, ReproduceRun& run) {
  ExemplarInput input;
  input.costs = costs;
  ExemplarOptions options;
  options.distance = Distance::Precomputed;
  options.rel_gap = 1e-3;
  options.num_clusters = num_clusters;
  if (num_clusters == 0) options.penalty = to_text(FieldValue(penalty));
  options.num_threads = run.options().num_threads;
  const ExemplarResult result = fit_exemplar(input, options, run.monitor());
  const Metrics m = compute_metrics(result.labels, truth);
  return {m.accuracy, m.f, static_cast<double>(m.num_clusters), result.model.rows};
}

constexpr int kRounds = 600;  // the objective still falls after the default's 200

// One split, in the order of kFigures.
constexpr std::array kFigures = {"learned, accuracy",     "learned, F",       "learned, clusters",
                                 "calibrated, accuracy",  "told k, accuracy", "average, accuracy",
                                 "best single, accuracy", "learned, NN",      "average, NN",
                                 "best single, NN",       "seconds",          "noise share"};

struct SplitResult {
  std::vector<double> figures;
  ExemplarLearnResult learned;
  std::vector<int64_t> exemplars;  // rows of the whole set
  size_t best_single = 0;
};

SplitResult run_split(const PictureSet& set, uint64_t seed, ReproduceRun& run) {
  const auto [train, test] = split(set, seed);
  ExemplarLearnOptions options;
  options.learn_penalty = true;
  options.train.max_iterations = kRounds;
  options.calibrate = true;
  options.train.num_threads = run.options().num_threads;
  SplitResult out;
  out.learned = learn_exemplar_distance({{{train.points, train.classes}}, set.candidates}, options,
                                        run.monitor());
  if (run.is_stopped()) return out;
  const LearnedDistance& model = out.learned.model;
  double factor = 1;
  for (const auto& [name, value] : out.learned.summary.extra)
    if (name == "calibration_factor") factor = std::get<double>(value);
  const auto candidates = candidates_of(model);
  const auto within = all_distances(candidates, test.points, test.points);
  const auto across = all_distances(candidates, test.points, train.points);
  std::vector<double> average(candidates.size());
  size_t best = 0;
  double best_nn = 0;
  for (size_t t = 0; t < candidates.size(); ++t) {
    double sum = 0;
    for (int64_t i = 0; i < across[t].size(); ++i) sum += across[t].data()[i];
    average[t] = sum > 0 ? static_cast<double>(across[t].size()) / sum : 0.0;
    const double nn = nearest_accuracy(across[t], test.classes, train.classes);
    if (nn > best_nn) best_nn = nn, best = t;
  }
  const Matrix<float> costs = weighted_sum(within, model.weights);
  const Found plain = cluster(costs, test.classes, model.penalty / factor, 0, run);
  const Found calibrated = cluster(costs, test.classes, model.penalty, 0, run);
  const Found told = cluster(costs, test.classes, 0, set.num_classes, run);
  const Found mean = cluster(weighted_sum(within, average), test.classes, 0, set.num_classes, run);
  const Found single = cluster(within[best], test.classes, 0, set.num_classes, run);
  double noise = 0;
  for (size_t t = 0; t < candidates.size(); ++t)
    if (candidates[t].name.starts_with("noise")) noise += out.learned.shares[t];
  for (const int64_t row : plain.exemplars)
    out.exemplars.push_back(test.rows[static_cast<size_t>(row)]);
  out.best_single = best;
  out.figures = {plain.accuracy,
                 plain.f,
                 plain.count,
                 calibrated.accuracy,
                 told.accuracy,
                 mean.accuracy,
                 single.accuracy,
                 nearest_accuracy(weighted_sum(across, model.weights), test.classes, train.classes),
                 nearest_accuracy(weighted_sum(across, average), test.classes, train.classes),
                 best_nn,
                 out.learned.summary.seconds,
                 noise};
  return out;
}

// Figures 3 to 7: weights, objective and exemplars of one split.
void draw_page(const PictureSetting& setting, const PictureSet& set, const SplitResult& split,
               const std::string& name, ReproduceRun& run) {
  if (run.options().out.empty()) return;
  const MakePicture make = [&set](int64_t row, int max_side) {
    const Image image =
        load_image(set.root + "/" + set.paths[static_cast<size_t>(row)], {.max_side = max_side});
    RasterImage picture(image.width, image.height, 3);
    picture.pixels = image.rgb;
    return picture;
  };
  NamedLine objective;
  for (size_t i = 0; i < split.learned.summary.trace.size(); ++i) {
    objective.x.push_back(static_cast<double>(i + 1));
    objective.y.push_back(split.learned.summary.trace[i]);
  }
  Markup page;
  page.open("header");
  add_masthead(page, "reproduction");
  page.element("h1", "Learning to cluster: " + setting.set).close("header");
  page.open("div", {{"class", "grid"}});
  open_card(page, CardWidth::Full, "Learned weights", "of features and distances, one split");
  page.raw(
      render_weight_bars(lines_of(split.learned.model.names), split.learned.shares, "weights"));
  Table table;
  table.caption = "Candidates by their share";
  table.columns = {{"Candidate"}, {"Share", ColumnKind::Number}};
  std::vector<size_t> order(set.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return split.learned.shares[a] > split.learned.shares[b];
  });
  for (size_t i = 0; i < std::min<size_t>(12, order.size()); ++i)
    table.rows.push_back({set.candidates[order[i]].name,
                          fmt::format("{:.1f} %", 100 * split.learned.shares[order[i]])});
  add_table(page, table);
  close_card(page);
  open_card(page, CardWidth::Half, "Objective", "after each round of training");
  page.raw(render_lines("objective", "Objective", "round", "objective", {objective}));
  close_card(page);
  open_card(page, CardWidth::Full, "Exemplars",
            fmt::format("{} of the test half were chosen for {} classes", split.exemplars.size(),
                        set.num_classes));
  SheetFigure sheet;
  sheet.title = "All exemplars";
  sheet.size = std::ssize(split.exemplars);
  sheet.strips.push_back({"", "the exemplars found", split.exemplars});
  page.raw(render_sheets(make, {sheet}));
  close_card(page);
  page.close("div");
  add_footer(page, fmt::format("Seed {}.", run.options().seed));
  run.write(name + ".html", render_page("Learning to cluster - Milieu", std::move(page).finish()));
  run.write(name + "_exemplars.png", encode_png(make_picture_sheet(make, split.exemplars, 10)));
}

void run_pictures(const PictureSetting& setting, ReproduceRun& run) {
  PictureSet plain;
  if (!load_pictures(setting, run, plain)) return;
  const std::string name = "exemplar_" + setting.set;
  DoneRuns done(run, name);
  ResultTable table{name, setting.title, {"figure", "features", "and as much noise"}, {}, {}};
  for (const char* figure : kFigures) table.rows.push_back({figure});
  const int num_runs = run.num_runs(setting.own_runs);
  std::vector<std::string> best_names;
  for (const bool with_noise : {false, true}) {
    PictureSet set = plain;
    if (with_noise) add_noise(set, 3);
    std::vector<std::vector<double>> columns(kFigures.size());
    for (int i = 0; i < num_runs; ++i) {
      const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
      const std::string key =
          fmt::format("{} rounds{} noise{} seed{}", setting.features, kRounds, with_noise, seed);
      const bool draws = i == 0 && !with_noise;
      if (done.find(key) == nullptr || draws) {
        run.say(fmt::format("split {}{}", seed, with_noise ? " with noise" : ""));
        const SplitResult result = run_split(set, seed, run);
        if (run.is_stopped()) return;
        if (draws) draw_page(setting, set, result, name, run);
        done.add(key, result.figures);
      }
      for (size_t f = 0; f < kFigures.size(); ++f) columns[f].push_back(done.find(key)->at(f));
    }
    for (size_t f = 0; f < kFigures.size(); ++f) {
      const bool is_plain_number = std::string_view(kFigures[f]) == "learned, clusters" ||
                                   std::string_view(kFigures[f]) == "seconds";
      table.rows[f].push_back(is_plain_number ? fmt::format("{:.1f}", mean_of(columns[f]))
                                              : interval_text(columns[f]));
    }
  }
  table.notes = {
      fmt::format("{} pictures, {} classes, {} candidates, {} splits in halves; accuracy "
                  "in % by the best matching",
                  plain.paths.size(), plain.num_classes, plain.candidates.size(), num_runs),
      "average and best single are told the number of clusters; the best single is the "
      "one whose nearest neighbours are right most often on the test half"};
  run.show(table);
}

constexpr const char* kTextureFeatures =
    "gist,hog,lbp,rot-lbp,dense-sift,sparse-sift,hessian-affine,textons,mr8";

}  // namespace

void reproduce_exemplar_brodatz(ReproduceRun& run) {
  run_pictures({.set = "brodatz24",
                .title = "Brodatz, 24 classes, in place of Outex [Komodakis11: accuracy 100]",
                .features = kTextureFeatures},
               run);
}

void reproduce_exemplar_uiuc(ReproduceRun& run) {
  run_pictures({.set = "uiuc_textures",
                .title = "UIUC textures, 14 of 40 pictures a class [Komodakis11: accuracy 86, NN "
                         "95.3 / 96.1; singles and average below 90]",
                .features = kTextureFeatures},
               run);
}

void reproduce_exemplar_scenes(ReproduceRun& run) {
  run_pictures({.set = "scenes15",
                .title = "15 scenes, 80 pictures a class [Komodakis11: accuracy 63, NN 70.2; "
                         "singles and average at most 61]",
                .features = "gist,lbp,rot-lbp,hog:pyramid=3,dense-sift:pyramid=3,textons:pyramid=3,"
                            "mr8:pyramid=2,sparse-sift",
                .max_per_class = 80},
               run);
}

}  // namespace milieu::cli
