# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from conftest import blobs
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from milieu import DCP
from milieu.metrics import matched_accuracy


@pytest.fixture
def cross():
    """Four arms of a cross: the context decides which pair is split."""
    rng = np.random.default_rng(3)
    arms = {name: rng.normal(place, 0.5, (30, 2)).astype(np.float32)
            for name, place in [("east", (6, 0)), ("west", (-6, 0)), ("middle", (0, 0)),
                                ("north", (0, 6)), ("south", (0, -6))]}
    return arms


def test_context_between_two_groups_separates_them(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    truth = np.repeat([0, 1], 30)
    dcp = DCP(n_clusters=2).fit(X, context=cross["middle"])
    assert matched_accuracy(truth, dcp.labels_) == 1
    assert dcp.confidence_ > 0.8
    assert dcp.coef_.shape == (2, 2) and dcp.intercept_.shape == (2,)
    assert (dcp.margins_ > 0).all()


def test_marks_in_y_are_the_same_as_a_context(cross):
    X = np.concatenate([cross["east"], cross["middle"], cross["west"]])
    y = np.repeat([1, -1, 1], 30)
    marked = DCP().fit(X, y)
    apart = DCP().fit(X[y == 1], context=X[y == -1])
    assert (marked.labels_[y == -1] == -1).all()
    np.testing.assert_array_equal(marked.labels_[y == 1], apart.labels_)
    np.testing.assert_array_equal(marked.coef_, apart.coef_)
    assert np.isnan(marked.margins_[y == -1]).all()


def test_the_lower_of_two_marks_is_the_context(cross):
    X = np.concatenate([cross["east"], cross["middle"], cross["west"]])
    y = np.repeat([1, -1, 1], 30)
    np.testing.assert_array_equal(DCP().fit(X, y).coef_, DCP().fit(X, y == 1).coef_)


def test_context_goes_through_a_pipeline_scaled(cross):
    X = np.concatenate([cross["east"], cross["middle"], cross["west"]]) * [1, 1000]
    y = np.repeat([1, -1, 1], 30)
    pipeline = make_pipeline(StandardScaler(), DCP()).fit(X, y)
    scaled = StandardScaler().fit_transform(X).astype(np.float32)
    np.testing.assert_array_equal(pipeline[-1].coef_, DCP().fit(scaled, y).coef_)


def test_prediction_is_the_largest_decision(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    dcp = DCP().fit(X, context=cross["middle"])
    np.testing.assert_array_equal(dcp.predict(X), dcp.decision_function(X).argmax(axis=1))
    np.testing.assert_array_equal(dcp.predict(X), dcp.labels_)


def test_links_and_memberships_are_kept(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    must = [(0, 30), (1, 31)]
    dcp = DCP().fit(X, context=cross["middle"], must_link=must, cannot_link=[(0, 1)])
    assert dcp.labels_[0] == dcp.labels_[30] and dcp.labels_[1] == dcp.labels_[31]
    assert dcp.labels_[0] != dcp.labels_[1]
    members = np.full(60, -1)
    members[:3] = [1, 0, 1]
    fixed = DCP().fit(X, context=cross["middle"], memberships=members)
    assert fixed.labels_[:3].tolist() == [1, 0, 1]


def test_links_count_the_rows_of_x_when_y_marks_the_context(cross):
    X = np.concatenate([cross["middle"], cross["east"], cross["west"]])
    y = np.repeat([-1, 1, 1], 30)
    dcp = DCP().fit(X, y, must_link=[(30, 60)])
    assert dcp.labels_[30] == dcp.labels_[60]
    with pytest.raises(ValueError, match="must_link names a row of the context"):
        DCP().fit(X, y, must_link=[(0, 60)])


def test_ranking_names_contexts_and_leaves_the_estimator_alone(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    dcp = DCP()
    ranking = dcp.rank_contexts(X, {"middle": cross["middle"], "north": cross["north"],
                                    "south": cross["south"]})
    assert {context.name for context in ranking} == {"middle", "north", "south", "all contexts"}
    values = [context.match for context in ranking]
    assert values == sorted(values, reverse=True) and values[0] == 1
    cross["all contexts"] = np.concatenate([cross["middle"], cross["north"], cross["south"]])
    assert not hasattr(dcp, "labels_")
    again = clone(dcp).fit(X, context=cross[ranking[0].name])
    assert matched_accuracy(again.labels_, ranking[0].labels) == 1


def test_ranking_takes_weights_and_constraints_issue30(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    contexts = {"middle": cross["middle"], "north": cross["north"]}
    for ranked in DCP().rank_contexts(X, contexts, memberships=np.r_[1, np.full(len(X) - 1, -1)],
                                      cannot_link=[(0, 1)]):
        assert ranked.labels[0] == 1 and ranked.labels[1] == 0
    plain = DCP().rank_contexts(X, contexts)
    light = DCP().rank_contexts(X, contexts, sample_weight=np.r_[np.ones(30), np.full(30, 1e-6)])
    assert [r.objective for r in plain] != [r.objective for r in light]


def test_vote_of_the_contexts_issue30(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    dcp = DCP()
    ranking = dcp.rank_contexts(X, {"middle": cross["middle"], "north": cross["north"]})
    vote = dcp.vote_contexts(ranking)
    votes = [r.labels if (r.labels == ranking[0].labels).mean() >= .5 else 1 - r.labels
             for r in ranking]
    share = np.mean(votes, axis=0)
    assert (vote.labels == np.where(share == .5, votes[0], share > .5)).all()
    np.testing.assert_allclose(vote.agreement, np.maximum(share, 1 - share))
    with pytest.raises(ValueError, match="no splits to vote"):
        dcp.vote_contexts([])


def test_ranking_takes_similarities_issue30(cross):
    X = np.concatenate([cross["east"], cross["west"]])
    contexts = {"middle": cross["middle"], "north": cross["north"]}
    everything = np.concatenate([X, *contexts.values()])
    settings = dict(whiten="none", center=False, random_state=1)
    linear = DCP(**settings).rank_contexts(X, contexts)
    given = DCP(kernel="precomputed", **settings).rank_contexts(
        X @ everything.T, {name: rows @ everything.T for name, rows in contexts.items()})
    assert [r.name for r in given] == [r.name for r in linear]
    assert all(matched_accuracy(a.labels, b.labels) == 1 for a, b in zip(given, linear))
    with pytest.raises(ValueError, match="must have 120 with kernel='precomputed'"):
        DCP(kernel="precomputed").rank_contexts(X @ X.T, contexts_of_width(contexts, len(X)))


def contexts_of_width(contexts, width):
    return {name: np.zeros((len(rows), width), np.float32) for name, rows in contexts.items()}


@pytest.mark.parametrize("arguments, message", [
    ({}, "requires y to be passed"),
    ({"context": np.zeros((3, 5), np.float32)}, "context has 5 features, X has 4"),
    ({"context": np.zeros(3, np.float32)}, "Expected 2D array"),
    ({"y": np.array([0, 1, 2] * 40)}, "y marks no context"),
    ({"y": np.full(120, -1)}, "y marks every row as context"),
    ({"y": np.full(120, -1), "context": np.zeros((3, 4))}, "only one of y and context"),
])
def test_wrong_context_is_explained(arguments, message):
    X, _ = blobs()
    with pytest.raises(ValueError, match=message):
        DCP().fit(X, **arguments)


def test_errors_use_the_name_the_user_wrote():
    X, _ = blobs()
    with pytest.raises(ValueError, match=r"n_clusters is 0, must be at least 1"):
        DCP(n_clusters=0).fit(X, context=X)
    with pytest.raises(ValueError, match=r"n_init is 'many'"):
        DCP(n_init="many").fit(X, context=X)
    with pytest.raises(ValueError, match=r"loss is 'hing'.*hinge, squared-hinge, huber or logistic"):
        DCP(loss="hing").fit(X, context=X)
