# SPDX-License-Identifier: Apache-2.0
"""What DistanceLearner, LatentCRF and DLGMM take beyond options: costs of exemplars, candidates, callbacks of the
user's, edges."""

import itertools

import numpy as np
import pytest

import milieu
from milieu.crf import Graph, weighted
from milieu.metrics import matched_accuracy


def blurred(seed):
    """As in tests/cli/test_exemplar_costs.py: no single penalty gives these clusters."""
    random = np.random.RandomState(seed)
    offset = np.tile([0.0] * 10 + [3, 3, -5], 4)
    corner = np.repeat(np.arange(4), 13)
    blur = 0.1 * random.rand(52) + (offset == -5)
    points = np.stack([offset + 0.1 * random.randn(52), 8 * (corner % 2) + 0.1 * random.randn(52),
                       8 * (corner // 2) + 0.1 * random.randn(52), blur], axis=1).astype(np.float32)
    return points, 2 * corner + (offset == 3)


def test_exemplars_cost_what_their_features_say():
    (a, y), (b, z), (fresh, truth) = map(blurred, (1, 2, 3))
    settings = dict(max_iter=3000, validations=0)
    columns = milieu.DistanceLearner(**settings).fit([(a, y), (b, z)], exemplar_columns=[3])
    assert columns.exemplar_weights_[0] > 0 and columns.weights_[3] == 0
    labels = milieu.ExemplarClustering(metric=columns).fit(fresh).labels_
    assert matched_accuracy(truth, labels) == 1
    features = milieu.DistanceLearner(**settings).fit(
        [(a[:, :3], y), (b[:, :3], z)], exemplar_features=[a[:, 3:], b[:, 3:]])
    np.testing.assert_allclose(features.exemplar_weights_, columns.exemplar_weights_)
    labels = milieu.ExemplarClustering(metric=features).fit(
        fresh[:, :3], exemplar_features=fresh[:, 3:]).labels_
    assert matched_accuracy(truth, labels) == 1
    with pytest.raises(ValueError, match="must be 52 x 1"):
        milieu.ExemplarClustering(metric=features).fit(fresh[:, :3])


def test_ranges_of_columns_have_distances_of_their_own():
    X, y = blurred(1)
    learner = milieu.DistanceLearner(max_iter=50, validations=0, metric=False).fit(
        X, y, candidates=[(0, 1, "l1"), (1, 3, "rbf", 0.5), (3, 4, "squared-euclidean")])
    distances = learner.pairwise(X[:4])
    w = learner.weights_
    squares = ((X[:4, None, 1:3] - X[None, :4, 1:3]) ** 2).sum(axis=2)
    expected = (w[0] * abs(X[:4, None, 0] - X[None, :4, 0]) + w[1] * np.sqrt(2 - 2 * np.exp(-0.5 * squares))
                + w[2] * (X[:4, None, 3] - X[None, :4, 3]) ** 2)
    np.testing.assert_allclose(distances, expected, rtol=1e-3, atol=1e-4)


def test_price_and_convex_set_may_be_functions():
    X, y = blurred(1)
    settings = dict(max_iter=60, validations=0, calibrate=False, metric=False, constraint="box", box_low=0.0,
                    box_high=0.5)
    given = milieu.DistanceLearner(regularizer="l2", **settings).fit(X, y)
    own = milieu.DistanceLearner(**settings).fit(
        X, y, regularizer_function=lambda w: (float(w @ w) / 2, w),
        projection_function=lambda w: np.clip(w, 0, 0.5))
    np.testing.assert_allclose(own.weights_, given.weights_)
    with pytest.raises(ValueError, match="must give one per weight: 4"):
        milieu.DistanceLearner(**settings).fit(X, y, projection_function=lambda w: w[:2])
    with pytest.raises(ValueError, match="its value and a subgradient"):
        milieu.DistanceLearner(**settings).fit(X, y, regularizer_function=lambda w: 0.0)


def crf_example():
    graph = Graph(3)
    for seen in (0.9, 0.2, 0.8, 0.7, 0.1):
        graph.add_variable([weighted(0, seen), weighted(0, 1 - seen)])
    choice = graph.add_variable([0.0, 0.0, 0.0])
    graph.add_cut([(0, 1, weighted(1)), (3, 4, weighted(1))],
                  counts=[([0, 2, 4], [0.0, weighted(1), weighted(1, 1.5), weighted(1, 1.5)])],
                  robust=[(choice, [0, 1, 2, 3], weighted(1), weighted(2))])
    return graph


def test_cuts_of_higher_order_are_exact():
    graph, w = crf_example(), np.array([1.0, 0.3, 0.5])
    labels = itertools.product(*[range(2)] * 5, range(3))
    best = min(graph.energy(list(each), w) for each in labels)
    found = graph.minimise(w)
    assert found.energy == pytest.approx(best)
    assert found.lower_bound == pytest.approx(best)


def test_counts_and_robust_factors_alone_give_the_same_energy():
    graph = Graph(3)
    for seen in (0.9, 0.2, 0.8, 0.7, 0.1):
        graph.add_variable([weighted(0, seen), weighted(0, 1 - seen)])
    choice = graph.add_variable([0.0, 0.0, 0.0])
    graph.add_potts(0, 1, weighted(1))
    graph.add_potts(3, 4, weighted(1))
    graph.add_count([0, 2, 4], [0.0, weighted(1), weighted(1, 1.5), weighted(1, 1.5)])
    graph.add_robust_pn(choice, [0, 1, 2, 3], weighted(1), weighted(2))
    w = np.array([1.0, 0.3, 0.5])
    for labels in itertools.product(*[range(2)] * 5, range(3)):
        assert graph.energy(list(labels), w) == pytest.approx(crf_example().energy(list(labels), w))


def test_latent_crf_takes_functions():
    example = [(crf_example(), [0, 1, 0, 0, 1, -1])]
    settings = dict(max_iter=40, regularization=0.1)
    given = milieu.LatentCRF(regularizer="l2", constraint="simplex", **settings).fit(example)

    def to_simplex(w):
        ordered = np.sort(w)[::-1]
        shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(w) + 1)
        return np.maximum(w - shifts[np.flatnonzero(ordered > shifts)[-1]], 0)

    own = milieu.LatentCRF(**settings).fit(
        example, regularizer_function=lambda w: (float(w @ w) / 2, w), projection_function=to_simplex)
    np.testing.assert_allclose(own.weights_, given.weights_)


def test_dlgmm_takes_edges_and_full_covariances():
    random = np.random.RandomState(0)
    words = random.randn(4, 3) * 5
    kinds = np.repeat([0, 1], 20)
    patches = np.concatenate([words[random.choice(2, 9) + 2 * kind] + random.randn(9, 3) for kind in kinds])
    grids, offsets = np.full((40, 2), 3), 9 * np.arange(41)
    cell = np.arange(9)
    one = np.concatenate([np.stack([cell[cell % 3 < 2], cell[cell % 3 < 2] + 1], axis=1),
                          np.stack([cell[:6], cell[:6] + 3], axis=1)])
    edges = np.concatenate([one + 9 * d for d in range(40)])
    settings = dict(n_words=4, n_clusters=2, gamma=0.4, word_covariance="full", random_state=1)
    grid = milieu.DLGMM(**settings).fit(patches, offsets=offsets, grids=grids)
    graph = milieu.DLGMM(**settings).fit(patches, offsets=offsets, edges=edges)
    np.testing.assert_array_equal(graph.labels_, grid.labels_)
    assert matched_accuracy(kinds, graph.labels_) == 1
    np.testing.assert_array_equal(graph.predict(patches, offsets=offsets, edges=edges), graph.labels_)
    with pytest.raises(ValueError, match="the patches have no grid"):
        milieu.DLGMM(**settings).fit(patches, offsets=offsets)
