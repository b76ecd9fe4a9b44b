# SPDX-License-Identifier: Apache-2.0
"""DCP; _estimators.py adds its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ._base import DRAWS, PredictsRows
from ._compat import check_matrix
from ._describe import Described
from ._progress import reporter
from ._rows import RowsEstimator
from ._types import Array

CONTEXT = -1  # in y: a row of the context
TOGETHER = "all contexts"


@dataclass(frozen=True)
class RankedContext:
    """One context of a ranking, with the split it gives."""

    name: str
    match: float  # adjusted Rand index with the split of the largest separation
    separation: float
    confidence: float
    consensus: float  # mean adjusted Rand index with the splits of the other contexts
    stability: float  # adjusted Rand index with the split of half the data
    agreement: float  # of the restarts
    objective: float
    seconds: float
    labels: Array
    is_outlier_split: bool = False  # a part is a handful of samples: ranked after all others


@dataclass(frozen=True)
class Candidates:
    """What a ranking is made of: the contexts, and with a precomputed kernel the rows of X for each."""

    X: Array
    contexts: dict[Any, Array]
    samples: dict[Any, Array]
    inputs: dict[str, Any]

    def part(self, names: Sequence[Any]) -> Candidates:
        """Return some of the contexts."""
        return Candidates(self.X, {name: self.contexts[name] for name in names},
                          {name: self.samples[name] for name in names if name in self.samples},
                          self.inputs)


@dataclass(frozen=True)
class Vote:
    """The split that most contexts of a ranking agree on."""

    labels: Array
    agreement: Array  # share of the contexts that put the sample into its part


def context_rows(y: Any) -> Array:
    """Say which rows y marks as context: those with -1, or the lower one of two values."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y has {y.ndim} dimensions, must have 1: one mark per row of X")
    values = np.unique(y)
    if len(values) == 2 and not np.any(values == CONTEXT):
        return np.asarray(y == values[0])
    marks = np.asarray(y == CONTEXT)
    if not marks.any():
        raise ValueError("y marks no context: give -1 to the rows of the context, or context=")
    return marks


