# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks of estimators, for every estimator."""

import numpy as np
from conftest import all_estimators, fast
from sklearn.utils.estimator_checks import parametrize_with_checks

import milieu


class BinarisedKModes(milieu.KModes):
    """KModes on the checks' real numbers: above the mean of the column, or not."""

    def _rows(self, X, *, reset=False):
        X = super()._rows(X, reset=reset)
        if reset:
            self.thresholds_ = X.mean(axis=0)
        return (X > self.thresholds_).astype(np.float32)

    def _more_tags(self):
        return {"X_types": ["2darray"], "poor_score": True}


def subjects():
    for cls in all_estimators():
        if cls is milieu.KModes:
            yield fast(BinarisedKModes)
        else:
            yield fast(cls)
    yield fast(milieu.GaussianMixture, n_components=1)


@parametrize_with_checks(list(subjects()))
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)


def test_few_checks_are_excused():
    """scikit-learn excuses its KMeans from one check, for a reason that holds here, too.

    Its GaussianMixture is checked with one component and is not excused; neither is ours there.
    """
    assert not milieu.GaussianMixture(n_components=1)._get_tags()["_xfail_checks"]
    allowed = {name: {"check_sample_weights_invariance"}
               for name in ("KMeans", "KModes", "GaussianMixture", "DCP")}
    for cls in all_estimators():
        excused = cls()._get_tags()["_xfail_checks"] or {}
        assert set(excused) <= allowed.get(cls.__name__, set()), cls
        assert all(len(reason) > 20 for reason in excused.values()), cls
