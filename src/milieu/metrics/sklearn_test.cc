// SPDX-License-Identifier: Apache-2.0
// Every figure against scikit-learn's on random and degenerate labelings: Python is started once
// for all cases (sklearn_reference.py). Skipped where scikit-learn is not installed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/metrics/metrics.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using Ints = std::vector<int>;

struct Case {
  std::string name;
  Ints labels, truth;
};

Ints random_labels(Random& random, int n, int k) {
  Ints labels(n);
  for (int& label : labels) label = static_cast<int>(random.uniform_index(k));
  return labels;
}

// The truth with a share of the samples moved to random classes.
Ints disturbed(Random& random, const Ints& truth, int k, double share) {
  Ints labels = truth;
  for (int& label : labels)
    if (random.bernoulli(share)) label = static_cast<int>(random.uniform_index(k));
  return labels;
}

std::vector<Case> random_cases() {
  Random random(11);
  std::vector<Case> cases;
  for (int n : {1, 2, 3, 5, 10, 100, 2000})
    for (int k : {1, 2, 3, 7, 30})
      for (int classes : {1, 2, 5, 20}) {
        const std::string name = "n=" + std::to_string(n) + " k=" + std::to_string(k) +
                                 " classes=" + std::to_string(classes);
        const Ints truth = random_labels(random, n, classes);
        cases.push_back({name, random_labels(random, n, k), truth});
        cases.push_back({name + " close", disturbed(random, truth, k, 0.2), truth});
        Ints with_none = disturbed(random, truth, k, 0.1);
        for (int& label : with_none)
          if (random.bernoulli(0.3)) label = -1;
        cases.push_back({name + " with -1", with_none, truth});
      }
  return cases;
}

std::vector<Case> degenerate_cases() {
  Ints singletons(50), halves(50), large(50);
  for (int i = 0; i < 50; ++i) {
    singletons[i] = i;
    halves[i] = i % 2;
    large[i] = 1'000'000'000 + 1000 * (i % 3);
  }
  const Ints one(50, 0);
  const Ints none(50, -1);
  return {{"same", halves, halves},
          {"one cluster", one, halves},
          {"one class", halves, one},
          {"one and one", one, one},
          {"singleton clusters", singletons, halves},
          {"singleton classes", halves, singletons},
          {"singletons twice", singletons, singletons},
          {"singletons in one class", singletons, one},
          {"large labels", large, halves},
          {"no cluster", none, halves},
          {"no cluster, one class", none, one}};
}

void write_line(std::ofstream& out, const Ints& values) {
  for (int value : values) out << value << ' ';
  out << '\n';
}

// Exit status of the reference script, its output in `output`.
int run_reference(const std::string& script, const std::string& cases, const std::string& output) {
  const std::string command =
      "/usr/bin/python3 '" + script + "' '" + cases + "' > '" + output + "'";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Metrics, EqualScikitLearn) {
  const char* source_dir = std::getenv("MILIEU_SOURCE_DIR");
  if (!source_dir) GTEST_SKIP() << "MILIEU_SOURCE_DIR is not set (ctest sets it)";
  std::vector<Case> cases = random_cases();
  for (Case& degenerate : degenerate_cases()) cases.push_back(std::move(degenerate));
  const TempDir folder;
  {
    std::ofstream out(folder.file("cases.txt"));
    for (const Case& c : cases) {
      write_line(out, c.labels);
      write_line(out, c.truth);
    }
  }
  const std::string script = std::string(source_dir) + "/src/milieu/metrics/sklearn_reference.py";
  const int status = run_reference(script, folder.file("cases.txt"), folder.file("figures.txt"));
  if (status == 77 || status == 127)
    GTEST_SKIP() << "scikit-learn is not installed (apt install python3-sklearn)";
  ASSERT_EQ(status, 0) << script << " failed";

  std::ifstream in(folder.file("figures.txt"));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::array<double, 10> expected{};
    for (double& value : expected) ASSERT_TRUE(in >> value);
    const Metrics m = compute_metrics(c.labels, c.truth);
    const std::array<double, 10> ours = {
        m.accuracy,        m.nmi,        m.nmi_sqrt, m.nmi_max, m.ari, m.precision_pairwise,
        m.recall_pairwise, m.f_pairwise, m.purity,   m.f};
    const std::array<const char*, 10> names = {
        "accuracy",        "nmi",        "nmi_sqrt", "nmi_max", "ari", "precision_pairwise",
        "recall_pairwise", "f_pairwise", "purity",   "f"};
    for (size_t i = 0; i < names.size(); ++i) EXPECT_NEAR(ours[i], expected[i], 1e-12) << names[i];
  }
}

}  // namespace
}  // namespace milieu
