// SPDX-License-Identifier: Apache-2.0
// Textures and scenes of [Komodakis11, section 6]: features x distances as candidates, half of each
// class for training, the other half to be clustered, and classified by the nearest training
// sample. Beside the learned distance: the average of all normalised candidates and the best single
// one (chosen by its accuracy on the test half, which favours it); both are told the true number of
// clusters. Features are computed once and cached; codebooks come from all images without their
// classes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/page.h"
#include "milieu/render/png.h"
#include "milieu/report/learn_report.h"
#include "reproduce/exemplar.h"
#include "reproduce/exemplar_load.h"
#include "reproduce/exemplar_steps.h"

namespace milieu::cli {

namespace {

// One split, in the order of kFigures. "told" is given the true number of clusters.
constexpr std::array kFigures = {"learned, accuracy",
                                 "learned, F",
                                 "learned, clusters",
                                 "learned, by exemplars",
                                 "learned, by exemplars, told",
                                 "learned, by cut, told",
                                 "average, by exemplars, told",
                                 "average, by cut, told",
                                 "best single, by cut, told",
                                 "learned, NN",
                                 "average, NN",
                                 "best single, NN",
                                 "share of full metrics",
                                 "noise share",
                                 "seconds"};

struct SplitResult {
  std::vector<double> figures;
  ExemplarLearnResult learned;
  std::vector<int64_t> exemplars;  // rows of the whole set
  size_t best_single = 0;
};

// A distance with other weights of the same candidates, and nothing else learned.
LearnedDistance unlearned(LearnedDistance model, std::vector<double> weights) {
  model.weights = std::move(weights);
  model.metric = {};
  model.metric_roots.clear();
  model.grouping.clear();
  model.known = {};
  return model;
}

Metrics cluster_test(const LearnedDistance& model, const Half& test, ExemplarGrouping grouping,
                     int num_clusters, ReproduceRun& run, std::vector<int64_t>* exemplars) {
  ExemplarOptions options;
  options.rel_gap = 1e-3;
  options.grouping = grouping;
  options.num_clusters = num_clusters;
  options.num_threads = run.options().num_threads;
  const ExemplarResult found = fit_learned_exemplar(model, test.points, options, run.monitor());
  if (exemplars != nullptr) *exemplars = found.model.rows;
  return compute_metrics(found.labels, test.classes);
}

// The first nine of kFigures, of the test half; the exemplars go into `out`.
std::vector<double> cluster_figures(const ImageSet& set, const Half& test,
                                    const std::vector<double>& average, ReproduceRun& run,
                                    SplitResult& out) {
  using enum ExemplarGrouping;
  const LearnedDistance& model = out.learned.model;
  const LearnedDistance mean = unlearned(model, average);
  std::vector<double> one(average.size(), 0.0);
  one[out.best_single] = 1;
  const LearnedDistance single = unlearned(model, one);
  const int k = set.num_classes;
  const auto accuracy = [&](const LearnedDistance& m, ExemplarGrouping grouping, int count) {
    return cluster_test(m, test, grouping, count, run, nullptr).accuracy;
  };
  std::vector<int64_t> exemplars;
  const Metrics found = cluster_test(model, test, Auto, 0, run, &exemplars);
  for (const int64_t row : exemplars) out.exemplars.push_back(test.rows[static_cast<size_t>(row)]);
  return {found.accuracy,
          found.f,
          static_cast<double>(found.num_clusters),
          accuracy(model, Exemplars, 0),
          accuracy(model, Exemplars, k),
          accuracy(model, Cut, k),
          accuracy(mean, Exemplars, k),
          accuracy(mean, Cut, k),
          accuracy(single, Cut, k)};
}

SplitResult run_split(const ImageSet& set, int rounds, uint64_t seed, ReproduceRun& run) {
  const auto [train, test] = split_images(set, seed);
  ExemplarLearnOptions options;
  options.learn_penalty = true;
  options.train.max_iterations = rounds;
  options.train.num_threads = run.options().num_threads;
  SplitResult out;
  out.learned = learn_exemplar_distance({{{train.points, train.classes}}, set.candidates}, options,
                                        run.monitor());
  if (run.is_stopped()) return out;
  const auto candidates = candidates_of(out.learned.model);
  const auto across = all_distances(candidates, test.points, train.points);
  std::vector<double> average(candidates.size());
  double best_nn = 0;
  for (size_t t = 0; t < candidates.size(); ++t) {
    double sum = 0;
    for (int64_t i = 0; i < across[t].size(); ++i) sum += across[t].data()[i];
    average[t] = sum > 0 ? static_cast<double>(across[t].size()) / sum : 0.0;
    const double nn = nearest_accuracy(across[t], test.classes, train.classes);
    if (nn > best_nn) best_nn = nn, out.best_single = t;
  }
  const Matrix<float> learned =
      learned_costs(classifying_distance(out.learned.model), test.points, train.points,
                    run.options().num_threads, run.monitor());
  double noise = 0;
  for (size_t t = 0; t < candidates.size(); ++t)
    if (candidates[t].name.starts_with("noise")) noise += out.learned.shares[t];
  out.figures = cluster_figures(set, test, average, run, out);
  out.figures.insert(out.figures.end(),
                     {nearest_accuracy(learned, test.classes, train.classes),
                      nearest_accuracy(weighted_sum(across, average), test.classes, train.classes),
                      best_nn, out.learned.metric_share, noise, out.learned.summary.seconds});
  return out;
}

// Figures 3 to 7: weights, objective and exemplars of one split.
void draw_page(const ImageSetting& setting, const ImageSet& set, const SplitResult& split,
               const std::vector<double>& trace, const std::string& name, ReproduceRun& run) {
  if (run.options().out.empty()) return;
  const MakeImage make = [&set](int64_t row, int max_side) {
    const Image image =
        load_image(set.root + "/" + set.paths[static_cast<size_t>(row)], {.max_side = max_side});
    RasterImage raster(image.width, image.height, 3);
    raster.pixels = image.rgb;
    return raster;
  };
  NamedLine objective;
  for (size_t i = 0; i < trace.size(); ++i) {
    objective.x.push_back(static_cast<double>(i + 1));
    objective.y.push_back(trace[i]);
  }
  Markup page;
  page.open("header");
  add_masthead(page, "reproduction");
  page.element("h1", "Learning to cluster: " + setting.set).close("header");
  page.open("div", {{"class", "grid"}});
  open_card(page, CardWidth::Full, "Learned weights", "of features and distances, one split");
  page.raw(
      render_weight_bars(packed_names(split.learned.model.names), split.learned.shares, "weights"));
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
  open_card(page, CardWidth::Half, "Objective", "after each round of training, mean of all splits");
  page.raw(render_lines("objective", "Objective", "round", "objective", {objective}));
  close_card(page);
  open_card(page, CardWidth::Half, "Exemplars",
            fmt::format("{} of the test half were chosen for {}", split.exemplars.size(),
                        counted(set.num_classes, "class", "classes")));
  SheetFigure sheet;
  sheet.title = "All exemplars";
  sheet.size = std::ssize(split.exemplars);
  sheet.strips.push_back({"", "the exemplars found", split.exemplars});
  page.raw(render_sheets(make, {sheet}));
  close_card(page);
  page.close("div");
  add_footer(page, fmt::format("Seed {}.", run.options().seed));
  run.write(name + ".html", render_page("Learning to cluster - Milieu", std::move(page).finish()));
  run.write(name + "_exemplars.png", encode_png(make_image_sheet(make, split.exemplars, 10)));
}

// What is there, with what the paper has.
std::string title_of(const ImageSetting& setting, const ImageSet& set) {
  std::vector<int64_t> sizes(static_cast<size_t>(set.num_classes), 0);
  for (const int c : set.classes) ++sizes[static_cast<size_t>(c)];
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const std::string count =
      *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most);
  return fmt::format("{}, {}, {} images per class [Komodakis11: {}]", setting.title,
                     counted(set.num_classes, "class", "classes"), count, setting.paper);
}

void run_images(const ImageSetting& setting, ReproduceRun& run) {
  ImageSet plain;
  if (!load_images(setting, run, plain)) return;
  const std::string& name = setting.name;
  run.keep_progress(name);
  ResultTable table{
      name, title_of(setting, plain), {"figure", "features", "and as much noise"}, {}, {}};
  for (const char* figure : kFigures) table.rows.push_back({figure});
  const int num_runs = run.num_runs(setting.own_runs);
  std::optional<SplitResult> drawn;
  std::vector<double> mean_trace;  // Fig. 6 b
  for (const bool with_noise : {false, true}) {
    ImageSet set = plain;
    if (with_noise) add_noise(set, 3);
    std::vector<std::vector<double>> columns(kFigures.size());
    for (int i = 0; i < num_runs; ++i) {
      const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
      const std::string key =
          fmt::format("{} {} rounds{} chosen trace noise{} seed{}", setting.features,
                      setting.distances, setting.rounds, with_noise, seed);
      const bool draws = i == 0 && !with_noise;
      std::optional<SplitResult> result;
      const auto compute = [&] {
        run.say(fmt::format("split {}{}", seed, with_noise ? " with noise" : ""));
        result = run_split(set, setting.rounds, seed, run);
        std::vector<double> kept = result->figures;
        const std::vector<double>& trace = result->learned.summary.trace;
        kept.insert(kept.end(), trace.begin(), trace.end());
        return kept;
      };
      const std::vector<double> figures = run.piece(key, compute);
      if (draws && !result) compute();
      if (run.is_stopped()) return;
      if (draws) drawn = std::move(result);
      if (!with_noise) mean_trace.resize(figures.size() - kFigures.size());
      for (size_t t = 0; t < mean_trace.size() && !with_noise; ++t)
        mean_trace[t] += figures[kFigures.size() + t] / num_runs;
      for (size_t f = 0; f < kFigures.size(); ++f) columns[f].push_back(figures.at(f));
    }
    for (size_t f = 0; f < kFigures.size(); ++f) {
      const bool is_plain_number = std::string_view(kFigures[f]) == "learned, clusters" ||
                                   std::string_view(kFigures[f]) == "seconds";
      table.rows[f].push_back(is_plain_number ? fmt::format("{:.1f}", mean_of(columns[f]))
                                              : interval_text(columns[f]));
    }
  }
  table.notes = {fmt::format("{}, {}, {}, {} splits in halves; accuracy "
                             "in % by the best matching",
                             counted(plain.paths.size(), "image"),
                             counted(plain.num_classes, "class", "classes"),
                             counted(plain.candidates.size(), "candidate"), num_runs),
                 "told: given the number of clusters; the best single is the one whose nearest "
                 "neighbours are right most often on the test half"};
  run.show(table);
  draw_page(setting, plain, *drawn, mean_trace, name, run);
}

constexpr const char* kTextureFeatures =
    "gist,hog,lbp,rot-lbp,dense-sift,sparse-sift,hessian-affine,textons,mr8";

}  // namespace

