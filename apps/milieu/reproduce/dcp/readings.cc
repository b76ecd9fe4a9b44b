// SPDX-License-Identifier: Apache-2.0
// [Lampert08, Figure 6]: two readings of one class by two contexts, found without looking: every
// kind of garment of Fashion-MNIST is split against every other kind, and of the pairs of splits
// that the program is sure of, those that agree least are shown. The paper chose its two by eye.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/dcp/dcp.h"
#include "milieu/metrics/metrics.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/raster_draw.h"
#include "reproduce/dcp/dcp.h"

namespace milieu::cli {

namespace {

constexpr int64_t kGarments = 300;   // of each kind
constexpr double kSure = 0.7;        // below, the program warns
constexpr double kLeastPart = 0.25;  // smaller parts are outliers
constexpr int kSide = 28, kShown = 60, kColumns = 12, kHeading = 18;
// Where Debian's package dataset-fashion-mnist has it.
constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist/";
constexpr const char* kKinds[] = {"t-shirt", "trousers", "pullover", "dress", "coat",
                                  "sandal",  "shirt",    "sneaker",  "bag",   "boot"};

struct Kinds {
  std::vector<Matrix<float>> points;  // of each kind
};

Kinds load_kinds(const ReproduceRun& run) {
  LoadOptions options;
  options.labels_path = std::string(kFolder) + "t10k-labels-idx1-ubyte.gz";
  Dataset data;
  try {
    data = load_dataset(std::string(kFolder) + "t10k-images-idx3-ubyte.gz", options);
  } catch (const IoError&) {
    throw MissingData("needs Debian's package dataset-fashion-mnist");
  }
  Kinds kinds;
  for (int kind = 0; kind < 10; ++kind) {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < data.labels.indices.size(); ++i)
      if (data.labels.names[data.labels.indices[i]] == std::to_string(kind))
        rows.push_back(static_cast<int64_t>(i));
    Random random = Random(run.options().seed).child(static_cast<uint64_t>(kind));
    random.shuffle(std::span<int64_t>(rows));
    rows.resize(std::min<size_t>(rows.size(), kGarments));
    kinds.points.push_back(gather_rows(data.points.view(), rows));
  }
  return kinds;
}

struct Reading {
  int context = 0;
  DcpResult split;
};

// A kind and two contexts whose splits are sure.
struct Pair {
  int kind = 0;
  Reading first, second;
  double agreement = 0;  // adjusted Rand index
};

std::vector<Reading> sure_readings(const Kinds& kinds, int kind, const ReproduceRun& run) {
  std::vector<Reading> readings;
  for (int context = 0; context < 10 && !run.is_stopped(); ++context) {
    if (context == kind) continue;
    DcpOptions options;
    options.seed = run.options().seed;
    options.num_threads = run.options().num_threads;
    DcpInput input;
    input.points = kinds.points[kind];
    input.context = kinds.points[context];
    DcpResult split = fit_dcp(input, options, run.monitor());
    const auto least = *std::min_element(split.summary.sizes.begin(), split.summary.sizes.end());
    const bool is_even = static_cast<double>(least) >= kLeastPart * static_cast<double>(kGarments);
    if (split.confidence >= kSure && is_even) readings.push_back({context, std::move(split)});
  }
  return readings;
}

// The most certain images of both parts of both readings, part below part, reading beside reading.
std::string draw_pair(const Kinds& kinds, const Pair& pair) {
  RasterImage sheet(2 * (kColumns * (kSide + 2) + 20),
                    2 * (kHeading + kShown / kColumns * (kSide + 2)) + 8, 3);
  fill_rectangle(sheet, 0, 0, sheet.width, sheet.height, {255, 255, 255});
  for (const Reading* reading : {&pair.first, &pair.second})
    for (int part = 0; part < 2; ++part) {
      const int left = reading == &pair.first ? 8 : sheet.width / 2 + 8;
      const int top = 4 + part * (sheet.height / 2);
      std::vector<int64_t> rows;
      for (size_t i = 0; i < reading->split.labels.size(); ++i)
        if (reading->split.labels[i] == part) rows.push_back(static_cast<int64_t>(i));
      draw_text(sheet, left, top + 2,
                fmt::format("{} against {}: part {}, {} images", kKinds[pair.kind],
                            kKinds[reading->context], part, rows.size()),
                {0, 0, 0}, 1);
      std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
        return reading->split.margins[a] > reading->split.margins[b];
      });
      rows.resize(std::min<size_t>(rows.size(), kShown));
      for (size_t i = 0; i < rows.size(); ++i)
        for (int y = 0; y < kSide; ++y)
          for (int x = 0; x < kSide; ++x) {
            const auto grey =
                static_cast<uint8_t>(255 - kinds.points[pair.kind](rows[i], y * kSide + x));
            uint8_t* to =
                sheet.at(left + static_cast<int>(i) % kColumns * (kSide + 2) + x,
                         top + kHeading + static_cast<int>(i) / kColumns * (kSide + 2) + y);
            to[0] = to[1] = to[2] = grey;
          }
    }
  return encode_png(sheet);
}

std::string sizes_text(const Reading& reading) {
  return fmt::format("{} / {}", reading.split.summary.sizes[0], reading.split.summary.sizes[1]);
}

}  // namespace

void reproduce_dcp_readings(ReproduceRun& run) {
  const Kinds kinds = load_kinds(run);
  std::vector<Pair> pairs;
  for (int kind = 0; kind < 10; ++kind) {
    const std::vector<Reading> sure = sure_readings(kinds, kind, run);
    if (run.is_stopped()) return;
    for (size_t i = 0; i < sure.size(); ++i)
      for (size_t j = i + 1; j < sure.size(); ++j)
        pairs.push_back({kind, sure[i], sure[j],
                         compute_metrics(sure[i].split.labels, sure[j].split.labels).ari});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.agreement < b.agreement; });
  ResultTable table{
      "dcp_readings",
      "[Lampert08, Figure 6]: two readings of one kind of garment by two contexts",
      {"kind", "context 1", "parts", "confidence", "context 2", "parts", "confidence",
       "adjusted Rand"},
      {},
      {fmt::format(
          "{} images of each kind; of {} pairs of splits with a confidence "
          "of {} or more and parts of a quarter, those that agree least. 0: as strangers, 1: the "
          "same split. Picture of the first: dcp_readings.png.",
          kGarments, pairs.size(), kSure)}};
  for (size_t i = 0; i < std::min<size_t>(pairs.size(), 6); ++i) {
    const Pair& p = pairs[i];
    table.rows.push_back({kKinds[p.kind], kKinds[p.first.context], sizes_text(p.first),
                          fmt::format("{:.2f}", p.first.split.confidence), kKinds[p.second.context],
                          sizes_text(p.second), fmt::format("{:.2f}", p.second.split.confidence),
                          fmt::format("{:.2f}", p.agreement)});
  }
  run.show(table);
  if (!pairs.empty()) run.write("dcp_readings.png", draw_pair(kinds, pairs[0]));
}

}  // namespace milieu::cli
