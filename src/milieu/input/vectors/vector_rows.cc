// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/vectors/vector_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/data/row_names.h"
#include "milieu/input/vectors/vector_file.h"

namespace milieu {
namespace {

// Which rows and images belong together.
struct Match {
  std::vector<int64_t> rows;         // of the file, one per kept image
  std::vector<std::string> paths;    // the kept images
  std::vector<std::string> classes;  // of them
  std::vector<std::string> warnings;
};

void keep(const ImageFolder& folder, size_t image, int64_t row, Match& match) {
  const int label = folder.labels.empty() ? -1 : folder.labels.indices[image];
  match.rows.push_back(row);
  match.paths.push_back(folder.paths[image]);
  match.classes.push_back(label < 0 ? "" : folder.labels.names[static_cast<size_t>(label)]);
}

Match match_by_order(const ImageFolder& folder, const std::string& path, const VectorFile& file,
                     const std::string& vectors) {
  if (file.points.rows() != static_cast<int64_t>(folder.paths.size()))
    throw DataError(fmt::format(
        "{} has {}, {} has {}, from {} to {}: they must match, in the order of the sorted names; "
        "or give the image of every row with --vector-names FILE",
        vectors, counted(file.points.rows(), "row"), path, counted(folder.paths.size(), "image"),
        printable(folder.paths.front()), printable(folder.paths.back())));
  Match match;
  for (size_t i = 0; i < folder.paths.size(); ++i) keep(folder, i, static_cast<int64_t>(i), match);
  return match;
}

void add_warnings(const ImageFolder& folder, const std::vector<std::string>& missing,
                  int64_t num_rows, const std::string& vectors, Match& match) {
  if (!missing.empty())
    match.warnings.push_back(
        fmt::format("{} of {} images have no row in {} and were left out, the first: {}",
                    missing.size(), folder.paths.size(), vectors, printable(missing.front())));
  const int64_t unused = num_rows - static_cast<int64_t>(match.rows.size());
  if (unused > 0)
    match.warnings.push_back(
        fmt::format("{} of {} rows of {} belong to no image", unused, num_rows, vectors));
}

Match match_by_names(const ImageFolder& folder, const std::string& path,
                     const std::vector<std::string>& names, const std::string& vectors) {
  const RowNames rows(names);
  Match match;
  std::vector<std::string> missing;
  std::vector<int64_t> image_of_row(names.size(), -1);
  for (size_t i = 0; i < folder.paths.size(); ++i) {
    const int64_t row = rows.find(folder.paths[i]);
    if (row == RowNames::kAmbiguous)
      throw DataError(fmt::format(
          "{} is named more than once for {}: give paths below the folder instead of file names",
          printable(folder.paths[i]), vectors));
    if (row == RowNames::kNone) {
      missing.push_back(folder.paths[i]);
      continue;
    }
    int64_t& taken = image_of_row[static_cast<size_t>(row)];
    if (taken >= 0)
      throw DataError(fmt::format(
          "{} names both {} and {}: give paths below the folder instead of file names",
          printable(names[static_cast<size_t>(row)]),
          printable(folder.paths[static_cast<size_t>(taken)]), printable(folder.paths[i])));
    taken = static_cast<int64_t>(i);
    keep(folder, i, row, match);
  }
  if (match.rows.empty())
    throw DataError(fmt::format(
        "no row of {} names an image of {}: the first row is called {}, the first image {}",
        vectors, path, printable(names.front()), printable(folder.paths.front())));
  add_warnings(folder, missing, rows.size(), vectors, match);
  return match;
}

}  // namespace

InputRows open_vector_rows(const std::string& path, const ImageOptions& images,
                           const LoadOptions& load) {
  const std::string& vectors = images.vectors;
  VectorFile file = read_vector_file(vectors, load.num_threads);
  if (!images.vector_names.empty())
    file.names = lines_of(MappedFile::open(images.vector_names)->text());
  if (!file.names.empty() && static_cast<int64_t>(file.names.size()) != file.points.rows())
    throw DataError(fmt::format("{} has {}, {} has {}: they must match",
                                images.vector_names.empty() ? vectors : images.vector_names,
                                counted(file.names.size(), "name"), vectors,
                                counted(file.points.rows(), "row")));
  const ImageFolder folder = list_images(path);
  Match match = file.names.empty() ? match_by_order(folder, path, file, vectors)
                                   : match_by_names(folder, path, file.names, vectors);
  ImageOrigin origin;
  origin.root = folder.root;
  origin.columns.push_back({"vectors", 0, file.points.cols()});
  Points points = file.points.gather(match.rows, load.num_threads);
  return {RowSource::of(std::move(points), labels_from_classes(match.classes),
                        std::move(match.paths), path, load),
          std::move(origin), std::move(match.warnings)};
}

}  // namespace milieu
