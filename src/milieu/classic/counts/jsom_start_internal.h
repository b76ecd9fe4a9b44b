// SPDX-License-Identifier: Apache-2.0
// Where JSOM begins.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/classic/counts/jsom.h"

namespace milieu::internal {

// What the rounds of JSOM change.
struct JsomState {
  JsomModel model;
  Matrix<double> gamma, zeta;  // n x K, n x J
};

// V: the group of each word, in [0, K). Words alone while there are topics enough, else k-means of
// the square roots of their shares in the rows.
std::vector<int> group_words(FloatView counts, const JsomOptions& options, uint64_t seed,
                             Monitor& monitor);

// Topics that have a group of words each, mixed with a little of all words; clusters by k-means of
// the square roots of the frequencies; the priors of the clusters are their shares of the topics.
// Topics of random words, as LDA has them, end at a lower bound: with as many topics as words each
// row picks its own few topics, and rows of one kind have nothing in common.
JsomState start_jsom(FloatView counts, const JsomOptions& options, Random& random,
                     Monitor& monitor);

}  // namespace milieu::internal
