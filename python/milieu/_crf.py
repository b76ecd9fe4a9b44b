# SPDX-License-Identifier: Apache-2.0
"""LatentCRF; _estimators.py adds its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import MilieuEstimator
from ._progress import reporter
from ._types import Array
from .crf import Graph


class LatentCRFBase(MilieuEstimator):
    """Max-margin training of latent high-order CRFs by dual decomposition: weights under which every
    example's labels, with the best completion of the latent ones, have an energy below that of all
    others by a margin.

    The examples are pairs of a :class:`milieu.crf.Graph` and its labels; factors come from the library
    or are written in Python.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        Mean weights of the second half of the rounds.
    last_weights_ : ndarray of shape (n_weights,)
        Weights after the last round.
    lower_bound_ : float
        Mean sum of the slaves' minima in the last round.
    completed_labels_ : list of ndarray
        The labels of every example with its latent variables completed.
    objective_ : float
        Bound of the loss in the last round.

    References
    ----------
    N. Komodakis, "Learning to cluster using high order graphical models with latent variables",
    2011.
    """

    _method = "crf"
    _extra_inputs = {
        "initial_weights": ("array-like of shape (n_weights,)", "weights to start from; ones if None"),
        "margin": ("float", "price of an observed variable that has another label; 1 if None"),
        "regularizer_function": ("callable", "in place of regularizer: takes the weights, gives its "
                                 "value and a subgradient"),
        "projection_function": ("callable", "in place of constraint: takes the weights, gives the "
                                "nearest allowed ones"),
    }

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        examples = self._examples(X)
        start = given["initial_weights"]
        if start is None:
            start = np.ones(examples[0][0].n_weights)
        margin = 1.0 if given["margin"] is None else float(given["margin"])
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            result = self._call("crf_train", [(graph._graph, labels) for graph, labels in examples],
                                self._options(), np.asarray(start, dtype=np.float64), margin,
                                {name: given[name] for name in
                                 ("regularizer_function", "projection_function")}, control)
        self.weights_: Array = result["weights"]
        self.last_weights_ = result["last_weights"]
        self.lower_bound_ = result["lower_bound"]
        self.completed_labels_ = result["labels"]
        self.n_iter_ = len(result["trace"])
        self.objective_ = result["trace"][-1] if result["trace"] else 0.0
        self.termination_ = result["termination"]

    @staticmethod
    def _examples(X: Any) -> list[tuple[Graph, Array]]:
        is_examples = isinstance(X, (list, tuple)) and len(X) > 0 and all(
            isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Graph) for pair in X)
        if not is_examples:
            raise ValueError("X must be a list of pairs (milieu.crf.Graph, labels)")
        return [(graph, np.asarray(labels)) for graph, labels in X]

    def predict(self, X: Any) -> list[Array]:
        """Return labels of minimal energy for every graph.

        Parameters
        ----------
        X : list of Graph
            Graphs with the weights of those that were fitted.

        Returns
        -------
        labels : list of ndarray
        """
        check_is_fitted(self)
        return [graph.minimise(self.weights_).labels for graph in X]

    def save(self, *arguments: Any, **keywords: Any) -> None:
        """There is no run folder for graphs that a program made: pickle the estimator."""
        raise NotImplementedError("LatentCRF has no run folder: pickle it instead")

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["graph"]}
