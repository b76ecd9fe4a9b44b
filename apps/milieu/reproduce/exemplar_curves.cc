// SPDX-License-Identifier: Apache-2.0
// [Komodakis11, Fig. 2 a]: the training objective, averaged over runs whose numbers of samples and
// clusters vary; and what the regulariser changes: l1, which the paper calls important, against l2
// and no price at all, trained to the end without the screening that would drop noise beforehand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/metrics/metrics.h"
#include "reproduce/exemplar.h"
#include "reproduce/exemplar_made.h"
#include "reproduce/panels.h"

namespace milieu::cli {

namespace {

// Training as in the paper, all of its rounds.
ExemplarLearnOptions plain_options(CrfRegularizer regularizer, double strength) {
  ExemplarLearnOptions options;
  options.screening = 0;
  options.metric = false;
  options.validations = 0;
  options.train.regularizer = regularizer;
  options.train.regularization = strength;
  return options;
}

// Sizes of run i: N from 200 to 500, M from 5 to 14.
MadeSetting varied(uint64_t seed, int i) {
  MadeSetting s;
  s.num_samples = 200 + 100 * (i % 4);
  s.num_clusters = 5 + i % 10;
  s.seed = seed + static_cast<uint64_t>(i);
  return s;
}

}  // namespace

void reproduce_exemplar_curves(ReproduceRun& run) {
  run.keep_progress("exemplar_curves");
  const int num_runs = run.num_runs(20);
  std::vector<double> mean(200, 0.0), low(200, INFINITY), high(200, 0.0);
  for (int i = 0; i < num_runs; ++i) {
    const MadeSetting s = varied(run.options().seed, i);
    std::vector<double> trace = run.piece("curve " + s.key(), [&] {
      run.say(s.key());
      return train_made(s, run, plain_options(CrfRegularizer::L1, 1e-3)).summary.trace;
    });
    if (run.is_stopped()) return;
    for (size_t t = 0; t < mean.size(); ++t) {
      const double share = trace.at(t) / trace.at(0);
      mean[t] += share / num_runs;
      low[t] = std::min(low[t], share), high[t] = std::max(high[t], share);
    }
  }
  ResultTable table{"exemplar_curves",
                    "Training objective as a share of the first one [Komodakis11, Fig. 2a]",
                    {"round", "mean", "lowest", "highest"},
                    {},
                    {fmt::format("{} runs, D = 100, rho = .5, N from 200 to 500, M from 5 to 14. "
                                 "Picture: exemplar_curves.png.",
                                 num_runs)}};
  for (const size_t round : {1, 2, 5, 10, 20, 50, 100, 200})
    table.rows.push_back({std::to_string(round), fmt::format("{:.3f}", mean[round - 1]),
                          fmt::format("{:.3f}", low[round - 1]),
                          fmt::format("{:.3f}", high[round - 1])});
  run.show(table);
  Panel panel{"objective against round: mean, lowest, highest", {}, {}};
  std::vector<double> rounds;
  for (size_t t = 0; t < mean.size(); ++t) rounds.push_back(static_cast<double>(t + 1));
  panel.lines = {
      {rounds, low, kPanelGrey}, {rounds, high, kPanelGrey}, {rounds, mean, {31, 119, 180}}};
  run.write("exemplar_curves.png", draw_panels({panel}, 1, 500));
}

void reproduce_exemplar_regularizers(ReproduceRun& run) {
  run.keep_progress("exemplar_regularizers");
  const struct {
    const char* name;
    CrfRegularizer kind;
    double strength;
  } kinds[] = {{"l1", CrfRegularizer::L1, 1e-3},
               {"l1, ten times", CrfRegularizer::L1, 1e-2},
               {"l2", CrfRegularizer::L2, 1e-3},
               {"l2, ten times", CrfRegularizer::L2, 1e-2},
               {"none", CrfRegularizer::L1, 0}};
  ResultTable table{"exemplar_regularizers",
                    "Regularisers on generated data, D = 100, N = 500, M = 10",
                    {"rho", "regulariser", "F", "noise share", "weights below 1 % of the largest"},
                    {},
                    {"No screening, no full metrics, 200 rounds; F on ten new sets per run, "
                     "clusters found. The paper calls l1 important for suppressing noise."}};
  for (const double rho : {0.5, 0.9})
    for (const auto& kind : kinds) {
      std::vector<double> f, noise, small;
      for (int i = 0; i < run.num_runs(3); ++i) {
        MadeSetting s;
        s.rho = rho;
        s.seed = run.options().seed + static_cast<uint64_t>(i);
        const auto figures = run.piece(fmt::format("{} {}", kind.name, s.key()), [&] {
          run.say(fmt::format("{}, {}", kind.name, s.key()));
          const ExemplarLearnResult learned =
              train_made(s, run, plain_options(kind.kind, kind.strength));
          std::vector<double> out(3, 0.0);
          const double largest =
              *std::max_element(learned.model.weights.begin(), learned.model.weights.end());
          for (int t = 0; t < s.num_columns; ++t) {
            if (t >= s.num_good()) out[1] += learned.shares[t];
            out[2] += learned.model.weights[t] < 0.01 * largest;
          }
          ExemplarOptions options;
          options.rel_gap = 1e-3;
          options.num_threads = run.options().num_threads;
          for (int k = 0; k < kMadeSets && !run.is_stopped(); ++k) {
            const MadeSet set = draw_made(s, static_cast<uint64_t>(1000 + k));
            const auto found =
                fit_learned_exemplar(learned.model, set.points, options, run.monitor());
            out[0] += compute_metrics(found.labels, set.labels).f / kMadeSets;
          }
          return out;
        });
        if (run.is_stopped()) return;
        f.push_back(figures[0]), noise.push_back(figures[1]), small.push_back(figures[2]);
      }
      table.rows.push_back({fmt::format("{}", rho), kind.name, fmt::format("{:.3f}", mean_of(f)),
                            percent_text(mean_of(noise)), fmt::format("{:.0f}", mean_of(small))});
    }
  run.show(table);
}

}  // namespace milieu::cli
