// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_list_of_files(const std::string& path) {
  std::error_code error;
  return path.find(',') != std::string::npos && !std::filesystem::exists(path, error);
}

std::vector<std::string> files_of(const std::string& paths) {
  return is_list_of_files(paths) ? split_text(paths, ',') : std::vector<std::string>{paths};
}

Views load_views(const std::vector<std::string>& paths, const LoadOptions& load) {
  Views views;
  LoadOptions others = load;
  others.label_column.clear();
  for (size_t i = 0; i < paths.size(); ++i) {
    Dataset one = load_dataset(paths[i], i == 0 ? load : others);
    if (i > 0 && one.points.rows() != views.data.points.rows())
      throw DataError(fmt::format("{} has {}, {} has {}: views must match", paths[i],
                                  counted(one.points.rows(), "row"), paths[0],
                                  views.data.points.rows()));
    const int64_t first = i == 0 ? 0 : views.data.points.cols();
    views.columns.push_back(
        {std::filesystem::path(paths[i]).stem().string(), first, one.points.cols()});
    views.points.push_back(one.points);
    if (i == 0) {
      views.data = std::move(one);
    } else {
      views.data.points = join_columns(views.data.points, one.points);
      views.data.sample_shape = {views.data.points.cols()};
      views.data.source += ", " + one.source;
    }
  }
  return views;
}

}  // namespace milieu
