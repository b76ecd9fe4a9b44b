// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/dlgmm_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "milieu/base/memory.h"
#include "milieu/data/csv_text.h"
#include "milieu/render/png.h"
#include "milieu/render/raster_draw.h"
#include "milieu/run/npy_result.h"

namespace milieu {

namespace {

constexpr int kMostPairs = 100'000;
constexpr size_t kMostWords = 24;  // of a heat map
constexpr int kCell = 14, kEdge = 40, kTitle = 24, kGap = 24;
constexpr size_t kMostMaps = 12, kMapsAcross = 4;
constexpr Color kInk{40, 40, 40}, kWhite{255, 255, 255};

// The pairs of one covariance matrix.
struct PairMap {
  int band = 0, cluster = -1;
  std::vector<WordPair> pairs;  // strongest first
};

std::vector<PairMap> maps_of(const std::vector<WordPair>& pairs) {
  std::map<std::pair<int, int>, PairMap> maps;
  for (const WordPair& pair : pairs) {
    PairMap& map = maps[{pair.cluster, pair.band}];
    map.band = pair.band;
    map.cluster = pair.cluster;
    map.pairs.push_back(pair);
  }
  std::vector<PairMap> list;
  for (auto& [key, map] : maps)
    if (list.size() < kMostMaps) list.push_back(std::move(map));
  return list;
}

// The words of the strongest pairs, each beside one it goes with.
std::vector<int> words_of(const PairMap& map) {
  std::vector<int> words;
  for (const WordPair& pair : map.pairs)
    for (const int word : {pair.first, pair.second})
      if (words.size() < kMostWords && std::ranges::find(words, word) == words.end())
        words.push_back(word);
  return words;
}

void draw_map(RasterImage& sheet, int left, int top, const PairMap& map) {
  const std::vector<int> words = words_of(map);
  std::map<std::pair<int, int>, double> correlation;
  for (const WordPair& pair : map.pairs)
    correlation[{pair.first, pair.second}] = correlation[{pair.second, pair.first}] =
        pair.correlation;
  const std::string cluster =
      map.cluster < 0 ? "all clusters" : fmt::format("cluster {}", map.cluster);
  draw_text(sheet, left, top, fmt::format("{}, band {}", cluster, map.band), kInk);
  for (size_t a = 0; a < words.size(); ++a) {
    const int y = top + kTitle + static_cast<int>(a) * kCell;
    draw_text(sheet, left, y + 3, std::to_string(words[a]), kInk, 1);
    for (size_t b = 0; b < words.size(); ++b) {
      const auto found = correlation.find({words[a], words[b]});
      const double value = a == b ? 1 : found == correlation.end() ? 0 : found->second;
      fill_rectangle(sheet, left + kEdge + static_cast<int>(b) * kCell, y, kCell - 1, kCell - 1,
                     diverging_color(value));
    }
  }
}

std::string heat_map(const std::vector<WordPair>& pairs) {
  const std::vector<PairMap> maps = maps_of(pairs);
  size_t most_words = 0;
  for (const PairMap& map : maps) most_words = std::max(most_words, words_of(map).size());
  const int side = static_cast<int>(most_words) * kCell;
  const auto across = static_cast<int>(std::min(maps.size(), kMapsAcross));
  const auto down = static_cast<int>((maps.size() + kMapsAcross - 1) / kMapsAcross);
  RasterImage sheet(kGap + across * (kEdge + side + kGap), kGap + down * (kTitle + side + kGap), 3);
  fill_rectangle(sheet, 0, 0, sheet.width, sheet.height, kWhite);
  for (size_t m = 0; m < maps.size(); ++m)
    draw_map(sheet, kGap + static_cast<int>(m % kMapsAcross) * (kEdge + side + kGap),
             kGap + static_cast<int>(m / kMapsAcross) * (kTitle + side + kGap), maps[m]);
  return encode_png(sheet);
}

}  // namespace

ResultFile counts_file(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                       int num_threads, Monitor& monitor) {
  const Matrix<double> counts = word_counts(model, images, alpha, num_threads, monitor);
  return npy_result("counts.npy", counts.view());
}

std::vector<ResultFile> soft_files(const DlgmmModel& model, const DlgmmImages& images,
                                   const DlgmmPrediction& prediction, int num_threads,
                                   Monitor& monitor) {
  require_memory(
      {8.0 * static_cast<double>(images.patches.rows()) * static_cast<double>(model.num_words()),
       "the shares of every word in every patch", "leave --probabilities out"});
  std::vector<ResultFile> files;
  files.push_back(npy_result("probabilities.npy", prediction.probabilities.view()));
  files.push_back(npy_result("theta.npy", prediction.alpha.view()));
  files.push_back(
      npy_result("word_shares.npy",
                 word_shares(model, images, prediction.alpha, num_threads, monitor).view()));
  return files;
}

std::vector<ResultFile> correlation_files(const DlgmmModel& model) {
  const std::vector<WordPair> pairs = correlated_words(model, kMostPairs);
  if (pairs.empty()) return {};
  CsvWriter table;
  table.row("cluster", "band", "word", "other_word", "correlation");
  for (const WordPair& pair : pairs) {
    table.cell(pair.cluster < 0 ? std::string("all") : std::to_string(pair.cluster));
    table.cell(pair.band).cell(pair.first).cell(pair.second).cell(pair.correlation);
    table.end_row();
  }
  return {{"word_correlations.csv", table.text()}, {"word_correlations.png", heat_map(pairs)}};
}

}  // namespace milieu
