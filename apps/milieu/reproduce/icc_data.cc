// SPDX-License-Identifier: Apache-2.0
#include "reproduce/icc_data.h"

#include <cmath>

#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/linalg/pca.h"

namespace milieu::cli {

namespace {

// The given columns (empty: all) of the rows that `keep` selects; group 0 for all.
template <class Keep>
RealSet load_set(const ReproduceRun& run, const std::string& folder, const std::string& points_name,
                 const std::vector<int>& columns, Keep&& keep, std::vector<int64_t>& rows) {
  const Dataset data = load_dataset(run.data_file(folder + "/" + points_name));
  const std::vector<int64_t> labels = to_integers(open_npy(run.data_file(folder + "/labels.npy")));
  rows.clear();
  for (int64_t i = 0; i < data.points.rows(); ++i)
    if (keep(data.points.view(), i)) rows.push_back(i);
  const int64_t d = columns.empty() ? data.points.cols() : static_cast<int64_t>(columns.size());
  RealSet set{Matrix<float>(static_cast<int64_t>(rows.size()), d), {}, {}};
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int64_t j = 0; j < d; ++j)
      set.points(static_cast<int64_t>(r), j) =
          data.points.view()(rows[r], columns.empty() ? j : columns[j]);
    set.classes.push_back(static_cast<int>(labels[rows[r]]));
  }
  set.groups.assign(rows.size(), 0);
  return set;
}

// Adds `factor` times the numbers of a file to the groups of the rows.
void add_groups(const ReproduceRun& run, const std::string& name, int64_t factor,
                const std::vector<int64_t>& rows, RealSet& set) {
  const std::vector<int64_t> numbers = to_integers(open_npy(run.data_file(name)));
  for (size_t r = 0; r < rows.size(); ++r)
    set.groups[r] += static_cast<int>(factor * numbers[rows[r]]);
}

bool is_any(FloatView, int64_t) { return true; }

bool is_complete(FloatView points, int64_t row) {
  for (const float value : points.row_span(row))
    if (value == 0) return false;
  return true;
}

}  // namespace

RealSet load_peterson_barney(const ReproduceRun& run, const std::vector<int>& columns) {
  std::vector<int64_t> rows;
  RealSet set = load_set(run, "peterson_barney", "X.npy", columns, is_any, rows);
  add_groups(run, "peterson_barney/talker.npy", 1, rows, set);
  return set;
}

RealSet load_deterding(const ReproduceRun& run) {
  std::vector<int64_t> rows;
  RealSet set = load_set(run, "vowel_deterding", "X.npy", {}, is_any, rows);
  add_groups(run, "vowel_deterding/speaker.npy", 1, rows, set);
  return set;
}

RealSet load_hillenbrand(const ReproduceRun& run) {
  std::vector<int64_t> rows;
  RealSet set = load_set(run, "hillenbrand", "X8.npy", {}, is_complete, rows);
  add_groups(run, "hillenbrand/talker.npy", 1, rows, set);  // numbered within men, women, ...
  add_groups(run, "hillenbrand/group.npy", 1000, rows, set);
  return set;
}

RealSet load_gases(const ReproduceRun& run, int batch) {
  const std::vector<int64_t> batches = to_integers(open_npy(run.data_file("gas_drift/batch.npy")));
  std::vector<int64_t> rows;
  RealSet set = load_set(
      run, "gas_drift", "X.npy", {},
      [&](FloatView, int64_t i) { return batch == 0 || batches[i] == batch; }, rows);
  add_groups(run, "gas_drift/batch.npy", 1, rows, set);
  for (float& value : std::span(set.points.data(), set.points.size()))
    value = std::copysign(std::log1p(std::abs(value)), value);  // sizes differ by four powers of 10
  return set;
}

RealSet load_usps(const ReproduceRun& run, int dims, bool is_parity) {
  std::vector<int64_t> rows;
  RealSet set = load_set(run, "usps_roweis", "X.npy", {}, is_any, rows);
  set.points = project(fit_pca(set.points, dims), set.points);
  if (is_parity)
    for (int& c : set.classes) c %= 2;
  return set;
}

}  // namespace milieu::cli
