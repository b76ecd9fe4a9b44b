#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Further rivals of cac on the parcels of `milieu demo`, with scikit-learn.

    milieu demo --seed N --out DIR
    bench/quality/demo_rivals.py DIR...

Accuracy in %, after the best one-to-one match of clusters and classes; one column per DIR. Of pieces:
mixtures of normals, and k-means of 8 words within each of the two sorts of parcels that k-means of
word counts finds. Of parcels: k-means and spectral clustering of means and covariances, and spectral
clustering of the maximum mean discrepancy between parcels (Gaussian kernels of width 0.5 and 1)."""

import pathlib
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

ARTICLES, SHOPS, SEED = 16, 2, 0


def accuracy(labels, truth):
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    return 100 * table[linear_sum_assignment(-table)].sum() / len(truth)


def read_classes(path):
    return np.unique(path.read_text().split()[1:], return_inverse=True)[1]


def kmeans(rows, count):
    return KMeans(count, n_init=10, random_state=SEED).fit_predict(rows)


def spectral(affinity):
    return SpectralClustering(SHOPS, affinity="precomputed", random_state=SEED).fit_predict(affinity)


def pieces_of(measures, parcel, article, counts):
    sort = kmeans(counts, SHOPS)[parcel]
    words = np.zeros(len(parcel), int)
    for s in range(SHOPS):
        words[sort == s] = s * ARTICLES // SHOPS + kmeans(measures[sort == s], ARTICLES // SHOPS)
    yield "k-means within two sorts of parcels", accuracy(words, article)
    for kind in ("spherical", "tied"):
        mixture = GaussianMixture(ARTICLES, covariance_type=kind, n_init=10, random_state=SEED)
        yield f"mixture of normals, {kind}", accuracy(mixture.fit_predict(measures), article)


def parcels_of(measures, parcel, shop):
    members = [measures[parcel == p] for p in range(parcel.max() + 1)]
    moments = np.array([np.r_[m.mean(0), np.cov(m.T)[np.triu_indices(2)]] for m in members])
    distances = cdist(moments, moments, "sqeuclidean")
    yield "k-means of means and covariances", accuracy(kmeans(moments, SHOPS), shop)
    yield "spectral, the same", accuracy(spectral(np.exp(-distances / np.median(distances))), shop)
    share = np.eye(len(members))[parcel] / np.bincount(parcel)
    for width in (0.5, 1):
        kernel = share.T @ np.exp(-cdist(measures, measures, "sqeuclidean") / (2 * width**2)) @ share
        gap = np.maximum(0, np.diag(kernel)[:, None] + np.diag(kernel) - 2 * kernel)
        yield f"spectral, mean discrepancy {width}", accuracy(spectral(np.exp(-gap / np.median(gap))), shop)


def figures_of(folder):
    measures = np.load(folder / "measures.npy").astype(float)
    parcel = np.load(folder / "parcel_numbers.npy")[:, 0].astype(int)
    shop = read_classes(folder / "parcels_shop.csv")[np.unique(parcel, return_index=True)[1]]
    counts = np.load(folder / f"parcel_words_{ARTICLES}.npy")
    figures = dict(pieces_of(measures, parcel, read_classes(folder / "parcels_article.csv"), counts))
    figures.update(parcels_of(measures, parcel, shop))
    return figures


def main():
    columns = [figures_of(pathlib.Path(folder)) for folder in sys.argv[1:]]
    for name in columns[0]:
        print(f"{name:38}", *(f"{figures[name]:6.1f}" for figures in columns))


if __name__ == "__main__":
    main()
