# SPDX-License-Identifier: Apache-2.0
"""LatentCRF: graphs from Python, against brute force; factors of the library and of Python."""

import itertools
import pickle

import numpy as np
import pytest

import milieu
from milieu.crf import Graph, weighted


class PythonPotts:
    """The Potts factor again, in Python."""

    def __init__(self, weight, n_weights):
        self.weight, self.n_weights = weight, n_weights

    def value(self, labels, w):
        return w[self.weight] * (labels[0] != labels[1])

    def gradient(self, labels):
        slope = np.zeros(self.n_weights)
        slope[self.weight] = labels[0] != labels[1]
        return slope


def chain(signal, factor="potts"):
    """A row of binary variables: w[0] weighs the signal, w[1] the change from one to the next."""
    graph = Graph(2)
    for value in signal:
        graph.add_variable([(0.0, {0: value}), (0.0, {0: 1 - value})])
    edges = [(i, i + 1, weighted(1)) for i in range(len(signal) - 1)]
    if factor == "tree":
        graph.add_tree(edges)
    elif factor == "cut":
        graph.add_cut(edges)
    elif factor == "table":
        for a, b, _ in edges:
            graph.add_table([a, b], [0.0, weighted(1), weighted(1), 0.0])
    else:
        for a, b, cost in edges:
            if factor == "python":
                graph.add_factor(PythonPotts(1, 2), [a, b])
            else:
                graph.add_potts(a, b, cost)
    return graph


KINDS = ["potts", "tree", "cut", "table", "python"]


@pytest.mark.parametrize("kind", KINDS)
def test_minimum_is_that_of_brute_force(kind):
    signal = np.random.default_rng(0).random(7)
    graph, w = chain(signal, kind), np.array([1.0, 0.4])
    best = min(graph.energy(labels, w) for labels in itertools.product([0, 1], repeat=7))
    found = graph.minimise(w)
    assert found.energy == pytest.approx(best)
    assert found.lower_bound <= best + 1e-9
    assert graph.energy(found.labels, w) == pytest.approx(found.energy)


def noisy_rows(seed, n=12):
    """Steps with noise: neighbours must count, or the noise is followed."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) >= rng.integers(3, n - 3)).astype(int)
    return np.clip(truth * 0.4 + 0.3 + rng.normal(0, 0.25, n), 0, 1), truth


@pytest.mark.parametrize("kind", ["potts", "tree", "python"])
def test_training_learns_that_neighbours_agree(kind):
    examples = [(chain(signal, kind), truth) for signal, truth in map(noisy_rows, range(12))]
    learned = milieu.LatentCRF(max_iter=60 if kind == "python" else 200).fit(examples)
    assert learned.weights_[1] > 0.1
    wrong = {"learned": 0, "alone": 0}
    for signal, truth in map(noisy_rows, range(100, 130)):
        wrong["learned"] += int((learned.predict([chain(signal)])[0] != truth).sum())
        wrong["alone"] += int(((signal > 0.5) != truth).sum())
    assert wrong["learned"] < 0.6 * wrong["alone"]


def test_python_factors_give_the_weights_of_the_library():
    rows = list(map(noisy_rows, range(6)))
    fits = [milieu.LatentCRF(max_iter=30).fit([(chain(s, kind), t) for s, t in rows])
            for kind in ("potts", "python")]
    np.testing.assert_allclose(fits[0].weights_, fits[1].weights_, rtol=1e-9)


def test_latent_variables_are_completed():
    signal, truth = noisy_rows(1)
    labels = truth.copy()
    labels[3] = -1
    learned = milieu.LatentCRF(max_iter=50).fit([(chain(signal), labels)])
    completed = learned.completed_labels_[0]
    assert completed[3] in (0, 1)
    np.testing.assert_array_equal(np.delete(completed, 3), np.delete(truth, 3))


def test_pn_factor_prefers_agreement():
    graph = Graph(1)
    for cost in (0.2, 0.2, -0.3):
        graph.add_variable([0.0, cost])
    graph.add_pn([0, 1, 2], [0.0, 0.0], weighted(0))
    assert graph.minimise([0.0]).labels.tolist() == [0, 0, 1]
    assert graph.minimise([5.0]).labels.tolist() == [0, 0, 0]


def test_exceptions_of_python_factors_arrive():
    class Broken(PythonPotts):
        def value(self, labels, w):
            raise RuntimeError("no value today")

    graph = Graph(2)
    for _ in range(2):
        graph.add_variable([0.0, 1.0])
    graph.add_factor(Broken(1, 2), [0, 1])
    with pytest.raises(RuntimeError, match="no value today"):
        graph.minimise([1.0, 1.0])
    with pytest.raises(RuntimeError, match="no value today"):
        milieu.LatentCRF(max_iter=3).fit([(graph, [0, 1])])


@pytest.mark.parametrize("call, message", [
    (lambda g: g.add_variable([weighted(7)]), "weight 7, the graph has 2"),
    (lambda g: g.add_potts(0, 9, 1.0), "no variable 9"),
    (lambda g: g.minimise([1.0]), "w has 1 entries"),
    (lambda g: g.energy([0, 5], [1.0, 1.0]), "label 5"),
    (lambda g: g.energy([0, -1], [1.0, 1.0]), "label -1"),
    (lambda g: g.energy([0], [1.0, 1.0]), "1 entries, the graph has 2 variables"),
    (lambda g: milieu.LatentCRF().fit([(g, [0, 3])]), "label 3"),
    (lambda g: milieu.LatentCRF().fit([g]), "list of pairs"),
    (lambda g: milieu.LatentCRF().fit(np.zeros((3, 2))), "list of pairs"),
])
def test_wrong_graphs_are_explained(call, message):
    graph = Graph(2)
    for _ in range(2):
        graph.add_variable([0.0, weighted(0)])
    with pytest.raises(ValueError, match=message):
        call(graph)


def test_trained_weights_survive_a_pickle():
    signal, truth = noisy_rows(1)
    learned = milieu.LatentCRF(max_iter=5).fit([(chain(signal), truth)])
    again = pickle.loads(pickle.dumps(learned))
    np.testing.assert_array_equal(again.weights_, learned.weights_)
