// SPDX-License-Identifier: Apache-2.0
// What callers bring to the training of a CRF: latent steps, regularisers, projections.
#include <gtest/gtest.h>

#include "milieu/crf/crf_cases_internal.h"
#include "milieu/crf/graph_example.h"
#include "milieu/crf/train.h"

namespace milieu {
namespace {

using internal::Chain;
using internal::made_chain;

// A step that only tries one latent variable, drawn at random, and keeps what does not raise the
// energy: training ends where the default's does, which improves all of them.
TEST(CrfTrain, AnyDecreaseWillDoAsLatentStep_issue30) {
  std::vector<double> objectives;
  for (const bool is_lazy : {false, true}) {
    const Chain chain = made_chain(16, true, 0.8, 4);
    Random random(7);
    const CrfLatentStep lazy = [&](std::span<const double> w, std::span<int> labels) {
      const int v = 16 + static_cast<int>(random.uniform_index(chain.graph.num_variables() - 16));
      std::vector<int> moved(labels.begin(), labels.end());
      moved[v] = static_cast<int>(random.uniform_index(chain.graph.num_labels(v)));
      if (chain.graph.energy(moved, w) < chain.graph.energy(labels, w)) labels[v] = moved[v];
    };
    GraphExample example(chain.graph, chain.observed, 0, is_lazy ? lazy : CrfLatentStep());
    CrfTrainInput input;
    input.examples = {&example};
    input.start = {1, 1, 1, 1};
    CrfTrainOptions options;
    options.max_iterations = 400;
    objectives.push_back(train_latent_crf(input, options).rounds.back().objective);
  }
  EXPECT_NEAR(objectives[1], objectives[0], 0.02 * objectives[0]);
}

// The library's l2 and simplex again, written by the caller: the same bits.
TEST(CrfTrain, PriceAndProjectionMayBeTheCallers_issue30) {
  const auto train = [](bool is_own) {
    const Chain chain = made_chain(24, true, 0.7, 1);
    GraphExample example(chain.graph, chain.observed);
    CrfTrainInput input;
    input.examples = {&example};
    input.start = {1, 1, 1, 1};
    CrfTrainOptions options;
    options.max_iterations = 60;
    options.regularization = 0.1;
    options.regularizer = is_own ? CrfRegularizer::GroupLasso : CrfRegularizer::L2;
    options.constraint = is_own ? CrfConstraint::Free : CrfConstraint::Simplex;
    if (is_own) {
      input.project = project_simplex;
      input.price = [](std::span<const double> w, std::span<double> slope) {
        double squares = 0;
        for (size_t t = 0; t < w.size(); ++t) {
          squares += w[t] * w[t] / 2;
          slope[t] = w[t];
        }
        return squares;
      };
    }
    return train_latent_crf(input, options);
  };
  const CrfTrainResult own = train(true), given = train(false);
  EXPECT_EQ(own.weights, given.weights);
  EXPECT_EQ(own.rounds.back().price, given.rounds.back().price);
}

}  // namespace
}  // namespace milieu
