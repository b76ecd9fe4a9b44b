# SPDX-License-Identifier: Apache-2.0
"""The baselines on rows; _estimators.py adds their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import DensityMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from ._base import DRAWS, PredictsRows
from ._rows import ClusterEstimator, RowsEstimator
from ._types import Array


class KMeansBase(PredictsRows, TransformerMixin, ClusterEstimator):  # type: ignore[misc]
    """k-means with k-means++ seeding, by Lloyd's algorithm without the distances that cannot matter.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres, read-only; of norm 1 for the metric cosine.
    inertia_ : float
        Weighted sum of squared distances of the samples to their centres; for the metric cosine the
        samples have norm 1, so that each is 2 (1 - cosine).

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
    I. Dhillon and D. Modha, "Concept decompositions for large sparse text data using clustering", 2001.
    """

    _method = "kmeans"
    metric: str

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.cluster_centers_ = arrays["centers"]
        self.inertia_ = result["summary"]["objective"]

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return ``kmeans0``, ``kmeans1``, ...: one name per centre.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        names = [f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)]
        return np.array(names, dtype=object)

    def transform(self, X: Any) -> Array:
        """Return the distance of every sample, scaled to norm 1 for the metric cosine, to every centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
        """
        rows = self._rows(X)
        if self.metric == "cosine":
            rows = normalize(rows)
        distances: Array = euclidean_distances(rows, self.cluster_centers_)
        return distances

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances of X to its centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        score : float
            Larger is better.
        """
        return -float(np.sum(self.transform(X).min(axis=1).astype(np.float64) ** 2))

    def _more_tags(self) -> dict[str, Any]:
        return {"_xfail_checks": DRAWS}


class KModesBase(PredictsRows, ClusterEstimator):
    """k-modes of rows of zeros and ones, by Hamming distance.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Modes, read-only.

    References
    ----------
    Z. Huang, "Extensions to the k-means algorithm for clustering large data sets with categorical
    values", 1998.
    """

    _method = "kmodes"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.cluster_centers_ = arrays["modes"]

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["categorical"], "_xfail_checks": DRAWS}


class GaussianMixtureBase(PredictsRows, DensityMixin, RowsEstimator):  # type: ignore[misc]
    """Gaussian mixture by expectation-maximisation.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components; they sum to 1.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        ``(n_components,)`` for spherical, ``(n_components, n_features)`` for diagonal,
        ``(n_components, n_features, n_features)`` for full, ``(n_features, n_features)`` for tied.
    converged_ : bool
        Whether the log-likelihood stopped rising before ``max_iter``.
    lower_bound_ : float
        Mean log-likelihood of a sample.

    References
    ----------
    A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM
    algorithm", 1977.
    """

    _method = "gmm"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.weights_ = arrays["weights"]
        self.means_ = arrays["means"]
        self.covariances_ = self._shaped(arrays["covariances"])
        self.converged_ = result["summary"]["termination"] == "Converged"
        self.lower_bound_ = result["summary"]["mean_log_likelihood"]

    covariance_type: str
    n_components: int

    def _shaped(self, covariances: Array) -> Array:
        d = self.means_.shape[1]
        if self.covariance_type == "spherical":
            return covariances[:, 0]
        if self.covariance_type == "full":
            return covariances.reshape(-1, d, d)
        if self.covariance_type == "tied":
            return covariances.reshape(d, d)
        return covariances

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every component given each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        X = self._rows(X)
        return self._array(
            "gmm_probabilities", self.model_, X, self._threads())

    def score_samples(self, X: Any) -> Array:
        """Return the log density of every sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        densities : ndarray of shape (n_samples,)
        """
        X = self._rows(X)
        return self._array(
            "gmm_log_densities", self.model_, X, self._threads())

    def score(self, X: Any, y: Any = None) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the mean log density of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        score : float
            Larger is better.
        """
        return float(np.mean(self.score_samples(X)))

    def _more_tags(self) -> dict[str, Any]:
        # One component, scikit-learn's own default, is fitted without drawing a sample.
        return {"_xfail_checks": DRAWS if self.n_components > 1 else {}}


class NormalizedCutBase(ClusterEstimator):
    """Normalized cut (spectral clustering) of the graph of nearest neighbours.

    It labels the samples it was fitted to; new samples have no place in their graph.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_columns)
        Unit rows of the leading eigenvectors.

    References
    ----------
    J. Shi and J. Malik, "Normalized cuts and image segmentation", 2000; L. Zelnik-Manor and
    P. Perona, "Self-tuning spectral clustering", 2004.
    """

    _method = "ncut"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.embedding_ = arrays["embedding"]


class MeanShiftBase(PredictsRows, ClusterEstimator):
    """Mean shift: samples climb to the peaks of the density.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Peaks, most supported first.
    bandwidth_ : float
        The radius that was given or estimated.

    References
    ----------
    D. Comaniciu and P. Meer, "Mean shift: a robust approach toward feature space analysis", 2002.
    """

    _method = "meanshift"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.cluster_centers_ = arrays["modes"]
        self.bandwidth_ = arrays["bandwidth"]


class AgglomerativeBase(ClusterEstimator):
    """Agglomerative clustering: merges the nearest clusters by Ward, average, complete or single
    linkage.

    Attributes
    ----------
    children_ : ndarray of shape (n_samples - 1, 2)
        The two clusters that each merge joins; numbers below n_samples are samples.
    distances_ : ndarray of shape (n_samples - 1,)
        Their distances, ascending.
    n_clusters_ : int
        Number of clusters that were found.
    n_leaves_ : int
        Number of samples.

    References
    ----------
    D. Muellner, "Modern hierarchical, agglomerative clustering algorithms", 2011.
    """

    _method = "agglomerative"
    _hidden = ("random_state",)

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        tree = arrays["tree"]
        self.children_ = tree[:, :2].astype(np.int64)
        self.distances_ = tree[:, 2]
        self.n_clusters_ = result["summary"]["clusters"]
        self.n_leaves_ = len(self.labels_)
