#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the problems of `milieu reproduce cac held-out`.

    milieu reproduce cac held-out --out DIR
    bench/quality/cac_rivals.py DIR/cac_problems [--seeds 1]

Every folder has view0.npy, view1.npy, ... and classes.npy. Views are scaled to unit total variance and
put side by side, except where a column says otherwise. Errors in %, after the best one-to-one match of
clusters and classes. `averaged`: spectral clustering of the mean of the views' self-tuned affinities, each of 20
neighbours."""

import argparse
import pathlib
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import eigsh
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

NEIGHBOURS = 20
SCALE_NEIGHBOUR = 7


def error_of(labels, classes):
    table = np.zeros((max(labels.max(), classes.max()) + 1,) * 2)
    np.add.at(table, (labels, classes), 1)
    rows, columns = linear_sum_assignment(-table)
    return 100 * (1 - table[rows, columns].sum() / len(classes))


def scaled(view):
    view = view.astype(np.float64) - view.mean(0)
    return view / max(np.sqrt((view**2).sum() / len(view)), 1e-300)


def kmeans(points, k, seed):
    return KMeans(k, n_init=10, random_state=seed, algorithm="lloyd").fit(points).labels_


def neighbours(points, count):
    count = min(count, len(points) - 1)
    distances, found = NearestNeighbors(n_neighbors=count + 1).fit(points).kneighbors(points)
    return distances[:, 1:], found[:, 1:]


def graph(points, count, self_tuned):
    distances, found = neighbours(points, count)
    weights = np.ones_like(distances)
    if self_tuned:
        scale = np.maximum(distances[:, min(SCALE_NEIGHBOUR, distances.shape[1]) - 1], 1e-12)
        weights = np.exp(-distances**2 / (scale[:, None] * scale[found]))
    rows = np.repeat(np.arange(len(points)), found.shape[1])
    joined = sparse.csr_matrix((weights.ravel(), (rows, found.ravel())), (len(points),) * 2)
    return joined.maximum(joined.T)


def laplacian(joined):
    degree = np.maximum(np.asarray(joined.sum(1)).ravel(), 1e-12)
    root = sparse.diags(degree**-0.5)
    return root @ joined @ root


def leading(matrix, k):
    try:
        return eigsh(matrix, k=k, which="LA", v0=np.ones(matrix.shape[0]), maxiter=500)[1]
    except sparse.linalg.ArpackError:
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        return np.linalg.eigh(dense)[1][:, -k:]


def spectral(joined, k, seed):
    rows = leading(laplacian(joined), k)
    return kmeans(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), k, seed)


def mixture(points, k, seed):
    reduced = PCA(min(10, *points.shape), random_state=seed).fit_transform(points)
    return GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=seed).fit_predict(
        reduced / reduced.std())


def whitened(points):
    return PCA(min(20, *points.shape), whiten=True, random_state=0).fit_transform(points)


def methods_on(views, k, seed):
    """Name to function, so that only what is asked for is computed."""
    raw = np.hstack(views).astype(np.float64)
    points = np.hstack([scaled(view) for view in views])
    deviation = np.where(raw.std(0) > 0, raw.std(0), 1)
    return {
        "averaged": lambda: spectral(sum(graph(scaled(view), NEIGHBOURS, True) for view in views), k, seed),
        "Ward": lambda: AgglomerativeClustering(k).fit_predict(points),
        "whitened": lambda: kmeans(whitened(points), k, seed),
        "mixture": lambda: mixture(points, k, seed),
        "k-means": lambda: kmeans(points, k, seed),
        "k-means raw": lambda: kmeans(raw, k, seed),
        "standardised": lambda: kmeans((raw - raw.mean(0)) / deviation, k, seed),
        "spectral 10": lambda: spectral(graph(points, 10, False), k, seed),
        "spectral 15": lambda: spectral(graph(points, 15, False), k, seed),
        "self-tuned": lambda: spectral(graph(points, NEIGHBOURS, True), k, seed),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help="methods, separated by commas; default: all")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows, names = [], [name for name in arguments.only.split(",") if name]
    for folder in sorted(path for path in arguments.problems.iterdir() if path.is_dir()):
        classes = np.load(folder / "classes.npy")
        views = [np.load(path) for path in sorted(folder.glob("view*.npy"))]
        errors = []
        for seed in range(arguments.seeds):
            methods = methods_on(views, int(classes.max()) + 1, seed)
            if not rows and seed == 0:
                names = names or list(methods)
                print("problem," + ",".join(names), flush=True)
            errors.append([error_of(methods[name](), classes) for name in names])
        rows.append(np.mean(errors, 0))
        print(folder.name.replace(",", "") + "," + ",".join(f"{error:.1f}" for error in rows[-1]), flush=True)
    print("mean," + ",".join(f"{error:.1f}" for error in np.mean(rows, 0)))


if __name__ == "__main__":
    main()
