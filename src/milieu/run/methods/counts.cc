// SPDX-License-Identifier: Apache-2.0
// The baselines on counts of words.
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/predictor_internal.h"
#include "milieu/run/rows_method.h"

namespace milieu {

using internal::predictor;

MethodEntry topics_method() {
  return rows_method<fit_topics>(
      {.name = "topics",
       .title = "Latent Dirichlet allocation",
       .summary = "latent Dirichlet allocation of counts",
       .needs = {MethodNeed::Images},
       .example =
           "  milieu topics counts.npy -k 15 --out run\n"
           "    finds 15 topics in counts of words (rows: images or texts, columns: words) by\n"
           "    latent Dirichlet allocation, and gives each row its strongest topic.\n",
       .predictors = {predictor<&TopicsModel::words>()}});
}

MethodEntry bags_method() {
  return rows_method<fit_bags>(
      {.name = "bags",
       .title = "Bags of words",
       .summary = "k-means of bags of words: log counts or tf-idf",
       .example =
           "  milieu bags counts.npy -k 15 --out run\n"
           "    clusters counts of words (rows: images or texts, columns: words) by k-means of\n"
           "    their centred logarithms; --weighting tf-idf weights words by how rare they are.\n",
       .predictors = {predictor<&BagsModel::centers>()}});
}

MethodEntry multinomials_method() {
  return rows_method<fit_multinomials>(
      {.name = "multinomials",
       .title = "Mixture of multinomials",
       .summary = "mixture of multinomials of counts",
       .example =
           "  milieu multinomials counts.npy -k 15 --out run\n"
           "    clusters counts of words (rows: images or texts, columns: words): each cluster\n"
           "    has its own word frequencies.\n",
       .predictors = {predictor<&MultinomialsModel::words>()}});
}

MethodEntry jsom_method() {
  return rows_method<fit_jsom>(
      {.name = "jsom",
       .title = "Joint scene object model",
       .summary = "joint scene object model: clusters with priors over topics",
       .example = "  milieu jsom counts.npy -k 15 --topics 100 --out run\n"
                  "    clusters counts of words (rows: images or texts, columns: words): rows are\n"
                  "    mixtures of 100 topics, and each of 15 clusters has its own prior over the "
                  "topics.\n",
       .predictors = {predictor<&JsomModel::words>()}});
}

}  // namespace milieu