void reproduce_exemplar_brodatz(ReproduceRun& run) {
  run_images({.name = "exemplar_brodatz24",
              .set = "brodatz24",
              .title = "Brodatz, in place of Outex",
              .paper = "accuracy 100",
              .features = kTextureFeatures},
             run);
}

void reproduce_exemplar_uiuc(ReproduceRun& run) {
  run_images(
      {.name = "exemplar_uiuc_textures",
       .set = "uiuc_textures",
       .title = "UIUC textures",
       .paper = "40 images per class, accuracy 86, NN 95.3 / 96.1; singles and average below "
                "90",
       .features = kTextureFeatures},
      run);
}

// One distance per feature, as in Fig. 3 and the text before it.
constexpr const char* kPaperFeatures = "gist,hog,lbp,rot-lbp,dense-sift,hessian-affine,textons,mr8";
constexpr const char* kPaperDistances = "gist:l2,rot-lbp:l1,chi-squared";

void reproduce_exemplar_outex(ReproduceRun& run) {
  run_images({.name = "exemplar_figure3a",
              .set = "brodatz24",
              .title = "Fig. 3a: one distance per feature, Brodatz in place of Outex",
              .paper = "accuracy 100; dense HOG and dense SIFT have the weight",
              .features = kPaperFeatures,
              .distances = kPaperDistances},
             run);
}

