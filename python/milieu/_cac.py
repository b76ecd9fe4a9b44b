# SPDX-License-Identifier: Apache-2.0
"""CAC; _estimators.py adds its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ._base import FitsAndPredicts
from ._compat import check_matrix
from ._describe import Described
from ._types import Array


def is_views(X: Any) -> bool:
    """Say whether X is a list of matrices instead of one matrix."""
    return (isinstance(X, (list, tuple)) and len(X) > 0
            and all(getattr(view, "ndim", 0) == 2 for view in X))


def compressed_groups(groups: Any, n_samples: int) -> dict[str, Any]:
    """Turn lists of rows, a sparse groups x samples matrix or (indptr, indices[, data]) into the
    compressed rows that the core takes."""
    weights = None
    if isinstance(groups, tuple) and len(groups) in (2, 3):
        offsets, members = groups[0], groups[1]
        weights = groups[2] if len(groups) == 3 else None
    elif sparse.issparse(groups):
        matrix = sparse.csr_matrix(groups, copy=True)  # the caller's keeps its duplicates
        matrix.sum_duplicates()
        if matrix.shape[1] != n_samples:
            raise ValueError(f"context_groups has {matrix.shape[1]} columns, X has {n_samples} "
                             "rows: they must match")
        offsets, members, weights = matrix.indptr, matrix.indices, matrix.data
    else:
        lists = [np.asarray(group, dtype=np.int64).ravel() for group in groups]
        offsets = np.concatenate([[0], np.cumsum([len(group) for group in lists])])
        members = np.concatenate(lists) if lists else np.zeros(0, np.int64)
    return {"num_samples": n_samples, "offsets": np.asarray(offsets, dtype=np.int64),
            "members": np.asarray(members), "weights": weights, "group_weights": None}


def linked_groups(links: Any, n_samples: int) -> dict[str, Any]:
    """Turn pairs of rows or a square sparse matrix into the neighbourhood of every sample: itself and
    those it is linked with, in either direction."""
    if sparse.issparse(links):
        if links.shape != (n_samples, n_samples):
            raise ValueError(f"links has shape {links.shape}, must be square with the {n_samples} "
                             "rows of X")
        pairs = np.transpose(links.nonzero())
    else:
        pairs = np.asarray(links)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"links has shape {pairs.shape}, must have two columns: rows of X that "
                             "are linked")
        if pairs.dtype.kind not in "iu":
            raise ValueError(f"links has type {pairs.dtype}, must have row numbers")
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= n_samples):
            wrong = pairs.min() if pairs.min() < 0 else pairs.max()
            raise ValueError(f"links names row {wrong}, X has {n_samples} rows")
    own = np.arange(n_samples)
    rows = np.concatenate([pairs[:, 0], pairs[:, 1], own])
    columns = np.concatenate([pairs[:, 1], pairs[:, 0], own])
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_samples))
    matrix.sum_duplicates()
    return compressed_groups((matrix.indptr, matrix.indices), n_samples)


class CACBase(ClusterMixin, FitsAndPredicts):  # type: ignore[misc]
    """Context-aware clustering: samples cluster into words and the groups they occur in into
    phrases, each correcting the other.

    ``X`` is one matrix, or a list of matrices: views of the same samples. Without groups,
    positions and views it is k-means.

    Attributes
    ----------
    labels_ : ndarray
        Phrases where there is context: one per group or, with several views, one per sample.
        Otherwise words.
    word_labels_ : ndarray of shape (n_samples,) or (n_views, n_samples)
        The word of every sample (in every view).
    phrase_labels_ : ndarray of shape (n_groups,)
        The phrase of every group; empty without context.
    compositions_ : ndarray of shape (n_phrases, n_words)
        1 where a phrase contains a word; words of all views side by side.
    prototypes_ : ndarray of shape (n_words, n_features)
        Means of the words; narrower views end in zeros.
    phrase_names_ : list of str
        "phrase 3 = words 4, 17, 20".

    References
    ----------
    J. Yuan and Y. Wu, "Context-aware clustering", 2008.
    """

    _method = "cac"
    _hidden_inputs = ("view",)

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        views = self._views(X, reset=True)
        self._fit_rows(None, {"view": views, **self._context(given, len(views[0]))})

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> Described:
        has_rows = not is_views(X) and len(X) == len(self.labels_)
        return Described(self.labels_, np.asarray(X, dtype=np.float32) if has_rows else None)

    def _views(self, X: Any, *, reset: bool) -> list[Array]:
        if not is_views(X):
            return [self._rows(X, reset=reset)]
        if not reset:
            check_is_fitted(self)
        views = [check_matrix(view, f"view {i}") for i, view in enumerate(X)]
        if len({len(view) for view in views}) > 1:
            raise ValueError(f"the views have {[len(view) for view in views]} rows: they must have "
                             "the same samples")
        columns = sum(view.shape[1] for view in views)
        if reset:
            self.n_features_in_ = columns
        elif columns != self.n_features_in_:
            raise ValueError(f"X has {columns} features in all views, but {type(self).__name__} is "
                             f"expecting {self.n_features_in_} features as input")
        return views

    def _context(self, given: dict[str, Any], n_samples: int) -> dict[str, Any]:
        given = dict(given)
        if given.get("context_groups") is not None:
            given["context_groups"] = compressed_groups(given["context_groups"], n_samples)
        if given.get("links") is not None:
            given["links"] = linked_groups(given["links"], n_samples)
        if given.get("images") is not None:
            given["images"] = np.unique(np.asarray(given["images"]), return_inverse=True)[1]
        if given.get("positions") is not None:
            given["positions"] = check_matrix(given["positions"], "positions")
        return self._inputs(given)

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        n_views = len(arrays["view_dims"])
        words = result["words"]
        is_whole = n_views > 1 and len(words) % n_views == 0 and "phrases" in result
        self.word_labels_ = words.reshape(n_views, -1) if is_whole else words
        self.phrase_labels_ = result["phrases"]
        self.compositions_ = arrays["compositions"]
        self.prototypes_ = arrays["prototypes"]
        self.phrase_names_ = self._call("cac_phrases", self.model_)
        self.margins_ = result.get("margins")

    def _load(self, result: dict[str, Any]) -> None:
        arrays = result["model"].arrays()
        has_context = len(arrays["compositions"]) > 0
        result.setdefault("words", result["labels"])  # without context, labels are words
        result["phrases"] = result["labels"] if has_context else np.zeros(0, np.int32)
        result["margins"] = result.get("word_margins")
        super()._load(result)
        self.n_features_in_ = int(arrays["view_dims"].sum())

    def _columns(self) -> dict[str, Any]:
        first = self.word_labels_ if self.word_labels_.ndim == 1 else self.word_labels_[0]
        margins = np.zeros(0) if self.margins_ is None else self.margins_
        return {"words": first, "word_margins": margins[:len(first)]}

    def predict(self, X: Any, *, context_groups: Any = None, positions: Any = None,
                images: Any = None) -> Array:
        """Label new samples or, with context, their groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of such
            New samples, in as many views as were fitted.
        context_groups, positions, images
            Context of the new samples, as in ``fit``.

        Returns
        -------
        labels : ndarray
            Words of samples without context; otherwise what ``labels_`` is for the samples fitted.
        """
        views = self._views(X, reset=False)
        if context_groups is None and positions is None and len(views) == 1:
            return self._array(
                "cac_predict", self.model_, views[0], self._threads())
        context = self._context({"context_groups": context_groups, "positions": positions,
                                 "images": images}, len(views[0]))
        labels: Array = self._call("cac_predict_groups", self.model_, None,
                                   {"view": views, **context}, self._threads())["labels"]
        return labels
