// SPDX-License-Identifier: Apache-2.0
// The K-means row of [Lampert08, Table 1]: two digits of USPS mixed 1:1 and 1:10, separated by
// k-means with two centres.
#include "milieu/classic/kmeans/kmeans.h"
#include "reproduce/dcp/dcp.h"

namespace milieu::cli {

namespace {

struct Column {
  int first, second;
  bool is_unbalanced;
  const char* name;
  const char* published;
};

constexpr Column kColumns[] = {{6, 0, false, "6 v 0, 1:1", "48.8 +- 0.0"},
                               {6, 0, true, "6 v 0, 1:10", "46.8 +- 0.4"},
                               {2, 0, false, "2 v 0, 1:1", "5.9 +- 0.0"},
                               {2, 0, true, "2 v 0, 1:10", "36.3 +- 0.6"}};
constexpr int kOwnRuns = 100;

}  // namespace

void reproduce_dcp_kmeans(ReproduceRun& run) {
  const Digits digits = load_usps(run);
  ResultTable table{"dcp_kmeans",
                    "K-means on USPS, class-balanced error in %, [Lampert08, Table 1]",
                    {"mixture", "paper", "here", "runs"},
                    {},
                    {}};
  for (const Column& column : kColumns) {
    std::vector<double> errors;
    for (int i = 0; i < run.num_runs(kOwnRuns) && !run.is_stopped(); ++i) {
      Random random = Random(run.options().seed).child(static_cast<uint64_t>(i));
      const Mixture mixture =
          mix_digits(digits, column.first, column.second, column.is_unbalanced, random);
      KMeansOptions options;
      options.num_clusters = 2;
      options.num_restarts = run.num_restarts(10);
      options.rel_tolerance = 0;
      options.seed = random.next_bits() >> 1;
      options.num_threads = run.options().num_threads;
      const KMeansResult result = fit_kmeans({mixture.points, {}, {}}, options, run.monitor());
      errors.push_back(balanced_error(result.labels, mixture.truth));
    }
    if (run.is_stopped()) return;
    table.rows.push_back(
        {column.name, column.published, interval_text(errors), std::to_string(errors.size())});
  }
  run.show(table);
}

}  // namespace milieu::cli
