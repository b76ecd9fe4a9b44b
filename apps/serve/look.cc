// SPDX-License-Identifier: Apache-2.0
// Looking at the collection itself: originals, and which rows are alike.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/file/read_below.h"
#include "milieu/neighbors/neighbors.h"
#include "serve/explorer.h"

namespace milieu::serve {

namespace {

constexpr int64_t kMaxCompared = 100'000;  // rows whose nearest neighbours are found

// Kinds of files that every browser shows, by their first bytes; "" for others.
std::string browser_type(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kKinds = {{
      {"\xff\xd8\xff", "image/jpeg"},
      {"\x89PNG\r\n\x1a\n", "image/png"},
      {"BM", "image/bmp"},
  }};
  for (const auto& [first, type] : kKinds)
    if (bytes.starts_with(first)) return std::string(type);
  const bool is_webp = bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
  return is_webp ? "image/webp" : "";
}

}  // namespace

// The file as it is where a browser can show it, else its pixels as PNG.
Thumbnail original_image(const Collection& collection, const Thumbnails& thumbnails, int64_t row) {
  if (collection.has_image_files()) {
    const std::vector<uint8_t> file = read_below(collection.root(), collection.row_name(row));
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    const std::string type = browser_type(bytes);
    if (!type.empty()) return {type, std::string(bytes)};
  }
  return {"image/png", encode_png(thumbnails.draw(row, std::numeric_limits<int>::max()))};
}

Json rows_like(const Collection& collection, int64_t row, int64_t count) {
  const FloatView points = collection.data().points.view();
  Matrix<float> query(1, points.cols());
  std::copy_n(points.row(row), points.cols(), query.data());
  const NeighborLists nearest =
      nearest_neighbors(points, query, std::min(count + 1, collection.size()));
  Json rows = Json::array(), distances = Json::array();
  for (int64_t i = 0; i < nearest.indices.cols(); ++i) {
    if (nearest.indices(0, i) == row || static_cast<int64_t>(rows.size()) == count) continue;
    rows.push_back(nearest.indices(0, i));
    distances.push_back(std::sqrt(nearest.squared_distances(0, i)));
  }
  return {{"rows", std::move(rows)}, {"distances", std::move(distances)}};
}

std::vector<float> nearest_distances(const Collection& collection) {
  if (collection.size() > kMaxCompared)
    throw InvalidArgument(
        fmt::format("the collection has {} rows: unusual and double images are "
                    "found among at most {}",
                    collection.size(), kMaxCompared));
  const FloatView points = collection.data().points.view();
  std::vector<float> distances(static_cast<size_t>(collection.size()));
  if (collection.size() < 2) return distances;
  const NeighborLists nearest = nearest_neighbors(points, points, 1, {.exclude_self = true});
  for (size_t i = 0; i < distances.size(); ++i)
    distances[i] =
        static_cast<float>(std::sqrt(nearest.squared_distances(static_cast<int64_t>(i), 0)));
  return distances;
}

}  // namespace milieu::serve