void reproduce_exemplar_figure3(ReproduceRun& run) {
  run_images({.name = "exemplar_figure3b",
              .set = "uiuc_textures",
              .title = "Fig. 3b: one distance per feature, UIUC",
              .paper = "40 images per class, accuracy 86, NN 95.3; sparse SIFT and MR8 have the "
                       "weight",
              .features = kPaperFeatures,
              .distances = kPaperDistances},
             run);
}

void reproduce_exemplar_scenes(ReproduceRun& run) {
  run_images({.name = "exemplar_scenes15",
              .set = "scenes15",
              .title = "15 scenes",
              .paper = "80 images per class, accuracy 63, NN 70.2; singles and average at most 61",
              .features = std::string(kTextureFeatures) + ",local-color,color,tiny",
              .max_per_class = 80,
              .rounds = 1500},
             run);
}

void reproduce_exemplar_pyramids(ReproduceRun& run) {
  run_images({.name = "exemplar_scenes15_pyramids",
              .set = "scenes15",
              .title = "15 scenes with spatial pyramids",
              .paper = "as for exemplar_scenes15",
              .features = "gist,lbp,rot-lbp,hog:pyramid=3,dense-sift:pyramid=3:patch_size=32,"
                          "textons:pyramid=3,mr8:pyramid=2,sparse-sift,"
                          "local-color:pyramid=3:num_bins=6,tiny:normalize=true,color",
              .max_per_class = 80,
              .rounds = 1500},
             run);
}

}  // namespace milieu::cli
