# SPDX-License-Identifier: Apache-2.0
"""Two features matter, eight are noise: the distance is learned from example clusterings.

New sets, with other groups, are then clustered under the learned distance.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from milieu import DistanceLearner, ExemplarClustering, KMeans
from milieu.metrics import matched_accuracy


def made(rng, groups=4, count=20, noise=8):
    centers = rng.uniform(-10, 10, (groups, 2))
    useful = np.concatenate([rng.normal(center, 1, (count, 2)) for center in centers])
    X = np.hstack([useful, rng.normal(0, 6, (len(useful), noise))])
    return X.astype(np.float32), np.repeat(np.arange(groups), count)


def main(picture="learn_distance.png"):
    rng = np.random.default_rng(1)
    examples = [made(rng) for _ in range(6)]
    learner = DistanceLearner().fit(examples)
    results = {"learned": [], "k-means": []}
    for _ in range(5):
        X, y = made(rng)
        learned = ExemplarClustering(metric=learner).fit(X)
        results["learned"].append(matched_accuracy(y, learned.labels_))
        results["k-means"].append(matched_accuracy(y, KMeans(4).fit(X).labels_))
    means = {name: float(np.mean(values)) for name, values in results.items()}
    print(f"five new sets: exemplars under the learned distance {means['learned']:.1%} "
          f"(number of clusters found), k-means told the number {means['k-means']:.1%}")

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
    axes[0].bar(range(len(learner.weights_)), learner.shares_)
    axes[0].set_title("share of every feature in the distance")
    axes[0].set_xlabel("feature (0 and 1 matter)")
    axes[1].scatter(X[:, 0], X[:, 1], c=learned.labels_, cmap="tab10", s=12)
    axes[1].plot(*X[learned.exemplar_indices_, :2].T, "k*", ms=12)
    axes[1].set_title("a new set and its exemplars")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return means


if __name__ == "__main__":
    main(*sys.argv[1:])
