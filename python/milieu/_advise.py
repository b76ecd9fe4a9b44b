# SPDX-License-Identifier: Apache-2.0
"""Should a class be split?"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from . import _core
from ._compat import check_matrix
from ._types import Array


@dataclasses.dataclass(frozen=True)
class ClassAdvice:
    """The verdict on one class, with its evidence."""

    name: Any
    #: "keep", "split", "split for context" or "too few samples".
    verdict: str
    #: Which samples are in each part: rows of X.
    parts: list[Array]
    #: How often a class with one mode shows such a gap.
    gap_p: float
    #: Share of the samples that land in the same part when the cut is learned without them.
    stability: float
    #: Held-out accuracy with this class split, minus without, and the p-value of the gain.
    gain: float
    gain_p: float
    #: The class with which most confusions end; None: none end.
    context: Any


def advise(X: Any, y: Any, **options: Any) -> list[ClassAdvice]:
    """Judge for every class whether it should be split.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their classes.
    **options
        Those of ``milieu icc advise``: ``level``, ``max_parts``, ``min_size``, ``num_dims``,
        ``repeats``, ``seed`` and ``num_threads``.

    Returns
    -------
    advice : list of ClassAdvice
        One per class, in the order of their sorted names.
    """
    X = check_matrix(X, "X")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    names, numbers = np.unique(y, return_inverse=True)
    found: dict[str, Any] = _core.icc_advise(X, numbers, options, {})
    labels, summary = found["labels"], found["summary"]
    first = np.concatenate([[0], np.cumsum(summary["parts"])])
    return [
        ClassAdvice(
            name=name, verdict=summary["verdicts"][c],
            parts=[np.flatnonzero(labels == part) for part in range(first[c], first[c + 1])],
            gap_p=summary["gap_p_values"][c], stability=summary["stabilities"][c],
            gain=summary["gains"][c], gain_p=summary["gain_p_values"][c],
            context=names[summary["context_classes"][c]] if summary["context_classes"][c] >= 0 else None)
        for c, name in enumerate(names)]
