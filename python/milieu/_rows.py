# SPDX-License-Identifier: Apache-2.0
"""Estimators of one matrix of samples, and what they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _check_sample_weight

from ._base import FitsAndPredicts, MilieuEstimator
from ._compat import check_matrix
from ._types import Array


def weights_or_none(weights: Array) -> Array | None:
    """Weights of 1 are no weights: the same random draws, the same bits."""
    return None if np.all(weights == 1) else weights


class RowsEstimator(MilieuEstimator):
    """A method that takes one matrix and its declared inputs."""

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        X = self._rows(X, reset=True)
        self._fit_rows(X, self._inputs(self._checked(given, X)))

    @staticmethod
    def _checked(given: dict[str, Any], X: Array) -> dict[str, Any]:
        checked = dict(given)
        for name, value in given.items():
            if value is None:
                continue
            if name == "sample_weight":
                checked[name] = weights_or_none(_check_sample_weight(value, X, dtype=np.float64))
            elif name.startswith("initial_") and np.ndim(value) == 2:
                checked[name] = check_matrix(value, name)
        return checked


class ClusterEstimator(ClusterMixin, FitsAndPredicts, RowsEstimator):  # type: ignore[misc]
    """A clusterer of rows."""

