// SPDX-License-Identifier: Apache-2.0
// The baselines on rows.
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/run/methods/entries.h"
#include "milieu/run/predictor_internal.h"
#include "milieu/run/rows_method.h"

namespace milieu {

using internal::predictor;

MethodEntry kmeans_method() {
  return rows_method<fit_kmeans>(
      {.name = "kmeans",
       .title = "k-means",
       .summary = "k-means with k-means++ seeding",
       .example =
           "  milieu kmeans digits.npy -k 10 --labels digits_labels.npy --out run\n"
           "    clusters the rows of digits.npy into 10, compares the clusters with the labels, "
           "and\n"
           "    leaves labels, model and report in run/. The same job again with another seed:\n"
           "  milieu kmeans --options run/options.json --seed 7 --out run7\n",
       .predictors = {predictor<&KMeansModel::centers>()}});
}

MethodEntry kmodes_method() {
  return rows_method<fit_kmodes>(
      {.name = "kmodes",
       .title = "k-modes",
       .summary = "k-modes for rows of zeros and ones, by Hamming distance",
       .needs = {MethodNeed::Binary},
       .example =
           "  milieu kmodes answers.csv -k 4 --out run\n"
           "    clusters rows of zeros and ones (yes-no answers, binary codes) by the number of\n"
           "    columns in which they differ; the mode of a cluster is the majority in each "
           "column.\n",
       .predictors = {predictor<&KModesModel::modes>()}});
}

MethodEntry gmm_method() {
  return rows_method<fit_gmm>(
      {.name = "gmm",
       .title = "Gaussian mixture",
       .summary = "Gaussian mixture by expectation-maximisation",
       .example =
           "  milieu gmm iris.csv --label-column species -k 3 --covariance full --out run\n"
           "    fits three Gaussians with full covariances to the other columns of iris.csv and\n"
           "    compares the clusters with the column `species`, which is not used in the fit.\n",
       .predictors = {predictor<&GmmModel::means>()}});
}

MethodEntry ncut_method() {
  return rows_method<fit_ncut>(
      {.name = "ncut",
       .title = "Normalized cut",
       .summary = "normalized cut (spectral clustering): connected clusters of any shape",
       .example = "  milieu ncut moons.npy -k 2 --out run\n"
                  "    joins each sample to its nearest neighbours and cuts that graph in two: "
                  "follows\n"
                  "    curved clusters that k-means would split.\n"});
}

MethodEntry meanshift_method() {
  return rows_method<fit_mean_shift>(
      {.name = "meanshift",
       .title = "Mean shift",
       .summary = "mean shift: climb to the peaks of the density",
       .example = "  milieu meanshift points.npy --bandwidth 0.5 --out run\n"
                  "    finds the peaks of the density at the scale 0.5, however many there are. "
                  "Without\n"
                  "    --bandwidth the scale is estimated from the data.\n",
       .predictors = {predictor<&MeanShiftModel::modes>()}});
}

MethodEntry agglomerative_method() {
  return rows_method<fit_agglomerative>(
      {.name = "agglomerative",
       .title = "Agglomerative clustering",
       .summary = "merge the nearest clusters: Ward, average, complete or single linkage",
       .example =
           "  milieu agglomerative points.npy -k 5 --linkage average --out run\n"
           "    merges the two nearest clusters until five are left. By distance instead:\n"
           "  milieu agglomerative points.npy --distance-threshold 2.5 --linkage complete\n"});
}

MethodEntry kmedoids_method() {
  return rows_method<fit_kmedoids>(
      {.name = "kmedoids",
       .title = "k-medoids",
       .summary = "k samples that represent the rest, found by swaps",
       .example =
           "  milieu kmedoids faces.npy -k 12 --distance l1 --out run\n"
           "    chooses 12 rows that minimise the sum of the distances of all rows to the nearest\n"
           "    of them. milieu exemplar -k 12 does the same and bounds how good it can get.\n",
       .predictors = {predictor<&KMedoidsModel::medoids>()}});
}

}  // namespace milieu
