# SPDX-License-Identifier: Apache-2.0
"""Graphs for :class:`milieu.LatentCRF`: variables, costs that are linear in the weights, factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Union

from . import _core
from ._types import Array

__all__ = ["Factor", "Graph", "Solution", "weighted"]

# A number, or (constant, {weight: coefficient}).
Cost = Union[float, "tuple[float, Mapping[int, float]]"]


def weighted(weight: int, coefficient: float = 1.0) -> tuple[float, dict[int, float]]:
    """Return the cost ``coefficient * w[weight]``."""
    return (0.0, {weight: coefficient})


class Factor(Protocol):
    """A potential written in Python. ``minimise(unaries, w)``, which gives the labels that minimise
    unaries and value together, is needed where the labellings are too many to try them all."""

    def value(self, labels: list[int], w: Array) -> float: ...

    def gradient(self, labels: list[int]) -> Sequence[float]: ...


@dataclass(frozen=True)
class Solution:
    """A labelling with its energy and a bound that no labelling is below."""

    labels: Array
    energy: float
    lower_bound: float
    n_iter: int


class Graph:
    """A conditional random field on a hypergraph.

    Parameters
    ----------
    n_weights : int
        How many weights the costs may name.
    """

    def __init__(self, n_weights: int) -> None:
        self._graph = _core.crf_graph(n_weights)

    @property
    def n_weights(self) -> int:
        """How many weights the costs may name."""
        return int(self._graph.n_weights)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return int(self._graph.n_variables)

    def add_variable(self, costs: Iterable[Cost]) -> int:
        """Add a variable with the cost of each of its labels; returns its number."""
        return int(self._graph.add_variable(list(costs)))

    def add_potts(self, first: int, second: int, cost: Cost) -> None:
        """Add a cost for two variables that differ."""
        self._graph.add_clique(self._graph.potts(first, second, cost))

    def add_pn(self, variables: Sequence[int], agree: Iterable[Cost], differ: Cost) -> None:
        """Add a P^n Potts factor: ``agree[l]`` where all variables have label l, else ``differ``."""
        self._graph.add_clique(self._graph.pn(list(variables), list(agree), differ))

    def add_count(self, variables: Sequence[int], costs: Iterable[Cost]) -> None:
        """Add ``costs[c]`` where c of these two-label variables have label 1."""
        self._graph.add_clique(self._graph.count(list(variables), list(costs)))

    def add_robust_pn(self, choice: int, variables: Sequence[int], disagree: Cost,
                      none: Cost) -> None:
        """Add a robust P^n factor: the variable ``choice``, with one label more than the others, says
        which label the others should have, each paying ``disagree`` otherwise; its last label says
        none and costs ``none``."""
        self._graph.add_clique(self._graph.robust_pn(choice, list(variables), disagree, none))

    def add_table(self, variables: Sequence[int], costs: Iterable[Cost]) -> None:
        """Add a cost per labelling; the last variable's label runs fastest."""
        self._graph.add_clique(self._graph.table(list(variables), list(costs)))

    def add_factor(self, factor: Factor, variables: Sequence[int]) -> None:
        """Add a potential written in Python."""
        self._graph.add_clique(self._graph.python(factor, list(variables)))

    def add_tree(self, edges: Iterable[tuple[int, int, Cost]]) -> None:
        """Add Potts factors without a cycle as one slave, minimised by dynamic programming."""
        self._graph.add_tree([self._graph.potts(a, b, cost) for a, b, cost in edges])

    def add_cut(self, edges: Iterable[tuple[int, int, Cost]] = (),
                counts: Iterable[tuple[Sequence[int], Iterable[Cost]]] = (),
                robust: Iterable[tuple[int, Sequence[int], Cost, Cost]] = ()) -> None:
        """Add factors of two-label variables as one slave, minimised by one minimum cut: Potts factors
        (``edges``), counts whose costs are concave (as in :meth:`add_count`) and robust P^n factors (as
        in :meth:`add_robust_pn`; their choices have three labels)."""
        graph = self._graph
        graph.add_cut([graph.potts(a, b, cost) for a, b, cost in edges]
                      + [graph.count(list(variables), list(costs)) for variables, costs in counts]
                      + [graph.robust_pn(choice, list(variables), disagree, none)
                         for choice, variables, disagree, none in robust])

    def energy(self, labels: Any, w: Any) -> float:
        """Return the energy of a labelling."""
        return float(self._graph.energy(labels, w))

    def minimise(self, w: Any, max_iter: int = 200) -> Solution:
        """Find a labelling of low energy, and bound how low it can be."""
        return Solution(**self._graph.minimise(w, max_iter))
