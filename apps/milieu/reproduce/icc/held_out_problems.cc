// SPDX-License-Identifier: Apache-2.0
#include "reproduce/icc/held_out_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "reproduce/icc_data.h"

namespace milieu::cli {

namespace {

constexpr size_t kMostRows = 1500;                            // of each half
constexpr std::array<int, 5> kMergedSizes = {4, 3, 1, 1, 1};  // of coarse classes, in a cycle
constexpr int kMadeDims = 30, kMadeParts = 12, kMadePerPart = 150;

LabelledRows from_real(const char* name, RealSet set) {
  return {name, std::move(set.points), std::move(set.classes)};
}

// The coarse class of each class.
std::vector<int> merge_classes(int num_classes, Random& random) {
  std::vector<int> order(num_classes);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(std::span<int>(order));
  std::vector<int> coarse(num_classes);
  int next = 0;
  for (size_t begin = 0; begin < order.size(); ++next)
    for (int i = 0; i < kMergedSizes[next % kMergedSizes.size()] && begin < order.size(); ++i)
      coarse[order[begin++]] = next;
  return coarse;
}

std::vector<int> of_rows(const std::vector<int>& values, std::span<const int64_t> rows) {
  std::vector<int> chosen;
  for (const int64_t row : rows) chosen.push_back(values[row]);
  return chosen;
}

Matrix<float> rows_of(FloatView points, std::span<const int64_t> rows) {
  Matrix<float> chosen(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t r = 0; r < rows.size(); ++r)
    std::copy_n(points.row(rows[r]), points.cols(), chosen.row(static_cast<int64_t>(r)));
  return chosen;
}

}  // namespace

std::vector<ClassifierSet> classifier_sets(ReproduceRun& run) {
  std::vector<ClassifierSet> sets;
  const auto real = [&](const char* name, bool has_chosen, std::function<RealSet()> load) {
    load();  // names its files
    sets.push_back({name, has_chosen, [=] { return from_real(name, load()); }});
  };
  real("usps", true, [&run] { return load_usps(run, 256, false); });
  real("deterding", true, [&run] { return load_deterding(run); });
  real("hillenbrand", true, [&run] { return load_hillenbrand(run); });
  const std::string points = run.data_file("mfeat/pix.npy");
  const std::string labels = run.data_file("mfeat/labels.npy");
  sets.push_back({"mfeat, pixels", true, [=] {
                    LoadOptions options;
                    options.labels_path = labels;
                    const Dataset data = load_dataset(points, options);
                    return LabelledRows{"mfeat, pixels", Matrix<float>(data.points.view()),
                                        data.labels.indices};
                  }});
  real("gases", false, [&run] { return load_gases(run, 0); });
  sets.push_back({"made unions", false, [&run] { return made_unions(run.options().seed + 100); }});
  for (const auto& load : held_out_sets(run)) sets.push_back({"", false, load});
  return sets;
}

ClassifierProblem make_problem(const LabelledRows& rows, bool is_merged, Random random) {
  const int num_classes = 1 + *std::ranges::max_element(rows.labels);
  std::vector<int> classes = rows.labels;
  if (is_merged) {
    const std::vector<int> coarse = merge_classes(num_classes, random);
    for (int& c : classes) c = coarse[c];
  }
  std::vector<int64_t> order(rows.labels.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  random.shuffle(std::span<int64_t>(order));
  std::vector<int> seen(num_classes);  // every class is in both halves: its rows alternate
  std::vector<int64_t> train, test;
  for (const int64_t row : order) {
    std::vector<int64_t>& half = seen[rows.labels[row]]++ % 2 == 0 ? train : test;
    if (half.size() < kMostRows) half.push_back(row);
  }
  return {rows_of(rows.points, train), rows_of(rows.points, test), of_rows(classes, train),
          of_rows(classes, test)};
}

LabelledRows made_unions(uint64_t seed) {
  Random random = Random(seed).child(27);
  LabelledRows made{"made unions", Matrix<float>(kMadeParts * kMadePerPart, kMadeDims), {}};
  for (int part = 0; part < kMadeParts; ++part) {
    std::vector<double> centre(kMadeDims);
    for (int j = 0; j < 6; ++j) centre[j] = 2 * random.normal();
    for (int i = 0; i < kMadePerPart; ++i) {
      for (int j = 0; j < kMadeDims; ++j)
        made.points(part * kMadePerPart + i, j) = static_cast<float>(centre[j] + random.normal());
      made.labels.push_back(part);
    }
  }
  return made;
}

void export_problem(const ReproduceRun& run, const std::string& name,
                    const ClassifierProblem& problem, std::span<const double> accuracies) {
  if (run.options().out.empty()) return;
  const std::string folder = fmt::format("{}/icc_problems/{}", run.options().out, name);
  std::filesystem::create_directories(folder);
  write_npy(folder + "/train.npy", problem.train.view());
  write_npy(folder + "/train_classes.npy", std::span<const int32_t>(problem.train_classes));
  write_npy(folder + "/test.npy", problem.test.view());
  write_npy(folder + "/test_classes.npy", std::span<const int32_t>(problem.test_classes));
  write_npy(folder + "/icc_accuracies.npy", accuracies);
}

}  // namespace milieu::cli
