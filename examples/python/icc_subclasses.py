# SPDX-License-Identifier: Apache-2.0
"""A class of three groups, two of which touch but for another class between them.

ICC splits on the density of the class minus the density of the others, so the other class keeps the
groups apart; a classifier on the sub-classes then draws the right borders.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from milieu import ICC, ICCClassifier


def made(rng, count=150):
    groups = {0: [(-2.2, 0), (2.2, 0), (0, 5)], 1: [(0, 0)]}
    X, y = [], []
    for label, centers in groups.items():
        for center in centers:
            X.append(rng.normal(center, (0.8, 0.9), (count, 2)))
            y += [label] * count
    return np.concatenate(X).astype(np.float32), np.array(y)


def main(picture="icc_subclasses.png"):
    rng = np.random.default_rng(0)
    X, y = made(rng)
    icc = ICC().fit(X, y)
    results = {"icc": cross_val_score(ICCClassifier(), X, y, cv=5).mean(),
               "lda": cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=5).mean(),
               "subclasses": icc.n_subclasses_.tolist()}
    print(f"sub-classes per class: {results['subclasses']}")
    print(f"accuracy, 5 folds: classifier on sub-classes {results['icc']:.1%}, "
          f"linear discriminant analysis {results['lda']:.1%}")

    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    axes[0].imshow(icc.density_maps_[0].T, origin="lower", cmap="RdBu_r", aspect="auto",
                   vmin=-np.abs(icc.density_maps_[0]).max(), vmax=np.abs(icc.density_maps_[0]).max())
    axes[0].set_title("density of class 0 minus class 1")
    axes[1].scatter(*icc.transform(X).T, c=icc.subclass_labels_, s=6, cmap="tab10")
    axes[1].plot(*icc.maxima_.T, "kx")
    axes[1].set_title("sub-classes and their maxima")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
