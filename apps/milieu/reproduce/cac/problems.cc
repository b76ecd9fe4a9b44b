// SPDX-License-Identifier: Apache-2.0
// Multi-view problems: mfeat's triples, parts of digit images, columns of vowels apart, sensors of
// gases, classical and deep features of images.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "milieu/data/dataset.h"
#include "reproduce/cac/held_out.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

constexpr const char* kFashion = "/usr/share/datasets/fashion-mnist/t10k-";  // Debian's package
constexpr int64_t kStep = 5;  // every fifth image of large sets

Matrix<float> columns_of(FloatView rows, const std::vector<int64_t>& columns,
                         const std::vector<int64_t>& samples) {
  Matrix<float> view(std::ssize(samples), std::ssize(columns));
  for (int64_t i = 0; i < view.rows(); ++i)
    for (int64_t t = 0; t < view.cols(); ++t) view(i, t) = rows(samples[i], columns[t]);
  return view;
}

std::vector<int64_t> every(int64_t n, int64_t step) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < n; i += step) rows.push_back(i);
  return rows;
}

std::vector<int> pick(const std::vector<int>& labels, const std::vector<int64_t>& rows) {
  std::vector<int> picked;
  for (const int64_t row : rows) picked.push_back(labels[row]);
  return picked;
}

// Images of side x side pixels in down x across parts.
ViewProblem image_parts(const std::string& images, const std::string& labels, int side, int down,
                        int across, int64_t step) {
  const Dataset data = load_dataset(images);
  const std::vector<int64_t> rows = every(data.points.rows(), step);
  ViewProblem problem;
  problem.classes = pick(load_labels(labels).indices, rows);
  for (int a = 0; a < down; ++a)
    for (int b = 0; b < across; ++b) {
      std::vector<int64_t> columns;
      for (int y = a * side / down; y < (a + 1) * side / down; ++y)
        for (int x = b * side / across; x < (b + 1) * side / across; ++x)
          columns.push_back(int64_t{y} * side + x);
      problem.views.push_back(columns_of(data.points.view(), columns, rows));
    }
  return problem;
}

// Every column is a view; rows with a 0 were not measured.
ViewProblem columns_apart(const std::string& file, const std::string& labels) {
  const Dataset data = load_dataset(file);
  const FloatView points = data.points.view();
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < points.rows(); ++i)
    if (std::ranges::count(points.row_span(i), 0.0f) == 0) rows.push_back(i);
  ViewProblem problem;
  problem.classes = pick(load_labels(labels).indices, rows);
  for (int64_t t = 0; t < points.cols(); ++t)
    problem.views.push_back(columns_of(points, {t}, rows));
  return problem;
}

// Features of one image set.
ViewProblem image_features(const std::shared_ptr<DeepSet>& set,
                           const std::vector<std::string>& features) {
  ViewProblem problem;
  problem.classes = set->classes();
  for (const std::string& feature : features) problem.views.push_back(set->feature(feature));
  return problem;
}

void add_triples(ReproduceRun& run, std::vector<NamedProblem>& problems) {
  const char* names[] = {"fou", "kar", "pix", "fac", "zer", "mor"};
  const std::string labels = run.data_file("mfeat/labels.npy");
  int count = 0;
  for (int a = 0; a < 6; ++a)
    for (int b = a + 1; b < 6; ++b)
      for (int c = b + 1; c < 6; ++c) {
        std::vector<std::string> files;
        for (const int v : {a, b, c})
          files.push_back(run.data_file(fmt::format("mfeat/{}.npy", names[v])));
        problems.push_back({fmt::format("mfeat {} {} {}", names[a], names[b], names[c]),
                            count++ % 2 == 0, [files, labels] {
                              ViewProblem problem;
                              for (const std::string& file : files)
                                problem.views.emplace_back(load_dataset(file).points.view());
                              problem.classes = load_labels(labels).indices;
                              return problem;
                            }});
      }
}

void add_digits(ReproduceRun& run, std::vector<NamedProblem>& problems) {
  const auto add = [&](const char* name, bool has_chosen, const std::string& images,
                       const std::string& labels, int side, int down, int across, int64_t step) {
    problems.push_back(
        {name, has_chosen, [=] { return image_parts(images, labels, side, down, across, step); }});
  };
  const auto file = [&](const char* name) { return run.data_file(name); };
  add("MNIST training, quadrants", true, file("mnist/X_train10k.npy"),
      file("mnist/labels_train10k.npy"), 28, 2, 2, kStep);
  add("USPS test, halves", true, file("usps_esl/X_test.npy"), file("usps_esl/labels_test.npy"), 16,
      2, 1, 1);
  add("MNIST test, quadrants", false, file("mnist/X_t10k.npy"), file("mnist/labels_t10k.npy"), 28,
      2, 2, kStep);
  add("USPS (Roweis), quadrants", false, file("usps_roweis/X.npy"), file("usps_roweis/labels.npy"),
      16, 2, 2, kStep);
  const std::string images = fmt::format("{}images-idx3-ubyte.gz", kFashion);
  if (std::filesystem::exists(images))
    add("Fashion, quadrants", false, images, fmt::format("{}labels-idx1-ubyte.gz", kFashion), 28, 2,
        2, kStep);
}

void add_columns(ReproduceRun& run, std::vector<NamedProblem>& problems) {
  const auto add = [&](const char* name, bool has_chosen, const char* file, const char* labels) {
    problems.push_back(
        {name, has_chosen, [points = run.data_file(file), classes = run.data_file(labels)] {
           return columns_apart(points, classes);
         }});
  };
  add("Peterson-Barney, columns apart", true, "peterson_barney/X.npy",
      "peterson_barney/labels.npy");
  add("Hillenbrand, columns apart", false, "hillenbrand/X8.npy", "hillenbrand/labels.npy");
  add("Deterding, columns apart", false, "vowel_deterding/X.npy", "vowel_deterding/labels.npy");
}

void add_images(ReproduceRun& run, std::vector<NamedProblem>& problems) {
  const std::string embedding = embedding_feature(run);
  for (const char* name : {"brodatz24", "uiuc_textures", "scenes15", "caltech101"}) {
    const auto set = std::make_shared<DeepSet>(run, name);
    // Other features of these two sets took part in the choice.
    const bool has_chosen =
        std::string_view(name) == "brodatz24" || std::string_view(name) == "scenes15";
    problems.push_back({fmt::format("{}: gist, hog, lbp", name), has_chosen, [set] {
                          return image_features(set, {"gist", "hog", "lbp"});
                        }});
    problems.push_back({fmt::format("{}: gist, lbp, embedding", name), false, [set, embedding] {
                          return image_features(set, {"gist", "lbp", embedding});
                        }});
  }
}

}  // namespace

std::vector<NamedProblem> view_problems(ReproduceRun& run) {
  std::vector<NamedProblem> problems;
  add_triples(run, problems);
  add_digits(run, problems);
  add_columns(run, problems);
  add_images(run, problems);
  return problems;
}

}  // namespace milieu::cli
