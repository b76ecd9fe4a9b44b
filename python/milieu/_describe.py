# SPDX-License-Identifier: Apache-2.0
"""Names for parts: the labels that set each apart from the rest, and from a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._compat import check_matrix
from ._types import Array

if TYPE_CHECKING:
    from ._base import FitsAndPredicts


@dataclass(frozen=True)
class PartLabel:
    """A label that sets a part apart."""

    name: str
    label: int  # its place among the label names
    sure: float  # share of resamples of the samples in which the part gets it again
    mean: float  # mean reciprocal rank of the label in the part
    lead: float  # by how much that is above the mean of the rest, or of the context
    p: float  # share of random parts with a label that leads as much

    def __str__(self) -> str:
        return f"{self.name} ({100 * self.sure:.0f} % sure)"


def labels_of(part: dict[str, Any], key: str = "labels") -> list[PartLabel]:
    """Return the labels of one entry of the summary's part_names."""
    return [PartLabel(**entry) for entry in part.get(key, [])]


def describe(labels: Any, X: Any, label_names: Any, *, vectors: Any = None, context: Any = None,
             part_classes: Any = None, max_labels: int = 3, level: float = 0.05,
             random_state: Any = 1, n_jobs: int | None = None) -> list[list[PartLabel]]:
    """Name parts by the labels that set each apart from the rest, and from a context.

    A label's evidence in a sample is the reciprocal rank of its score, 0 beyond the tenth; a label
    names a part when its mean there exceeds the mean of the rest, and of the context, by more than
    random parts would give.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The part of every sample, -1 for none: any clustering.
    X : array-like of shape (n_samples, n_labels)
        Scores of every label for each sample: logits, probabilities, similarities. With
        ``vectors``, the samples themselves.
    label_names : list of str
        The names; a first name "background" that the scores do not have is left out. Of "snow
        leopard, ounce" the text in front of the comma is shown, where it is unique.
    vectors : array-like of shape (n_labels, n_features), default=None
        Label vectors in the space of the samples, such as CLIP's text vectors; scores are cosines.
    context : array-like, default=None
        Scores (with ``vectors``: samples) of a context that names must not describe.
    part_classes : array-like of shape (n_parts,), default=None
        The class of every part, where parts are pieces of classes: names then set a part apart
        from the other parts of its class and from the other classes.
    max_labels : int, default=3
        Labels per part at most.
    level : float, default=0.05
        Chance that random parts get any name.
    random_state : int, RandomState instance or None, default=1
        Random seed of permutations and resamples.
    n_jobs : int, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    names : list of list of PartLabel
        The labels of every part, the largest lead first; none where no label sets it apart.
    """
    more = {"context": context, "part_classes": part_classes}
    options = {"max_labels": max_labels, "level": level}
    found = named(labels, X, label_names, vectors, more, options, random_state, n_jobs)
    return [labels_of(part) for part in found]


def named(labels: Any, X: Any, label_names: Any, vectors: Any, more: dict[str, Any],
          options: dict[str, Any], random_state: Any, n_jobs: int | None) -> list[dict[str, Any]]:
    """Return the names as summary.json has them."""
    from ._base import num_threads, seed_of

    given = {key: value for key, value in more.items() if value is not None}
    if "context" in given:
        given["context"] = check_matrix(given["context"], "context")
    found: list[dict[str, Any]] = _core.name_parts(
        np.asarray(labels), check_matrix(X, "X"),
        None if vectors is None else check_matrix(vectors, "vectors"),
        [str(name) for name in label_names], given,
        {**options, "seed": seed_of(random_state), "num_threads": num_threads(n_jobs)})
    return found


def are_vectors(matrix: Array, n_labels: int, n_rows: int, n_features: int | None) -> bool:
    """Say whether a matrix holds label vectors (True) or scores (False), by its shape."""
    counts = (n_labels, n_labels - 1)  # the names may begin with the background
    vectors = matrix.shape[0] in counts and matrix.shape[1] == n_features
    scores = matrix.shape[0] == n_rows and matrix.shape[1] in counts
    if vectors and scores:
        raise ValueError(f"describe has the shape {matrix.shape}, which may be label vectors or "
                         "scores: name the parts with milieu.describe after the fit")
    if vectors or scores:
        return vectors
    wanted = f"({n_rows}, {n_labels}), scores of every label for each sample"
    if n_features is not None:
        wanted = f"({n_labels}, {n_features}), one vector per label name, or {wanted}"
    raise ValueError(f"describe has the shape {matrix.shape}, must have {wanted}")


def name_parts(estimator: FitsAndPredicts, samples: Described, describe: Any,
               label_names: Any) -> list[dict[str, Any]]:
    """Name the parts of a fitted estimator."""
    if label_names is None:
        raise ValueError("describe is given without label_names: give one name per label")
    matrix = check_matrix(describe, "describe")
    label_names = list(label_names)
    n_features = None if samples.rows is None else samples.rows.shape[1]
    n_rows = len(samples.labels) + (0 if samples.context is None else len(samples.context))
    more = {"part_classes": samples.part_classes, "exemplars": samples.exemplars}
    control = (estimator.summary_["seed"], getattr(estimator, "n_jobs", None))
    if are_vectors(matrix, len(label_names), n_rows, n_features):
        more["context"] = samples.context
        return named(samples.labels, samples.rows, label_names, matrix, more, {}, *control)
    marks = samples.marks
    if marks is None:
        marks = np.arange(n_rows) >= len(samples.labels)
    if marks.any():
        more["context"] = matrix[marks]
    return named(samples.labels, matrix[~marks], label_names, None, more, {}, *control)


@dataclass
class Described:
    """What names are found for: labels, and the rows that label vectors may describe."""

    labels: Array
    rows: Array | None = None  # None: samples that have no rows, such as images made of patches
    context: Array | None = None
    part_classes: Any = None
    exemplars: Any = None
    marks: Array | None = None  # rows of scores that are the context's; None: the last ones
