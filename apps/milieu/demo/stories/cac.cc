// SPDX-License-Identifier: Apache-2.0
// Parcels of garments from two shops, whose articles lie like the squares of a chessboard: neither
// a garment alone nor the average of a parcel says which article it is, or which shop it comes
// from.
#include <fmt/format.h>

#include <cmath>

#include "demo/stories/parcels.h"
#include "demo/stories/stories.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::cli {

namespace {

constexpr int kFineWords = 40;  // beside as many words as articles

// Columns around 0, with standard deviation 1.
void standardize(Matrix<float>& rows) {
  for (int64_t t = 0; t < rows.cols(); ++t) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < rows.rows(); ++i) sum += rows(i, t);
    const double mean = sum / static_cast<double>(rows.rows());
    for (int64_t i = 0; i < rows.rows(); ++i) squares += (rows(i, t) - mean) * (rows(i, t) - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(rows.rows()));
    for (int64_t i = 0; i < rows.rows(); ++i)
      rows(i, t) = static_cast<float>((rows(i, t) - mean) / deviation);
  }
}

DemoSet measure_all(const DemoSet& images) {
  DemoSet set{.name = "measures",
              .about = "size and brightness of every garment, standardised",
              .rows = Matrix<float>(kPieces, 2),
              .truths = {}};
  for (int64_t i = 0; i < kPieces; ++i) {
    const auto measured = measure({images.rows.row(i), static_cast<size_t>(images.rows.cols())});
    for (int64_t t = 0; t < 2; ++t)
      set.rows(i, t) = static_cast<float>(measured[static_cast<size_t>(t)]);
  }
  standardize(set.rows);
  return set;
}

// The context given to plain methods by hand: what is in a parcel on average, how often each word
// of k-means is in it, and the latter beside every garment.
DemoSet average_parcels(const DemoSet& measures, const DemoTruth& shop) {
  DemoSet set{.name = "parcel_means",
              .about = "the average garment of every parcel",
              .rows = Matrix<float>(kParcels, 2),
              .truths = {shop}};
  for (int64_t i = 0; i < kPieces; ++i)
    for (int64_t t = 0; t < 2; ++t)
      set.rows(i / kInParcel, t) += measures.rows(i, t) / static_cast<float>(kInParcel);
  return set;
}

DemoSet count_words(const DemoSet& measures, int words, uint64_t seed, const DemoTruth& shop) {
  KMeansInput input;
  input.points = measures.rows.view();
  KMeansOptions options;
  options.num_clusters = words;
  options.seed = seed;
  const std::vector<int> word_of = fit_kmeans(input, options).labels;
  DemoSet set{.name = fmt::format("parcel_words_{}", words),
              .about = fmt::format("how often each of {} words of k-means is in a parcel", words),
              .rows = Matrix<float>(kParcels, words),
              .truths = {shop}};
  for (int64_t i = 0; i < kPieces; ++i) ++set.rows(i / kInParcel, word_of[static_cast<size_t>(i)]);
  return set;
}

// Two sorts of parcels by k-means of their words, and the pieces of each far from those of the
// other.
DemoSet set_apart(const DemoSet& measures, const DemoSet& words, uint64_t seed,
                  const DemoTruth& article) {
  constexpr float kFar = 20;  // standard deviations
  KMeansInput input;
  input.points = words.rows.view();
  KMeansOptions options;
  options.num_clusters = 2;
  options.seed = seed;
  const std::vector<int> sort_of = fit_kmeans(input, options).labels;
  DemoSet set{.name = "garments_by_sort",
              .about = "every garment; two sorts of parcels, found by their words, apart",
              .rows = Matrix<float>(kPieces, 3),
              .truths = {article}};
  for (int64_t i = 0; i < kPieces; ++i) {
    for (int64_t t = 0; t < 2; ++t) set.rows(i, t) = measures.rows(i, t);
    set.rows(i, 2) = kFar * static_cast<float>(sort_of[static_cast<size_t>(i / kInParcel)]);
  }
  return set;
}

