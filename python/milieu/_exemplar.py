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
        if given.get("lists") is not None:
            raise ValueError("lists cannot be combined with a learned metric")
        X = self._rows(X, reset=True)
        options = {name: value for name, value in self._options().items() if name != "distance"}
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            self._take(self._call("exemplar_fit_learned", learner.model_, X, options,
                                  self._inputs(given), control))

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

    ``X`` is one example with the clusters ``y``, or a list of pairs ``(X, y)``. Without ``candidates``
    the squared difference of every column is one.

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
    exemplar_weights_ : ndarray of shape (n_exemplar_columns + n_exemplar_features,)
        What each of these features adds to the cost of an exemplar, per unit above its mean.
    grouping_ : str
        How it forms clusters, by cross-validation: "exemplars" or "cut".

    References
    ----------
    N. Komodakis, "Learning to cluster using high order graphical models with latent variables",
    2011.
    """

    _method = "exemplar_learn"
    _extra_inputs = {
        "candidates": ("list of (first, stop, metric) or (first, stop, metric, gamma)",
                       "distances of ranges of columns, in place of squared differences; gamma is "
                       "that of 'rbf'"),
        "exemplar_columns": ("list of int",
                             "columns that are no candidates but say what an exemplar costs"),
        "exemplar_features": ("array-like of shape (n_samples, n_exemplar_features), or list of such",
                              "what an exemplar costs depends on these, too; a list for a list of sets"),
        "regularizer_function": ("callable", "in place of regularizer: takes the weights, gives its "
                                 "value and a subgradient"),
        "projection_function": ("callable", "in place of constraint: takes the weights, gives the "
                                "nearest allowed ones"),
    }

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        sets = self._with_features(self._sets(X, y), given["exemplar_features"], y is not None)
        more = {name: given[name] for name in ("regularizer_function", "projection_function")}
        more["exemplar_columns"] = [int(column) for column in given["exemplar_columns"] or []]
        more["candidates"] = [(int(first), int(stop), str(metric), float(gamma[0]) if gamma else 0.0)
                              for first, stop, metric, *gamma in given["candidates"] or []]
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            names = [] if more["candidates"] else [
                str(name) for name in getattr(self, "feature_names_in_", [])]
            self._take(self._call("exemplar_learn_fit", sets, self._options(), names, more, control))

    @staticmethod
    def _with_features(sets: list[tuple[Array, Array]], features: Any,
                       is_one: bool) -> list[tuple[Array, Array, Any]]:
        if features is None:
            return [(rows, labels, None) for rows, labels in sets]
        given = [features] if is_one else list(features)
        if len(given) != len(sets):
            raise ValueError(f"exemplar_features has {len(given)} entries for {len(sets)} sets: "
                             "give one per set")
        return [(rows, labels, check_matrix(each, f"exemplar_features of set {i}"))
                for i, ((rows, labels), each) in enumerate(zip(sets, given))]

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
        own = arrays.get("exemplar_weights")
        self.exemplar_weights_ = np.zeros(0) if own is None else np.asarray(own)
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
