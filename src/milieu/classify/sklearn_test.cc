// SPDX-License-Identifier: Apache-2.0
// LDA, the quadratic classifier and nearest neighbours against scikit-learn where the settings
// coincide: no ridge, no shrinkage. Python is started once for all cases (sklearn_reference.py);
// skipped where scikit-learn is not installed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/classify/nearest.h"
#include "milieu/classify/quadratic.h"
#include "milieu/testing/synthetic.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

std::vector<LabelledPoints> make_cases() {
  std::vector<LabelledPoints> cases;
  for (const int classes : {2, 3, 5})
    for (const int64_t d : {1, 2, 4, 8})
      cases.push_back(make_blobs({.n = 150,
                                  .d = d,
                                  .num_clusters = classes,
                                  .separation = 1.5,
                                  .offset = 3,
                                  .seed = static_cast<uint64_t>(10 * classes + d)}));
  // Unlike spreads and correlated columns.
  for (LabelledPoints& data : cases)
    for (int64_t i = 0; i < data.points.rows(); ++i)
      for (int64_t j = 0; j < data.points.cols(); ++j)
        data.points(i, j) = static_cast<float>(data.points(i, j) * (1 + data.labels[i]) +
                                               (j > 0 ? 0.5 * data.points(i, j - 1) : 0));
  return cases;
}

void write_cases(const std::string& path, const std::vector<LabelledPoints>& cases) {
  std::ofstream out(path);
  for (const LabelledPoints& data : cases) {
    out << data.points.rows() << ' ' << data.points.cols() << '\n';
    for (int64_t i = 0; i < data.points.rows(); ++i)
      for (const float value : data.points.row_span(i))
        out << fmt::format("{:.17g} ", double{value});
    for (const int label : data.labels) out << label << ' ';
    out << '\n';
  }
}

void expect_near(std::ifstream& in, const Matrix<double>& ours, double tolerance,
                 const char* what) {
  for (int64_t i = 0; i < ours.rows(); ++i)
    for (const double value : ours.row_span(i)) {
      double expected = 0;
      ASSERT_TRUE(in >> expected) << what;
      ASSERT_NEAR(value, expected, tolerance * std::max(1.0, std::abs(expected))) << what << i;
    }
}

TEST(Classify, EqualsScikitLearn) {
  const char* source_dir = std::getenv("MILIEU_SOURCE_DIR");
  if (!source_dir) GTEST_SKIP() << "MILIEU_SOURCE_DIR is not set (ctest sets it)";
  const std::vector<LabelledPoints> cases = make_cases();
  const TempDir folder;
  write_cases(folder.file("cases.txt"), cases);
  const std::string command =
      fmt::format("/usr/bin/python3 '{}/src/milieu/classify/sklearn_reference.py' '{}' > '{}'",
                  source_dir, folder.file("cases.txt"), folder.file("figures.txt"));
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77 || code == 127)
    GTEST_SKIP() << "scikit-learn is not installed (apt install python3-sklearn)";
  ASSERT_EQ(code, 0) << command;

  std::ifstream in(folder.file("figures.txt"));
  for (const LabelledPoints& data : cases) {
    SCOPED_TRACE(fmt::format("{} columns", data.points.cols()));
    const Matrix<double> points = widen(data.points);
    const LdaModel lda = fit_lda(points, data.labels, {.num_dims = 0, .ridge = 0});
    expect_near(in, lda.components, 1e-8, "axes");
    expect_near(in, predict_probabilities(lda, points), 1e-8, "lda");
    const QuadraticModel model =
        fit_quadratic(points, data.labels, {}, {.shrinkage = 0, .ridge = 0});
    expect_near(in, subclass_scores(model, points), 1e-8, "scores");
    expect_near(in, predict_probabilities(model, points), 1e-8, "quadratic");
    expect_near(in, predict_probabilities(fit_nearest(data.points, data.labels, 5), data.points),
                1e-12, "nearest");
  }
}

}  // namespace
}  // namespace milieu