// Both parts with the same total variance.
DemoSet put_beside(const DemoSet& measures, const DemoSet& words, const DemoTruth& article) {
  const int64_t d = words.rows.cols();
  DemoSet set{.name = "garments_and_parcels",
              .about = "every garment beside the words of its parcel",
              .rows = Matrix<float>(kPieces, 2 + d),
              .truths = {article}};
  double variance = 0;
  for (int64_t t = 0; t < d; ++t) {
    double sum = 0, squares = 0;
    for (int64_t p = 0; p < kParcels; ++p) {
      sum += words.rows(p, t);
      squares += words.rows(p, t) * words.rows(p, t);
    }
    variance += squares / kParcels - sum / kParcels * sum / kParcels;
  }
  const double factor = std::sqrt(2 / variance);
  for (int64_t i = 0; i < kPieces; ++i) {
    for (int64_t t = 0; t < 2; ++t) set.rows(i, t) = measures.rows(i, t);
    for (int64_t t = 0; t < d; ++t)
      set.rows(i, 2 + t) = static_cast<float>(factor * words.rows(i / kInParcel, t));
  }
  return set;
}

void add_sets(DemoStory& story, uint64_t seed, const ImagePool& pool) {
  const Random random = Random(seed).child(10);
  const Parcels drawn = draw_parcels(random.child(0));
  DemoSet parcels{.name = "parcels",
                  .about = "images of the garments, one folder per parcel",
                  .rows = choose_images(drawn, pool, random.child(1)),
                  .image_side = pool.side(),
                  .truths = {},
                  .is_folder = true};
  std::vector<std::string> names, articles;
  std::vector<int> shop_of_parcel;
  for (int p = 0; p < kParcels; ++p) {
    names.push_back(fmt::format("parcel-{:03}", p + 1));
    shop_of_parcel.push_back(drawn.shop[static_cast<size_t>(p * kInParcel)]);
  }
  for (int a = 0; a < kArticles; ++a)
    articles.push_back(fmt::format("size-{}-brightness-{}", a / kLevels + 1, a % kLevels + 1));
  const std::vector<std::string> shops = {"shop-A", "shop-B"};
  parcels.truths = {make_truth("parcel", names, drawn.parcel),
                    make_truth("article", articles, drawn.article),
                    make_truth("shop", shops, drawn.shop)};
  const DemoTruth shop = make_truth("shop", shops, shop_of_parcel);
  DemoSet measures = measure_all(parcels);
  DemoSet numbers{.name = "parcel_numbers",
                  .about = "the parcel of every garment",
                  .rows = Matrix<float>(kPieces, 1),
                  .truths = {}};
  for (int64_t i = 0; i < kPieces; ++i) numbers.rows(i, 0) = static_cast<float>(i / kInParcel);
  DemoSet words = count_words(measures, kArticles, seed, shop);
  DemoSet fine_words = count_words(measures, kFineWords, seed, shop);
  DemoSet beside = put_beside(measures, words, parcels.truths[1]);
  DemoSet sorts = set_apart(measures, words, seed, parcels.truths[1]);
  DemoSet means = average_parcels(measures, shop);
  for (DemoSet* set : {&parcels, &measures, &numbers, &means, &words, &fine_words, &beside, &sorts})
    story.sets.push_back(std::move(*set));
}

