# SPDX-License-Identifier: Apache-2.0
"""Estimators of one matrix of samples, and what they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _check_sample_weight

from ._base import MilieuEstimator
from ._compat import check_matrix


def weights_or_none(weights: np.ndarray) -> np.ndarray | None:
    """Weights of 1 are no weights: the same random draws, the same bits."""
    return None if np.all(weights == 1) else weights


class RowsEstimator(MilieuEstimator):
    """A method that takes one matrix and its declared inputs."""

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> Any:
        X = self._rows(X, reset=True)
        self._fit_rows(X, self._inputs(self._checked(given, X)))
        return self

    @staticmethod
    def _checked(given: dict[str, Any], X: np.ndarray) -> dict[str, Any]:
        checked = dict(given)
        for name, value in given.items():
            if value is None:
                continue
            if name == "sample_weight":
                checked[name] = weights_or_none(_check_sample_weight(value, X, dtype=np.float64))
            elif name.startswith("initial_") and np.ndim(value) == 2:
                checked[name] = check_matrix(value, name)
        return checked


class ClusterEstimator(ClusterMixin, RowsEstimator):
    """A clusterer of rows."""

    def fit_predict(self, X: Any, y: Any = None, **inputs: Any) -> np.ndarray:
        """Fit, and return the labels of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : Ignored
            For scikit-learn's conventions.
        **inputs
            The keywords of ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``labels_``.
        """
        return self.fit(X, y, **inputs).labels_  # type: ignore[attr-defined, no-any-return]
