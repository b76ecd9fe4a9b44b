# SPDX-License-Identifier: Apache-2.0
"""milieu.advise: the verdicts of `milieu icc advise` in Python."""

import numpy as np
import pytest

import milieu


def union(seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 4))
    X[:100, 0] += 9
    X[200:, 1] += 6
    return X, np.repeat(["both", "one"], [200, 100])


def test_unions_are_found_with_their_parts():
    X, y = union()
    both, one = milieu.advise(X, y)
    assert (both.name, both.verdict, len(both.parts)) == ("both", "split", 2)
    assert both.gap_p < 0.01
    assert {tuple(part) for part in both.parts} == {tuple(range(100)), tuple(range(100, 200))}
    assert (one.verdict, len(one.parts), one.context) == ("keep", 1, None)


def test_options_are_those_of_the_command():
    X, y = union()
    assert milieu.advise(X, y, min_size=60)[1].verdict == "too few samples"
    with pytest.raises(ValueError, match="level"):
        milieu.advise(X, y, level=2.0)
    with pytest.raises((TypeError, ValueError), match="nonsense"):
        milieu.advise(X, y, nonsense=1)
