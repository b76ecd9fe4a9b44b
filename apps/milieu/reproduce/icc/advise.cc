// SPDX-License-Identifier: Apache-2.0
// Should a class be split? Made classes with one mode, which should be kept, and classes of real
// sets merged in pairs, which should be split.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/icc/advise/icc_advise.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/icc.h"
#include "reproduce/icc/held_out_problems.h"

namespace milieu::cli {

namespace {

constexpr int kMadeSets = 60, kChoices = 4;
constexpr size_t kPerClass = 200;

struct Judged {
  Matrix<float> points;
  std::vector<int> classes;
  int num_merged = 0;  // the first classes
};

// One value of a distribution with one mode.
double draw(int shape, Random& random) {
  switch (shape) {
    case 0:
      return random.normal();
    case 1:
      return random.uniform(-2, 2);
    case 2:
      return -std::log(1 - random.uniform());
    case 3:
      return random.normal() / std::sqrt(0.3 + random.uniform());  // heavy tails
    default:
      return random.normal() + 0.5 * std::pow(random.normal(), 2);
  }
}

// Two to eight classes of 50 to 400 samples in 2, 5, 20 or 60 dimensions, stretched and mixed at
// random.
Judged made_classes(Random random) {
  constexpr int kDims[] = {2, 5, 20, 60}, kSizes[] = {50, 100, 200, 400};
  const int dims = kDims[random.uniform_index(4)];
  const auto num_classes = static_cast<int>(2 + random.uniform_index(7));
  std::vector<float> rows;
  Judged made;
  for (int c = 0; c < num_classes; ++c) {
    const auto shape = static_cast<int>(random.uniform_index(5));
    const double away = std::pow(2.0, random.uniform_index(3)) * 3 / std::sqrt(dims);
    Matrix<double> mix(dims, dims);
    for (int j = 0; j < dims; ++j)
      for (int k = 0; k < dims; ++k)
        mix(j, k) = shape == 0 ? random.normal() / std::sqrt(dims) : j == k;
    std::vector<double> centre(dims), x(dims);
    for (double& value : centre) value = away * random.normal();
    const int size = kSizes[random.uniform_index(4)];
    for (int i = 0; i < size; ++i) {
      for (double& value : x) value = draw(shape, random);
      for (int j = 0; j < dims; ++j) {
        double sum = centre[j];
        for (int k = 0; k < dims; ++k) sum += mix(j, k) * x[k];
        rows.push_back(static_cast<float>(sum));
      }
      made.classes.push_back(c);
    }
  }
  made.points = Matrix<float>(FloatView(rows.data(), std::ssize(made.classes), dims));
  return made;
}

// A quarter of the classes in pairs, the others as they are.
Judged merged_classes(const LabelledRows& data, Random random) {
  const int num_classes = 1 + *std::ranges::max_element(data.labels);
  std::vector<int> order(num_classes), coarse(num_classes), seen(num_classes);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(std::span<int>(order));
  Judged merged;
  merged.num_merged = std::max(1, num_classes / 4);
  for (int i = 0; i < num_classes; ++i)
    coarse[order[i]] = i < 2 * merged.num_merged ? i / 2 : i - merged.num_merged;
  std::vector<int64_t> rows(data.labels.size()), kept;
  std::iota(rows.begin(), rows.end(), int64_t{0});
  random.shuffle(std::span<int64_t>(rows));
  for (const int64_t row : rows)
    if (seen[data.labels[row]]++ < static_cast<int>(kPerClass)) {
      kept.push_back(row);
      merged.classes.push_back(coarse[data.labels[row]]);
    }
  merged.points = gather_rows(data.points, kept);
  return merged;
}

// Merged classes: judged, split. Others: judged, split. Seconds.
std::vector<double> figures_of(const Judged& judged, const ReproduceRun& run) {
  IccAdviseOptions options;
  options.seed = run.options().seed;
  options.num_threads = run.options().num_threads;
  const IccAdvice advice = advise_icc({judged.points, judged.classes}, options, run.monitor());
  std::vector<double> figures(5);
  for (size_t c = 0; c < advice.classes.size(); ++c) {
    if (advice.classes[c].verdict == IccVerdict::TooFew) continue;
    const size_t kind = static_cast<int>(c) < judged.num_merged ? 0 : 2;
    ++figures[kind];
    figures[kind + 1] += advice.classes[c].part_sizes.size() > 1;
  }
  figures[4] = advice.summary.seconds;
  return figures;
}

void add(std::vector<double>& sums, const std::vector<double>& figures) {
  sums.resize(figures.size());
  for (size_t f = 0; f < figures.size(); ++f) sums[f] += figures[f];
}

std::string share_text(double part, double whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.0f} of {:.0f} ({:.1f} %)", part, whole, 100 * part / whole);
}

}  // namespace

void reproduce_icc_advise(ReproduceRun& run) {
  const std::vector<ClassifierSet> sets = classifier_sets(run);
  run.keep_progress("icc_advise");
  ResultTable table{"icc_advise",
                    "Should a class be split?",
                    {"data", "true merges split", "other classes split", "seconds per set"},
                    {},
                    {"other classes: as they are; those of real sets may have gaps of their own"}};
  const Random random = Random(run.options().seed).child(28);
  const auto add_row = [&](const std::string& name, const std::vector<double>& sums, int count) {
    table.rows.push_back({name, share_text(sums[1], sums[0]), share_text(sums[3], sums[2]),
                          fmt::format("{:.1f}", sums[4] / count)});
  };
  std::vector<double> made(5);
  for (int s = 0; s < kMadeSets && !run.is_stopped(); ++s)
    add(made, run.piece(fmt::format("icc advise made {}", s), [&] {
      return figures_of(made_classes(random.child(static_cast<uint64_t>(s))), run);
    }));
  if (run.is_stopped()) return;
  add_row("made, one mode each", made, kMadeSets);
  for (const ClassifierSet& set : sets) {
    const LabelledRows data = set.load();
    std::vector<double> sums(5);
    for (int choice = 0; choice < run.num_runs(kChoices) && !run.is_stopped(); ++choice) {
      run.say(fmt::format("{}, {}", data.name, choice));
      add(sums, run.piece(fmt::format("icc advise {}, {}", data.name, choice), [&] {
        return figures_of(merged_classes(data, random.child(static_cast<uint64_t>(1000 + choice))),
                          run);
      }));
    }
    if (run.is_stopped()) return;
    add_row(data.name, sums, run.num_runs(kChoices));
  }
  run.show(table);
}

}  // namespace milieu::cli