// Plain methods that are given the context by hand.
void add_jobs_by_hand(DemoStory& story) {
  const auto add = [&](std::string name, const std::string& title, std::string method,
                       const std::string& set, const std::string& truth, int clusters) {
    story.jobs.push_back({.name = std::move(name),
                          .title = title,
                          .is_by_hand = true,
                          .method = std::move(method),
                          .set = set,
                          .truth = truth,
                          .options = {{"num_clusters", fmt::format("{}", clusters)}}});
  };
  const std::string beside = "garments_and_parcels";
  add("beside-kmeans", "k-means, parcel's words beside it", "kmeans", beside, "article", kArticles);
  add("beside-ncut", "normalized cut, the same", "ncut", beside, "article", kArticles);
  add("sorts-kmeans", "k-means within two sorts of parcels", "kmeans", "garments_by_sort",
      "article", kArticles);
  add("means-kmeans", "k-means, averages of parcels", "kmeans", "parcel_means", "shop", 2);
  add("means-ncut", "normalized cut, averages of parcels", "ncut", "parcel_means", "shop", 2);
  for (const int words : {kArticles, kFineWords}) {
    const std::string set = fmt::format("parcel_words_{}", words);
    add(fmt::format("words-{}-kmeans", words), fmt::format("k-means, {} words per parcel", words),
        "kmeans", set, "shop", 2);
    add(fmt::format("words-{}-ncut", words),
        fmt::format("normalized cut, {} words per parcel", words), "ncut", set, "shop", 2);
    add(fmt::format("words-{}-multinomials", words),
        fmt::format("multinomials, {} words per parcel", words), "multinomials", set, "shop", 2);
  }
}

void add_jobs(DemoStory& story) {
  story.jobs = plain_jobs("parcels", "article", kArticles);
  for (DemoJob& job : story.jobs) {
    job.vectors = "measures.npy";
    job.answers = "article";
  }
  story.jobs[0].is_shown = true;
  add_jobs_by_hand(story);
  story.jobs.push_back(
      {.name = "parcels",
       .title = "cac, a parcel as context",
       .sees_context = true,
       .method = "cac",
       .set = "parcels",
       .truth = "shop",
       .options = {{"num_words", fmt::format("{}", kArticles)},
                   {"num_phrases", "2"},
                   {"epsilon", "0.5"},
                   {"num_restarts", "20"}},
       .files = {{"positions", "parcel_numbers.npy"}, {"word_truth", "parcels_article.csv"}},
       .answers = "shop",
       .word_truth = "article",
       .vectors = "measures.npy",
       .is_shown = true});
}

}  // namespace

DemoStory tell_cac(uint64_t seed, const ImagePool& pool) {
  DemoStory story;
  story.name = "cac";
  story.question = "What is each of these, going by what came with it?";
  story.about = fmt::format(
      "{} parcels with {} {} each. Two shops sent them, and each shop has eight articles: "
      "sizes and brightnesses that lie like the white and the black squares of a chessboard. Every "
      "size and every brightness is as frequent in both shops, so neither a single piece nor the "
      "average of a parcel tells the shops apart, and what is measured of a piece often falls on "
      "a neighbouring square: told where the squares are, one would still get 73 % of the articles "
      "right.",
      kParcels, kInParcel, pool.has_garments() ? "garments (Fashion-MNIST)" : "drawn shapes");
  story.context =
      "The context of a piece is the rest of its parcel. cac finds words (the articles) and "
      "phrases (which articles are sent together, the shops) with one another: a piece between "
      "two squares belongs to the one whose shop sent the parcel, and articles that are seen more "
      "clearly show more clearly who sent it.";
  story.limits =
      "Whoever takes the same steps by hand comes nearer: words of k-means counted in every parcel "
      "show most of the shops, as well as cac where parcels are larger, and k-means within the two "
      "sorts of parcels that they show finds more articles than without, at times as many as cac.";
  add_sets(story, seed, pool);
  add_jobs(story);
  story.columns = {{"article", "which article"}, {"shop", "which shop"}};
  story.sheets = {{.title = "Some parcels, by the shop that sent them",
                   .set = "parcels",
                   .truth = "shop",
                   .strips = "parcel"}};
  story.maps = {
      {"All pieces by size (across) and brightness (up), coloured by shop, which nobody "
       "tells the methods",
       "measures", "parcels", "shop"}};
  story.next =
      "milieu cac DEMO/parcels --vectors DEMO/measures.npy --positions DEMO/parcel_numbers.npy "
      "--epsilon 0.5 --words 16 --phrases 2 --lambda 0 --truth DEMO/parcels_shop.csv --word-truth "
      "DEMO/parcels_article.csv";
  story.next_meaning = "How much is due to the parcels? The same with a context of weight 0:";
  return story;
}

}  // namespace milieu::cli
