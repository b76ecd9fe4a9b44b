# SPDX-License-Identifier: Apache-2.0
"""How well a clustering agrees with the truth; docs/metrics.md has the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _core
from ._types import Array

__all__ = ["all_metrics", "matched_accuracy", "best_match_f", "bcubed_f", "pairwise_f", "purity"]


def _numbers(labels: Any) -> Array:
    numbers: Array = column_or_1d(labels)
    if numbers.dtype.kind in "iub":
        return numbers
    return np.asarray(np.unique(numbers, return_inverse=True)[1])


def all_metrics(labels_true: Any, labels_pred: Any) -> dict[str, Any]:
    """Return every figure that the command line prints.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        True classes: numbers (-1: unknown, left out) or names.
    labels_pred : array-like of shape (n_samples,)
        Clusters: numbers (-1: no cluster) or names.

    Returns
    -------
    metrics : dict
        accuracy, error, balanced_error, nmi, nmi_max, nmi_sqrt, ari, f, f_pairwise, f_bcubed, ...
    """
    check_consistent_length(labels_true, labels_pred)
    return _core.metrics(_numbers(labels_true), _numbers(labels_pred))


def matched_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Return the share of samples on the best one-to-one matching of clusters and classes."""
    return float(all_metrics(labels_true, labels_pred)["accuracy"])


def best_match_f(labels_true: Any, labels_pred: Any) -> float:
    """Return the class-weighted F of every class with its best cluster."""
    return float(all_metrics(labels_true, labels_pred)["f"])


def bcubed_f(labels_true: Any, labels_pred: Any) -> float:
    """Return the B-cubed F."""
    return float(all_metrics(labels_true, labels_pred)["f_bcubed"])


def pairwise_f(labels_true: Any, labels_pred: Any) -> float:
    """Return the F of the pairs that are put together."""
    return float(all_metrics(labels_true, labels_pred)["f_pairwise"])


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Return the share of samples in the majority class of their cluster."""
    return float(all_metrics(labels_true, labels_pred)["purity"])
