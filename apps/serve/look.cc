// SPDX-License-Identifier: Apache-2.0
// Looking at the collection itself: originals, and which rows are alike.
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "milieu/data/file/read_below.h"
#include "milieu/data/identity/file_stamp.h"
#include "milieu/neighbors/neighbors.h"
#include "serve/explorer.h"

namespace milieu::serve {

namespace {

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

std::vector<double> file_facts(const Collection& collection) {
  std::vector<double> facts(static_cast<size_t>(2 * collection.size()), -1);
  if (!collection.has_image_files()) return facts;
  for (size_t row = 0; row < facts.size() / 2; ++row) {
    const FileStamp stamp =
        stamp_of(collection.root() + "/" + collection.row_name(static_cast<int64_t>(row)));
    if (stamp.bytes < 0) continue;
    facts[2 * row] = static_cast<double>(stamp.bytes);
    facts[2 * row + 1] = static_cast<double>(stamp.mtime_ns) * 1e-9;
  }
  return facts;
}

}  // namespace milieu::serve
