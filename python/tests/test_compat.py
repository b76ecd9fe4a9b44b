# SPDX-License-Identifier: Apache-2.0
"""Other versions of scikit-learn, other kinds of arrays."""

import types

import numpy as np
import pytest
import sklearn
import sklearn.utils.validation
from conftest import blobs

import milieu
from milieu import _compat


class OnlyDLPack:
    """An array that numpy sees only through DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack_objects_go_in_without_a_copy():
    X, _ = blobs()
    assert np.shares_memory(_compat.as_array(OnlyDLPack(X)), X)
    one = milieu.KMeans(3).fit(OnlyDLPack(X))
    np.testing.assert_array_equal(one.labels_, milieu.KMeans(3).fit(X).labels_)


def test_checked_rows_share_the_memory_of_what_was_given():
    X, _ = blobs()
    assert np.shares_memory(milieu.KMeans(3)._rows(X, reset=True), X)
    assert np.shares_memory(milieu.KMeans(3)._rows(X[::2], reset=True), X)


@pytest.mark.parametrize("text, numbers", [("1.6.1", (1, 6, 1)), ("1.7.dev0", (1, 7)),
                                           ("1.2", (1, 2))])
def test_versions_are_read(text, numbers):
    assert _compat.version_tuple(text) == numbers


def test_newer_scikit_learn_validates_by_its_function(monkeypatch):
    calls = []

    def validate_data(estimator, X, *, reset, **options):
        calls.append(options)
        options["force_all_finite"] = options.pop("ensure_all_finite")
        return estimator._validate_data(X, reset=reset, **options)

    monkeypatch.setattr(sklearn, "__version__", "1.6.0")
    monkeypatch.setattr(sklearn.utils.validation, "validate_data", validate_data, raising=False)
    X, y = blobs()
    milieu.KMeans(3).fit(X)
    assert len(calls) == 1 and "force_all_finite" in calls[0]


def new_tags():
    """The parts of scikit-learn 1.6's tags that we set."""
    return types.SimpleNamespace(
        input_tags=types.SimpleNamespace(positive_only=False, pairwise=False, two_d_array=True,
                                         categorical=False),
        target_tags=types.SimpleNamespace(required=False),
        transformer_tags=types.SimpleNamespace(preserves_dtype=["float64"]))


@pytest.mark.parametrize("estimator, place, name, value", [
    (milieu.Topics(), "input_tags", "positive_only", True),
    (milieu.KMeans(), "input_tags", "positive_only", False),
    (milieu.DCP(), "target_tags", "required", True),
    (milieu.KMedoids(metric="precomputed"), "input_tags", "pairwise", True),
    (milieu.KMeans(), "transformer_tags", "preserves_dtype", ["float32"]),
])
def test_newer_scikit_learn_gets_our_tags(monkeypatch, estimator, place, name, value):
    monkeypatch.setattr(sklearn.base.BaseEstimator, "__sklearn_tags__", lambda self: new_tags(),
                        raising=False)
    assert getattr(getattr(estimator.__sklearn_tags__(), place), name) == value
