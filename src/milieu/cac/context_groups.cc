// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/context_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {
namespace {

// Rows of one image, ascending.
std::vector<std::vector<int>> rows_of_images(int64_t n, std::span<const int> images) {
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (images.empty()) return {std::move(order)};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return images[a] < images[b]; });
  std::vector<std::vector<int>> rows;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || images[order[i]] != images[order[i - 1]]) rows.emplace_back();
    rows.back().push_back(order[i]);
  }
  return rows;
}

Matrix<float> gather_rows(FloatView points, const std::vector<int>& rows) {
  Matrix<float> out(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(points.row(rows[i]), points.cols(), out.row(static_cast<int64_t>(i)));
  return out;
}

// Neighbours of each row of one image as rows of all samples: row i's are [offsets[i],
// offsets[i + 1]).
struct ImageNeighbors {
  std::vector<int64_t> offsets{0};
  std::vector<int> members;
};

void add_group(int self, std::span<const int> found, const std::vector<int>& rows,
               bool include_self, ImageNeighbors& out) {
  if (include_self) out.members.push_back(self);
  for (const int j : found)
    if (j >= 0) out.members.push_back(rows[j]);
  out.offsets.push_back(static_cast<int64_t>(out.members.size()));
}

// The sample itself is left out of the search and put first: among samples at one place it would
// otherwise be anywhere, or be cut off.
ImageNeighbors search_image(FloatView positions, const std::vector<int>& rows,
                            const NeighborhoodOptions& options, Monitor& monitor) {
  NeighborOptions search;
  search.exclude_self = true;
  search.num_threads = options.num_threads;
  ImageNeighbors out;
  if (rows.size() == 1) {
    add_group(rows[0], {}, rows, options.include_self, out);
    return out;
  }
  const Matrix<float> points = gather_rows(positions, rows);
  if (options.epsilon > 0) {
    const RadiusNeighbors near = radius_neighbors(points, points, options.epsilon, search, monitor);
    for (size_t i = 0; i < rows.size(); ++i)
      add_group(
          rows[i],
          std::span(near.indices).subspan(near.offsets[i], near.offsets[i + 1] - near.offsets[i]),
          rows, options.include_self, out);
  } else {
    const NeighborLists near =
        nearest_neighbors(points, points, options.num_neighbors, search, monitor);
    for (size_t i = 0; i < rows.size(); ++i)
      add_group(rows[i], near.indices.row_span(static_cast<int64_t>(i)), rows, options.include_self,
                out);
  }
  return out;
}

void check_neighborhood(FloatView positions, std::span<const int> images,
                        const NeighborhoodOptions& options) {
  check_points(positions, "positions", options.num_threads);
  require(images.empty() || static_cast<int64_t>(images.size()) == positions.rows(), [&] {
    return fmt::format("images has {}, positions has {}: they must match",
                       counted(images.size(), "entry", "entries"),
                       counted(positions.rows(), "row"));
  });
  require(options.num_neighbors >= 1, [&] {
    return fmt::format("num_neighbors is {}, must be at least 1", options.num_neighbors);
  });
  require(std::isfinite(options.epsilon) && options.epsilon >= 0, [&] {
    return fmt::format("epsilon is {}, must be finite and at least 0", options.epsilon);
  });
}

}  // namespace

ContextGroups context_from_groups(const Groups& groups) {
  require(groups.num_samples <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("there are {}, groups take at most {}",
                       counted(groups.num_samples, "sample"), std::numeric_limits<int>::max());
  });
  ContextGroups context;
  context.num_samples = groups.num_samples;
  context.offsets = groups.offsets;
  context.members.assign(groups.members.begin(), groups.members.end());
  if (std::any_of(groups.weights.begin(), groups.weights.end(), [](float w) { return w != 1; }))
    context.weights = groups.weights;
  return context;
}

void validate_groups(const ContextGroups& groups) {
  const auto entries = static_cast<int64_t>(groups.members.size());
  require(groups.num_groups() >= 0 && groups.offsets.front() == 0 &&
              groups.offsets.back() == entries &&
              std::is_sorted(groups.offsets.begin(), groups.offsets.end()),
          "the offsets of the groups must increase from 0 to the number of members");
  require(groups.weights.empty() || static_cast<int64_t>(groups.weights.size()) == entries,
          "the groups must have one weight per member");
  require(groups.group_weights.empty() ||
              static_cast<int64_t>(groups.group_weights.size()) == groups.num_groups(),
          "group_weights must have one entry per group");
  std::vector<int64_t> last_group(static_cast<size_t>(groups.num_samples), -1);
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    const double weight = groups.group_weight(g);
    require(std::isfinite(weight) && weight >= 0, [&] {
      return fmt::format("the weight of group {} is {}, must be finite and at least 0", g, weight);
    });
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e) {
      const int i = groups.members[e];
      require(i >= 0 && i < groups.num_samples, [&] {
        return fmt::format("group {} names sample {}, there are only samples 0 to {}", g, i,
                           groups.num_samples - 1);
      });
      require(last_group[i] != g, [&] {
        return fmt::format("group {} names sample {} twice: give it the weight 2 instead", g, i);
      });
      last_group[i] = g;
      const double w = groups.member_weight(e);
      require(std::isfinite(w) && w > 0, [&] {
        return fmt::format("the weight of sample {} in group {} is {}, must be finite and above 0",
                           i, g, w);
      });
    }
  }
}