def places_among(rows: Array, pairs: Any, name: str) -> Array:
    """Translate pairs of rows of X into pairs of the rows that are split."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    place = np.full(len(rows), -1)
    place[rows] = np.arange(rows.sum())
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(rows)):
        raise ValueError(f"{name} names row {pairs.max()}, X has {len(rows)} rows")
    translated = place[pairs]
    if (translated < 0).any():
        raise ValueError(f"{name} names a row of the context: only rows that are split can be "
                         "linked")
    return np.asarray(translated)


def context_columns(n: int, contexts: Mapping[Any, Array]) -> dict[Any, Array]:
    """Columns of a matrix of similarities that belong to the samples and to each context, and to all."""
    columns, first = {}, n
    for name, rows in contexts.items():
        columns[name] = np.r_[0:n, first:first + len(rows)]
        first += len(rows)
    columns[TOGETHER] = np.arange(first)
    return columns


def check_columns(X: Array, columns: Mapping[Any, Array]) -> None:
    wanted = len(columns[TOGETHER])
    if X.shape[1] != wanted:
        raise ValueError(f"X has {X.shape[1]} features, must have {wanted} with kernel='precomputed': "
                         "similarities with all samples, then with the rows of all contexts")


class DCPBase(PredictsRows, RowsEstimator):
    """Discriminative context partitioning: splits a set into parts that are each separated from a
    context set by a large margin. Another context gives another split.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The part of every row of X; -1 for rows that ``y`` marks as context.
    coef_ : ndarray of shape (n_clusters, n_features)
        Planes of the parts; with a kernel, coefficients of the training samples.
    intercept_ : ndarray of shape (n_clusters,)
        Their offsets.
    confidence_ : float
        Share of samples expected to be right, from 0.5 to 1, as measured on pairs of digits at this
        separation.
    separation_ : float
        How clearly the parts stand apart, and the context does not, in nats per sample.
    gain_ : float
        ``1 - J / (J1 + (K - 1) Je)``: 0 or less when one part is cheaper than K; NaN with
        whitening, where it says nothing.
    margins_ : ndarray of shape (n_samples,)
        How much larger the decision value of a sample's part is than the next one's; NaN for rows
        of the context.
    agreement_ : float
        Mean adjusted Rand index of the other restarts with the best one.

    References
    ----------
    C. Lampert, "Partitioning of image datasets using discriminative context information", 2008.
    """

    _method = "dcp"
    margins_: Array
    kernel: str

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        X = self._rows(X, reset=True)
        if y is not None and len(X) < 2:
            raise ValueError("X has 1 sample, must have two or more: one to split, one of the context")
        inputs = self._checked(given, X)
        if inputs["context"] is not None:
            if y is not None:
                raise ValueError("give only one of y and context: both name the context")
            inputs["context"] = self._context(inputs["context"], X)
            self._fit_rows(X, self._inputs(inputs))
            return
        if y is None:
            raise ValueError(
                "DCP requires y to be passed, but the target y is None: give context=, or y with "
                "-1 for the rows of the context")
        check_consistent_length(X, y)
        marks = context_rows(y)
        if marks.all():
            raise ValueError("y marks every row as context: nothing is left to split")
        self._fit_marked(X, marks, inputs)

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> Described:
        rows = np.asarray(X, dtype=np.float32)
        if given["context"] is not None:
            return Described(self.labels_, rows, np.asarray(given["context"], dtype=np.float32))
        marks = context_rows(y)
        return Described(self.labels_[~marks], rows[~marks], rows[marks], marks=marks)

    def _context(self, context: Any, X: Array) -> Array:
        rows = check_matrix(context, "context")
        if rows.shape[1] != X.shape[1]:
            raise ValueError(f"context has {rows.shape[1]} features, X has {X.shape[1]}: they must "
                             "match")
        return rows

    def _fit_marked(self, X: Array, marks: Array, inputs: dict[str, Any]) -> None:
        rows = ~marks
        inputs["context"] = X[marks]
        if inputs["sample_weight"] is not None:
            inputs["context_weights"] = inputs["sample_weight"][marks]
        for name in ("sample_weight", "memberships", "initial_labels"):
            if inputs[name] is not None:
                inputs[name] = np.asarray(inputs[name])[rows]
        for name in ("must_link", "cannot_link"):
            if inputs[name] is not None:
                inputs[name] = places_among(rows, inputs[name], name)
        self._fit_rows(X[rows], self._inputs(inputs))
        labels = np.full(len(X), CONTEXT, dtype=self.labels_.dtype)
        labels[rows] = self.labels_
        margins = np.full(len(X), np.nan, dtype=np.float32)
        margins[rows] = self.margins_
        self.labels_, self.margins_ = labels, margins

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.coef_ = arrays["coefficients"]
        self.intercept_ = arrays["offsets"]
        # Runs of 0.1.0 have no confidence, whitened ones no gain.
        self.confidence_ = result.get("confidence", np.nan)
        self.separation_ = result.get("separation", np.nan)
        self.gain_ = result.get("gain", np.nan)
        self.margins_ = result["margins"]
        self.agreement_ = result["agreement"]

    def _columns(self) -> dict[str, Any]:
        return {"margins": self.margins_}

    def decision_function(self, X: Any) -> Array:
        """Return the decision value of every part for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_clusters)
            A sample belongs to the part with the largest value.
        """
        X = self._rows(X)
        return self._array(
            "dcp_decisions", self.model_, X, self._threads())

    def rank_contexts(self, X: Any, contexts: Mapping[Any, Any] | Sequence[Any], *,
                      sample_weight: Any = None, memberships: Any = None, must_link: Any = None,
                      cannot_link: Any = None) -> list[RankedContext]:
        """Split X against each context and rank the contexts without labels.

        Contexts whose split agrees with the most clearly separated one come first. All of them
        together are one more, "all contexts". The estimator itself stays as it is: fit it with the
        context that you choose.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to split. With ``kernel="precomputed"``: their similarities with all samples, then
            with the rows of all contexts in order.
        contexts : dict of array-like, or list of array-like
            Candidate contexts by name; those of a list are called "0", "1", ... Columns as in X.
        sample_weight, memberships, must_link, cannot_link : array-like, optional
            As in ``fit``.

        Returns
        -------
        ranking : list of RankedContext
            Best first.
        """
        inputs = {"sample_weight": sample_weight, "memberships": memberships,
                  "must_link": must_link, "cannot_link": cannot_link}
        return self._rank(self._candidates(X, contexts, inputs), [])

    def _candidates(self, X: Any, contexts: Mapping[Any, Any] | Sequence[Any],
                    inputs: dict[str, Any]) -> Candidates:
        """Return what is ranked, checked."""
        if not isinstance(contexts, Mapping):
            contexts = {str(i): context for i, context in enumerate(contexts)}
        X = check_matrix(X, "X")
        given = self._checked(
            {"context": None, "context_weights": None, "initial_labels": None, **inputs}, X)
        candidates = {name: self._context(rows, X) for name, rows in contexts.items()}
        columns = context_columns(len(X), candidates)
        if len(candidates) > 1:
            candidates[TOGETHER] = np.concatenate(list(candidates.values()))
        samples: dict[Any, Array] = {}
        if self.kernel == "precomputed":
            check_columns(X, columns)
            samples = {name: X[:, own] for name, own in columns.items()}
            candidates = {name: rows[:, columns[name]] for name, rows in candidates.items()}
        return Candidates(X, candidates, samples, self._inputs(given))

    def _split(self, found: Candidates) -> list[dict[str, Any]]:
        """Split by some of the contexts of a ranking."""
        splits: list[dict[str, Any]] = self._call(
            "dcp_split", found.X, found.contexts, found.samples, self._options(), found.inputs,
            {"callback": None})
        return splits

    def _rank(self, found: Candidates, known: list[dict[str, Any]]) -> list[RankedContext]:
        """Rank contexts; the splits of some of them may be known already."""
        with reporter(self.verbose, self.callback, "rank_contexts") as callback:
            control = {"callback": callback, "keep_partial": self.keep_partial}
            ranking = self._call("dcp_rank", found.X, found.contexts, found.samples,
                                 self._options(), found.inputs, known, control)
        return [RankedContext(**context) for context in ranking["contexts"]]

    def vote_contexts(self, ranking: Sequence[RankedContext]) -> Vote:
        """Label each sample by the part that most contexts put it into.

        Parts of different contexts are matched first; ties go to the first context.

        Parameters
        ----------
        ranking : list of RankedContext
            What ``rank_contexts`` returned, or some of it.

        Returns
        -------
        vote : Vote
            Labels, and the share of the contexts that agree on each.
        """
        splits = [[int(label) for label in context.labels] for context in ranking]
        return Vote(*self._call("dcp_vote", splits, self._options()["num_clusters"]))

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "binary_only": True,
                "_xfail_checks": DRAWS}


