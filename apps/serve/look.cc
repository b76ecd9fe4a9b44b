// SPDX-License-Identifier: Apache-2.0
// Looking at the collection itself: originals, and which rows are alike.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
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

// {rows, distances} of the points nearest to a row of the collection, without itself; `rows` are
// the points' numbers in the collection.
Json nearest_of(const Collection& collection, int64_t row, FloatView points,
                std::span<const int32_t> rows, int64_t count) {
  Json found = Json::array(), distances = Json::array();
  if (rows.empty()) return {{"rows", std::move(found)}, {"distances", std::move(distances)}};
  Matrix<float> query(1, points.cols());
  std::copy_n(collection.data().points.view().row(row), points.cols(), query.data());
  const NeighborLists nearest =
      nearest_neighbors(points, query, std::min<int64_t>(count + 1, points.rows()));
  for (int64_t i = 0; i < nearest.indices.cols(); ++i) {
    const int32_t other = rows[static_cast<size_t>(nearest.indices(0, i))];
    if (other == row || static_cast<int64_t>(found.size()) == count) continue;
    found.push_back(other);
    distances.push_back(std::sqrt(nearest.squared_distances(0, i)));
  }
  return {{"rows", std::move(found)}, {"distances", std::move(distances)}};
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
  std::vector<int32_t> all(static_cast<size_t>(collection.size()));
  std::iota(all.begin(), all.end(), 0);
  return nearest_of(collection, row, collection.data().points.view(), all, count);
}

Json rows_like(const Collection& collection, int64_t row, std::span<const int32_t> candidates,
               int64_t count) {
  const FloatView points = collection.data().points.view();
  Matrix<float> chosen(std::ssize(candidates), points.cols());
  for (int64_t i = 0; i < chosen.rows(); ++i)
    std::copy_n(points.row(candidates[static_cast<size_t>(i)]), points.cols(), chosen.row(i));
  return nearest_of(collection, row, chosen, candidates, count);
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
