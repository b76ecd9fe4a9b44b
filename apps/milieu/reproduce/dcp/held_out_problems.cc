// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dcp/held_out_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

constexpr size_t kPerClass = 200, kContextRows = 150, kTogetherRows = 75, kMaxPairs = 20;
constexpr int kNumContexts = 6;
constexpr size_t kUnequal = 10;                                         // 1:10
constexpr const char* kFashion = "/usr/share/datasets/fashion-mnist/";  // of Debian's package

LabelledRows load(const std::string& name, const std::string& points, const std::string& labels) {
  LoadOptions options;
  options.labels_path = labels;
  const Dataset data = load_dataset(points, options);
  return {name, Matrix<float>(data.points.view()), data.labels.indices};
}

std::vector<int64_t> some_rows(const LabelledRows& rows, int wanted, size_t count, Random& random) {
  std::vector<int64_t> own;
  for (size_t i = 0; i < rows.labels.size(); ++i)
    if (rows.labels[i] == wanted) own.push_back(static_cast<int64_t>(i));
  random.shuffle(std::span<int64_t>(own));
  own.resize(std::min(own.size(), count));
  return own;
}

}  // namespace

std::vector<std::function<LabelledRows()>> held_out_sets(ReproduceRun& run) {
  std::vector<std::function<LabelledRows()>> sets;
  const auto file = [&](const char* name, const char* points, const char* labels) {
    const std::string p = run.data_file(points), l = run.data_file(labels);
    sets.push_back([=] { return load(name, p, l); });
  };
  file("mnist", "mnist/X_train10k.npy", "mnist/labels_train10k.npy");
  file("mfeat, Fourier", "mfeat/fou.npy", "mfeat/labels.npy");
  file("mfeat, Karhunen-Loeve", "mfeat/kar.npy", "mfeat/labels.npy");
  const std::string fashion = kFashion;
  if (std::filesystem::exists(fashion))
    sets.push_back([=] {
      return load("fashion-mnist", fashion + "t10k-images-idx3-ubyte.gz",
                  fashion + "t10k-labels-idx1-ubyte.gz");
    });
  for (const char* name : {"scenes15", "caltech101"}) {
    const auto deep = std::make_shared<DeepSet>(run, name);
    sets.push_back([=] {
      return LabelledRows{std::string(name) + ", network", Matrix<float>(deep->embedding()),
                          deep->classes()};
    });
  }
  return sets;
}

std::vector<std::pair<int, int>> pairs_of(int num_classes, Random random) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < num_classes; ++a)
    for (int b = a + 1; b < num_classes; ++b) pairs.emplace_back(a, b);
  random.shuffle(std::span<std::pair<int, int>>(pairs));
  pairs.resize(std::min(pairs.size(), kMaxPairs));
  return pairs;
}

PairProblem make_problem(const LabelledRows& rows, int first, int second, bool is_unequal,
                         Random random) {
  std::vector<int64_t> members = some_rows(rows, first, kPerClass, random);
  std::vector<int64_t> others = some_rows(rows, second, kPerClass, random);
  if (is_unequal) others.resize(std::max<size_t>(1, others.size() / kUnequal));
  PairProblem problem;
  problem.truth.assign(members.size(), 0);
  members.insert(members.end(), others.begin(), others.end());
  problem.truth.resize(members.size(), 1);
  problem.set = gather_rows(rows.points, members);
  std::vector<int64_t> together;
  const int num_classes = 1 + *std::ranges::max_element(rows.labels);
  for (const int64_t c : random.sample_without_replacement(num_classes, num_classes)) {
    if (c == first || c == second || problem.contexts.size() == kNumContexts) continue;
    const std::vector<int64_t> own = some_rows(rows, static_cast<int>(c), kContextRows, random);
    problem.contexts.push_back(gather_rows(rows.points, own));
    together.insert(together.end(), own.begin(),
                    own.begin() + static_cast<int64_t>(std::min(own.size(), kTogetherRows)));
  }
  problem.contexts.push_back(gather_rows(rows.points, together));
  return problem;
}

void export_problem(const ReproduceRun& run, const std::string& name, const PairProblem& problem,
                    std::span<const double> dcp_errors) {
  if (run.options().out.empty()) return;
  const std::string folder = fmt::format("{}/dcp_problems/{}", run.options().out, name);
  std::filesystem::create_directories(folder);
  write_npy(folder + "/set.npy", problem.set.view());
  write_npy(folder + "/classes.npy", std::span<const int32_t>(problem.truth));
  write_npy(folder + "/dcp_errors.npy", dcp_errors);
}

}  // namespace milieu::cli
