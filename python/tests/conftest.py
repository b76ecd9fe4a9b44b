# SPDX-License-Identifier: Apache-2.0
"""Data that several tests share; the package is found through PYTHONPATH (CTest sets it)."""

import numpy as np
import pytest

import milieu


def blobs(k=3, n=40, d=4, seed=0, spread=8.0):
    """k well separated Gaussians of n rows each, float32, with their classes."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, spread, (k, d))
    X = np.concatenate([rng.normal(center, 1, (n, d)) for center in centers])
    return X.astype(np.float32), np.repeat(np.arange(k), n)


def all_estimators():
    """The estimators of arrays; LatentCRF, of graphs, has tests of its own."""
    return [getattr(milieu, name) for name in milieu._estimators.__all__ if name != "LatentCRF"]


def fast(cls, **options):
    """An estimator with few restarts and iterations."""
    small = {"n_init": 2, "max_iter": 50, "n_words": 3, "n_topics": 5, "n_jobs": 1}
    names = cls().get_params()
    return cls(**{name: value for name, value in small.items() if name in names} | options)


def sample_input(cls, seed=0):
    """X, y and keywords that the estimator can be fitted to."""
    X, y = blobs(seed=seed)
    name = cls.__name__
    if name == "DCP":
        return X[y < 2], None, {"context": X[y == 2]}
    if name in ("ICC", "ICCClassifier", "DistanceLearner"):
        return X, y, {}
    if name == "KModes":
        return (X > np.median(X, axis=0)).astype(np.float32), None, {}
    if name in ("Bags", "Topics", "Multinomials", "JSOM"):
        return np.round(np.abs(X)), None, {}
    if name == "CAC":
        return X, None, {"context_groups": [list(range(i, i + 4)) for i in range(0, len(X), 4)]}
    if name == "DLGMM":
        return [X[i:i + 4] for i in range(0, len(X), 4)], None, {}
    return X, None, {}


@pytest.fixture(params=[cls.__name__ for cls in all_estimators()])
def fitted(request):
    """Every estimator, fitted, with what it was fitted to."""
    cls = getattr(milieu, request.param)
    X, y, inputs = sample_input(cls)
    return fast(cls).fit(X, y, **inputs), X, y, inputs
