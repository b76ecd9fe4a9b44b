# SPDX-License-Identifier: Apache-2.0
"""Odd arrays: an exception with a reason, or the result of the plain array; never a crash."""

import inspect

import numpy as np
import pytest
from conftest import all_estimators, fast, sample_input

import milieu
from milieu import _core

PLAIN = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)


def equal_arrays():
    """The same numbers in other clothes."""
    wide = np.zeros((40, 8), np.float32)
    wide[:, ::2] = PLAIN
    tall = np.zeros((80, 4), np.float32)
    tall[::2] = PLAIN
    bytes_ = np.zeros(PLAIN.nbytes + 1, np.uint8)
    unaligned = bytes_[1:].view(np.float32).reshape(PLAIN.shape)
    unaligned[:] = PLAIN
    frozen = PLAIN.copy()
    frozen.flags.writeable = False
    return {
        "fortran": np.asfortranarray(PLAIN), "double": PLAIN.astype(np.float64),
        "columns": wide[:, ::2], "rows": tall[::2], "unaligned": unaligned, "frozen": frozen,
        "reversed": np.ascontiguousarray(PLAIN[::-1])[::-1], "list": PLAIN.tolist(),
        "big endian": PLAIN.astype(">f4"), "transposed": np.ascontiguousarray(PLAIN.T).T,
    }


@pytest.mark.parametrize("kind", equal_arrays())
def test_clothes_do_not_change_the_result(kind):
    X = equal_arrays()[kind]
    expected = milieu.KMeans(3).fit(PLAIN)
    found = milieu.KMeans(3).fit(X)
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    if kind != "list":
        model = _core.kmeans_fit(X, {"num_clusters": 3}, {}, {})["model"]
        np.testing.assert_array_equal(model.arrays()["centers"], expected.cluster_centers_)


def odd_arrays():
    nan = PLAIN.copy()
    nan[3, 1] = np.nan
    inf = PLAIN.copy()
    inf[0, 0] = np.inf
    return {
        "0-d": np.float32(3), "1-d": PLAIN[0], "3-d": np.zeros((2, 3, 4), np.float32),
        "4-d": np.zeros((1, 2, 3, 4)), "no rows": np.zeros((0, 4), np.float32),
        "no columns": np.zeros((4, 0), np.float32), "nan": nan, "inf": inf,
        "too large": PLAIN.astype(np.float64) * 1e300, "complex": PLAIN.astype(np.complex64),
        "objects": np.array([[object()] * 4] * 5), "strings": np.array([["a", "b"], ["c", "d"]]),
        "dates": np.zeros((4, 2), "datetime64[s]"), "records": np.zeros(4, "f4,f4"),
        "none": None, "text": "X.npy", "number": 7, "dict": {"a": 1}, "ragged": [[1, 2], [3]],
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", all_estimators())
@pytest.mark.parametrize("kind", odd_arrays())
def test_odd_arrays_are_refused(cls, kind):
    y = None
    if cls.__name__ in ("DCP", "ICCClassifier", "DistanceLearner"):
        y = np.array([0, 1] * 20)
    with pytest.raises((ValueError, TypeError)):
        fast(cls).fit(odd_arrays()[kind], y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["bool", "int8", "huge ints", "one row", "one column"])
@pytest.mark.parametrize("cls", all_estimators())
def test_small_and_whole_arrays_fit_or_are_refused(cls, kind):
    X = {"bool": PLAIN > 0, "int8": (PLAIN > 0).astype(np.int8),
         "huge ints": (PLAIN > 0).astype(np.int64) * 2**60, "one row": abs(PLAIN[:1]),
         "one column": abs(PLAIN[:, :1])}[kind]
    y = np.arange(len(X)) % 2 if cls.__name__ in ("DCP", "ICCClassifier",
                                                  "DistanceLearner") else None
    try:
        fast(cls).fit(X, y)
    except ValueError as error:
        assert len(str(error)) > 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", all_estimators())
@pytest.mark.parametrize("value", [None, "x", -1, 0, 10**30, 1.5, np.nan, [1], {}, object()],
                         ids=str)
def test_odd_parameters_are_refused_by_name(cls, value):
    X, y, inputs = sample_input(cls)
    first = next(iter(inspect.signature(cls).parameters))
    try:
        fast(cls, **{first: value}).fit(X, y, **inputs)
    except (ValueError, TypeError) as error:
        assert first in str(error)


def test_functions_of_the_core_survive_odd_arguments():
    """The raw bindings, without scikit-learn's validation before them."""
    functions = [name for name in dir(_core) if name.endswith("_fit")]
    assert len(functions) > 15
    for name in functions:
        for X in odd_arrays().values():
            for inputs in ({}, {"weights": "x"}, {"classes": [5, -7]}, {"offsets": [0, 99]},
                           {"context": PLAIN[:, :2]}, {"view": [PLAIN, PLAIN[:3]]},
                           {"groups": {}}):
                with pytest.raises((ValueError, TypeError, KeyError, OverflowError)):
                    getattr(_core, name)(X, {}, inputs, {})
