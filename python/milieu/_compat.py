# SPDX-License-Identifier: Apache-2.0
"""The one place that knows scikit-learn's versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_array

from ._types import Array


def version_tuple(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: (1, 6, 1) of "1.6.1", (1, 7) of "1.7.dev0"."""
    numbers = []
    for part in text.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def sklearn_version() -> tuple[int, ...]:
    return version_tuple(sklearn.__version__)


def has_new_validation() -> bool:
    """Say whether scikit-learn validates by a function (since 1.6) instead of a method."""
    return sklearn_version() >= (1, 6)


def _finite_option() -> str:
    return "ensure_all_finite" if has_new_validation() else "force_all_finite"


def validate_rows(estimator: Any, X: Any, *, reset: bool, dtype: Any = np.float32,
                  min_samples: int = 1) -> Array:
    """Check X as scikit-learn does and note or compare its features.

    float32 rows are not copied, whatever their stride.
    """
    X = as_array(X)
    refuse_dates(X, "X")
    options = {"dtype": dtype, "ensure_min_samples": min_samples, _finite_option(): True}
    if has_new_validation():
        from sklearn.utils.validation import (
            validate_data,  # pyright: ignore[reportAttributeAccessIssue]
        )

        rows: Array = validate_data(estimator, X, reset=reset, **options)
    else:
        rows = estimator._validate_data(X, reset=reset, **options)
    return rows


def as_array(X: Any) -> Any:
    """Look at memory that speaks DLPack only; numpy understands everything else by itself."""
    speaks = hasattr(X, "__dlpack__") and not hasattr(X, "__array__")
    return np.from_dlpack(X) if speaks else X


def set_tags(tags: Any, ours: dict[str, Any]) -> Any:
    """Put our tags into scikit-learn's (since 1.6 an object; before, the dict itself)."""
    tags.input_tags.positive_only = ours.get("requires_positive_X", False)
    tags.input_tags.pairwise = ours.get("pairwise", False)
    if "X_types" in ours:
        tags.input_tags.two_d_array = "2darray" in ours["X_types"]
        tags.input_tags.categorical = "categorical" in ours["X_types"]
    tags.target_tags.required = tags.target_tags.required or ours.get("requires_y", False)
    if getattr(tags, "transformer_tags", None) is not None:
        kinds = ours.get("preserves_dtype", [])
        tags.transformer_tags.preserves_dtype = [np.dtype(kind).name for kind in kinds]
    return tags


def refuse_dates(X: Any, name: str) -> None:
    """scikit-learn would count dates as numbers of their units."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("M", "m"):
        raise ValueError(f"{name} has the type {X.dtype}, must be numbers")


def check_matrix(X: Any, name: str, dtype: Any = np.float32) -> Array:
    """Check a matrix that is not the estimator's X: a context, a view."""
    X = as_array(X)
    refuse_dates(X, name)
    matrix: Array = check_array(X, dtype=dtype, input_name=name, **{_finite_option(): True})
    return matrix