ContextGroups spatial_groups(FloatView positions, std::span<const int> images,
                             const NeighborhoodOptions& options, Monitor& monitor) {
  check_neighborhood(positions, images, options);
  const std::vector<std::vector<int>> rows = rows_of_images(positions.rows(), images);
  std::vector<ImageNeighbors> found(rows.size());
  // A single image is searched in parallel; of many, each on one thread.
  NeighborhoodOptions inner = options;
  if (rows.size() > 1) inner.num_threads = 1;
  Monitor quiet;  // progress must be reported from the calling thread only
  parallel_for(static_cast<int64_t>(rows.size()), 1, options.num_threads, [&](const Block& block) {
    const auto at = static_cast<size_t>(block.begin);
    if (monitor.should_stop()) {
      for (const int row : rows[at]) add_group(row, {}, rows[at], options.include_self, found[at]);
      return;
    }
    found[at] = search_image(positions, rows[at], inner, rows.size() > 1 ? quiet : monitor);
  });

  ContextGroups groups;
  groups.num_samples = positions.rows();
  groups.offsets.assign(static_cast<size_t>(positions.rows()) + 1, 0);
  for (size_t image = 0; image < rows.size(); ++image)
    for (size_t i = 0; i < rows[image].size(); ++i)
      groups.offsets[rows[image][i] + 1] = found[image].offsets[i + 1] - found[image].offsets[i];
  std::partial_sum(groups.offsets.begin(), groups.offsets.end(), groups.offsets.begin());
  groups.members.resize(static_cast<size_t>(groups.offsets.back()));
  for (size_t image = 0; image < rows.size(); ++image) {
    for (size_t i = 0; i < rows[image].size(); ++i)
      std::copy(found[image].members.begin() + found[image].offsets[i],
                found[image].members.begin() + found[image].offsets[i + 1],
                groups.members.begin() + groups.offsets[rows[image][i]]);
    found[image] = {};
  }
  return groups;
}

ContextGroups neighbors_in_views(std::span<const FloatView> views, std::span<const double> scales,
                                 int num_neighbors, int num_threads, Monitor& monitor) {
  int64_t width = 0;
  for (const FloatView& view : views) width += view.cols();
  Matrix<float> joined(views[0].rows(), width);
  int64_t column = 0;
  for (size_t v = 0; v < views.size(); ++v) {
    const double factor = std::sqrt(scales[v]);
    for (int64_t i = 0; i < joined.rows(); ++i)
      for (int64_t t = 0; t < views[v].cols(); ++t)
        joined(i, column + t) = static_cast<float>(factor * views[v](i, t));
    column += views[v].cols();
  }
  NeighborhoodOptions options;
  options.num_neighbors = num_neighbors;
  options.num_threads = num_threads;
  return spatial_groups(joined, {}, options, monitor);
}

ContextGroups view_groups(int64_t num_samples, int num_views, const ContextGroups& extra) {
  require(num_samples * num_views <= std::numeric_limits<int>::max(), [&] {
    return fmt::format("{} in {} are too many: at most {} in total", counted(num_samples, "sample"),
                       counted(num_views, "view"), std::numeric_limits<int>::max());
  });
  ContextGroups groups;
  groups.num_samples = num_samples * num_views;
  const bool is_weighted = !extra.weights.empty();
  const auto add = [&](int sample, float weight) {
    for (int v = 0; v < num_views; ++v) {
      groups.members.push_back(static_cast<int>(v * num_samples + sample));
      if (is_weighted) groups.weights.push_back(weight);
    }
  };
  const auto end_group = [&](double weight) {
    groups.offsets.push_back(static_cast<int64_t>(groups.members.size()));
    if (!extra.group_weights.empty()) groups.group_weights.push_back(weight);
  };
  for (int i = 0; i < num_samples; ++i) {
    add(i, 1);
    end_group(1);
  }
  for (int64_t g = 0; g < extra.num_groups(); ++g) {
    for (int64_t e = extra.offsets[g]; e < extra.offsets[g + 1]; ++e)
      add(extra.members[e], static_cast<float>(extra.member_weight(e)));
    end_group(extra.group_weight(g));
  }
  return groups;
}

ContextGroups transpose(const ContextGroups& groups) {
  ContextGroups columns;
  columns.num_samples = groups.num_groups();
  columns.offsets.assign(static_cast<size_t>(groups.num_samples) + 1, 0);
  for (const int i : groups.members) ++columns.offsets[i + 1];
  std::partial_sum(columns.offsets.begin(), columns.offsets.end(), columns.offsets.begin());
  columns.members.resize(groups.members.size());
  const bool is_weighted = !groups.weights.empty();
  if (is_weighted) columns.weights.resize(groups.members.size());
  std::vector<int64_t> next(columns.offsets.begin(), columns.offsets.end() - 1);
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e) {
      const int64_t at = next[groups.members[e]]++;
      columns.members[at] = static_cast<int>(g);
      if (is_weighted) columns.weights[at] = groups.weights[e];
    }
  return columns;
}

}  // namespace milieu
