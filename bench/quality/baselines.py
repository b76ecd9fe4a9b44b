# SPDX-License-Identifier: Apache-2.0
"""The baselines of QUALITY.md, from scikit-learn: labels of the rows of an array, k clusters."""

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
    """Share of samples outside the cluster matched to their class, in %."""
    table = np.zeros((max(labels.max(), classes.max()) + 1,) * 2)
    np.add.at(table, (labels, classes), 1)
    rows, columns = linear_sum_assignment(-table)
    return 100 * (1 - table[rows, columns].sum() / len(classes))


def balanced_error_of(labels, classes):
    """Mean error of the classes in %, under the match that makes it smallest."""
    table = np.zeros((labels.max() + 1, classes.max() + 1))
    np.add.at(table, (labels, classes), 1)
    shares = table / table.sum(0)
    rows, columns = linear_sum_assignment(-shares)
    return 100 * (1 - shares[rows, columns].sum() / shares.shape[1])


def kmeans(points, k, seed):
    return KMeans(k, n_init=10, random_state=seed, algorithm="lloyd").fit(points).labels_


def standardised(points):
    deviation = points.std(0)
    return (points - points.mean(0)) / np.where(deviation > 0, deviation, 1)


def whitened(points, count=20):
    return PCA(min(count, *points.shape), whiten=True, random_state=0).fit_transform(points)


def mixture(points, k, seed):
    reduced = PCA(min(10, *points.shape), random_state=seed).fit_transform(points)
    return GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=seed).fit_predict(
        reduced / reduced.std())


def ward(points, k):
    return AgglomerativeClustering(k).fit_predict(points)


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


def baselines_on(points, k, seed):
    """Name to function, so that only what is asked for is computed."""
    points = points.astype(np.float64)
    return {
        "k-means": lambda: kmeans(points, k, seed),
        "standardised": lambda: kmeans(standardised(points), k, seed),
        "whitened": lambda: kmeans(whitened(points), k, seed),
        "mixture": lambda: mixture(points, k, seed),
        "spectral 10": lambda: spectral(graph(points, 10, False), k, seed),
        "spectral 15": lambda: spectral(graph(points, 15, False), k, seed),
        "self-tuned": lambda: spectral(graph(points, NEIGHBOURS, True), k, seed),
        "Ward": lambda: ward(points, k),
    }
