// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dcp/dcp.h"

#include <algorithm>

#include "milieu/data/dataset.h"

namespace milieu::cli {

Digits load_usps(const ReproduceRun& run) {
  LoadOptions options;
  options.labels_path = run.data_file("usps_roweis/labels.npy");
  const Dataset data = load_dataset(run.data_file("usps_roweis/X.npy"), options);
  Digits digits;
  digits.points = Matrix<float>(data.points.view());
  for (float& value : std::span(digits.points.data(), digits.points.size())) value /= 255;
  for (const int index : data.labels.indices)
    digits.labels.push_back(std::stoi(data.labels.names[index]));
  return digits;
}

std::vector<int64_t> rows_of_digit(const Digits& digits, int digit) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < digits.labels.size(); ++i)
    if (digits.labels[i] == digit) rows.push_back(static_cast<int64_t>(i));
  return rows;
}

Matrix<float> gather_rows(FloatView points, const std::vector<int64_t>& rows) {
  Matrix<float> gathered(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(points.row(rows[i]), points.cols(), gathered.row(static_cast<int64_t>(i)));
  return gathered;
}

Mixture mix_digits(const Digits& digits, int first, int second, bool is_unbalanced,
                   Random& random) {
  std::vector<int64_t> rows = rows_of_digit(digits, first);
  std::vector<int64_t> others = rows_of_digit(digits, second);
  Mixture mixture;
  mixture.truth.assign(rows.size(), 0);
  if (is_unbalanced) {
    random.shuffle(std::span<int64_t>(others));
    others.resize(others.size() / 10);
    std::sort(others.begin(), others.end());
  }
  rows.insert(rows.end(), others.begin(), others.end());
  mixture.truth.resize(rows.size(), 1);
  mixture.points = gather_rows(digits.points, rows);
  return mixture;
}

double balanced_error(const std::vector<int>& labels, const std::vector<int>& truth) {
  double wrong[2] = {0, 0}, count[2] = {0, 0};  // under the matching part k = class k
  for (size_t i = 0; i < labels.size(); ++i) {
    count[truth[i]] += 1;
    wrong[truth[i]] += labels[i] != truth[i] ? 1 : 0;
  }
  const double error = 0.5 * (wrong[0] / count[0] + wrong[1] / count[1]);
  return std::min(error, 1 - error);
}

}  // namespace milieu::cli
