# SPDX-License-Identifier: Apache-2.0
"""Exemplars, k-medoids and learned distances; _estimators.py adds their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ._base import MilieuEstimator, PredictsRows
from ._compat import check_matrix
from ._describe import Described
from ._icc import numbered
from ._progress import reporter
from ._rows import ClusterEstimator
from ._types import Array


class _Exemplars(PredictsRows, ClusterEstimator):
    """What exemplars and k-medoids share."""

    metric: Any

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        rows: Array = super()._rows(X, reset=reset)
        if reset and isinstance(self.metric, str) and self.metric == "precomputed":
            if rows.shape[0] != rows.shape[1]:
                raise ValueError(f"X has the shape {rows.shape}, must be square: metric is "
                                 "precomputed, entry (p, q) is the cost of serving p by q")
        return rows

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> Described:
        return Described(self.labels_, np.asarray(X, dtype=np.float32),
                         exemplars=self.model_.arrays()["rows"])

    def _more_tags(self) -> dict[str, Any]:
        return {"pairwise": isinstance(self.metric, str) and self.metric == "precomputed"}


class ExemplarClusteringBase(_Exemplars):
    """Exemplar clustering: chooses the samples that represent the rest, and their number, so that
    the distances of all samples to their exemplars plus a penalty per exemplar is minimal; bounds
    how far the result can be from the minimum.

    ``metric`` may be a fitted :class:`DistanceLearner`, which brings its penalty and its choice
    between exemplars and the normalized cut (``grouping``).

    Attributes
    ----------
    exemplar_indices_ : ndarray of shape (n_clusters,)
        Rows of the exemplars.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Their features; empty when costs were given.
    energy_ : float
        Sum of distances and penalties; with ``n_clusters``, of distances alone.
    lower_bound_ : float
        No choice of exemplars has less energy.
    gap_ : float
        ``(energy_ - lower_bound_) / abs(lower_bound_)``.

    References
    ----------
    N. Komodakis, N. Paragios and G. Tziritas, "Clustering via LP-based stabilities", 2008;
    N. Komodakis, "Efficient training for pairwise or higher order CRFs via dual decomposition",
    2011.
    """

    _method = "exemplar"

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        if not isinstance(self.metric, DistanceLearnerBase):
            super()._fit(X, y, given)
            return
        learner = self.metric
        check_is_fitted(learner)
        if any(value is not None for value in given.values()):
            raise ValueError("penalties and lists cannot be combined with a learned metric")
        X = self._rows(X, reset=True)
        options = {name: value for name, value in self._options().items() if name != "distance"}
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            self._take(self._call("exemplar_fit_learned", learner.model_, X, options, control))

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.exemplar_indices_ = arrays["rows"]
        self.cluster_centers_ = arrays["exemplars"]
        self.energy_ = result["energy"]
        self.lower_bound_ = result["lower_bound"]
        self.gap_ = result["gap"]


class KMedoidsBase(_Exemplars):
    """k-medoids: the k samples with the smallest sum of distances of all samples to the nearest.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows of the medoids.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Their features; empty when costs were given.
    inertia_ : float
        Sum of the distances to the medoids.

    References
    ----------
    E. Schubert and P. Rousseeuw, "Fast and eager k-medoids clustering", 2021.
    """

    _method = "kmedoids"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.medoid_indices_ = arrays["rows"]
        self.cluster_centers_ = arrays["medoids"]
        self.inertia_ = result["summary"]["objective"]


class DistanceLearnerBase(TransformerMixin, MilieuEstimator):  # type: ignore[misc]
    """Learns a distance from example clusterings: non-negative weights of the features under which
    exemplar clustering gives the examples.

    ``X`` is one example with the clusters ``y``, or a list of pairs ``(X, y)``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of the squared differences.
    shares_ : ndarray of shape (n_features,)
        Share of every feature in the learned distance; the full metric has the rest.
    components_ : ndarray of shape (n_features, rank)
        The full metric: the squared Euclidean distance of ``X @ components_`` is added. Rank 0
        without one.
    penalty_ : float
        Cost of an exemplar under this distance, in sets as large as those of the training.
    grouping_ : str
        How it forms clusters, by cross-validation: "exemplars" or "cut".

    References
    ----------
    N. Komodakis, "Learning to cluster using high order graphical models with latent variables",
    2011.
    """

    _method = "exemplar_learn"

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        sets = self._sets(X, y)
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            names = [str(name) for name in getattr(self, "feature_names_in_", [])]
            self._take(self._call("exemplar_learn_fit", sets, self._options(), names, control))

    def _sets(self, X: Any, y: Any) -> list[tuple[Array, Array]]:
        if y is not None:
            rows = self._rows(X, reset=True)
            check_consistent_length(rows, y)
            return [(rows, numbered(y)[1])]
        is_pairs = isinstance(X, (list, tuple)) and len(X) > 0 and all(
            isinstance(pair, tuple) and len(pair) == 2 for pair in X)
        if not is_pairs:
            raise ValueError("DistanceLearner requires y to be passed, but the target y is None: "
                             "give the clusters as y, or a list of pairs (X, y)")
        sets = []
        pairs: Any = X
        for i, (rows, labels) in enumerate(pairs):
            rows = self._rows(rows, reset=True) if i == 0 else check_matrix(rows, f"X of set {i}")
            check_consistent_length(rows, labels)
            sets.append((rows, numbered(labels)[1]))
        return sets

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.weights_ = arrays["weights"]
        self.penalty_ = arrays["penalty"]
        self.shares_ = result.get("shares")  # not kept in run folders
        metric = arrays.get("metric")
        has_metric = metric is not None and np.size(metric) > 0
        self.components_ = (np.asarray(metric) if has_metric
                            else np.zeros((len(self.weights_), 0), dtype=np.float32))
        self.grouping_ = arrays.get("grouping") or "exemplars"
        self._n_features_out = len(self.weights_) + self.components_.shape[1]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of transform: the features, then the full metric's.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        count = len(self.weights_)
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(count)]))
        names += [f"metric{i}" for i in range(self._n_features_out - count)]
        return np.array(names, dtype=object)

    def transform(self, X: Any) -> Array:
        """Scale the features so that squared Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scaled : ndarray of shape (n_samples, n_features + rank)
            The features times the roots of their weights, then the columns of the full metric.
        """
        X = self._rows(X)
        return self._array(
            "exemplar_learn_transform", self.model_, X)

    def pairwise(self, X: Any, Y: Any = None) -> Array:
        """Return the learned distances between rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        Y : array-like of shape (n_others, n_features), default=None
            Other samples; None means X itself.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_others)
            Entry (i, j) is the distance of row i of X and row j of Y.
        """
        X = self._rows(X)
        Y = X if Y is None else self._rows(Y)
        return self._array(
            "exemplar_learn_costs", self.model_, X, Y, self._threads())

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True}
