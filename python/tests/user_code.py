# SPDX-License-Identifier: Apache-2.0
"""A user's program; type checkers read it, and test_types.py runs it."""

from __future__ import annotations

from typing import Any

import numpy as np

import milieu

Array = np.ndarray[Any, Any]


def split(rows: Array, context: Array) -> Array:
    estimator = milieu.DCP(n_clusters=2, loss="hinge", n_init=3).fit(rows, context=context)
    labels: Array = estimator.predict(rows)
    return labels


def main() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3)).astype(np.float32)
    labels = split(rows, rows + 5)
    figures: dict[str, object] = milieu.metrics.all_metrics(labels, labels)
    assert figures["accuracy"] == 1.0
    for ranked in milieu.DCP().rank_contexts(rows, {"far": rows + 5, "near": rows + 1}):
        name: str = ranked.name
        assert name in ("far", "near", "all contexts")


if __name__ == "__main__":
    main()
