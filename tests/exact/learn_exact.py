#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training of distances against exact linear programs on small sets (SciPy's HiGHS): the objective at
the weights that `milieu exemplar learn` returns must be within 2 % of the optimum of the training
problem whose inner minimum is the linear relaxation; and the relaxation is never above the minimum
over all choices of exemplars.

    tests/exact/learn_exact.py [NUMBER OF INSTANCES]

Ends with 77 (skipped) where SciPy is not installed."""

import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix
except ImportError:
    print("skipped: SciPy is not installed")
    sys.exit(77)

PROGRAM = os.environ.get("MILIEU_PROGRAM", "milieu")
ALPHA = BETA = 1.0
TAU = 1e-3


def make_set(random, n, clusters, columns):
    """Groups in the first two columns, noise in the others."""
    labels = np.arange(n) % clusters
    centers = random.normal(0, 1.5, (clusters, columns))
    spread = np.where(np.arange(columns) < 2, 0.4, 1.5)
    points = centers[labels] * (np.arange(columns) < 2) + spread * random.normal(0, 1, (n, columns))
    return points.astype(np.float32), labels


def features(points):
    gaps = points[:, None].astype(float) - points[None]
    return gaps ** 2


def best_exemplars(distances, labels):
    """The member of each cluster with the least sum of distances, for every sample."""
    chosen = np.empty(len(labels), int)
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        sums = distances[np.ix_(members, members)].sum(axis=0)
        chosen[members] = members[sums.argmin()]
    return chosen


class Dual:
    """Rows of the dual of the relaxation of one set, in columns of the whole program: v_p (n), a_pq
    (n x n, the diagonal is not used), b_q (n), after `first`; w is in columns 0 .. F - 1."""

    def __init__(self, first, n):
        self.v, self.a, self.b = first, first + n, first + n + n * n
        self.end = self.b + n


def add_dual_rows(rows, dual, f, labels, penalty, w=None):
    """v_p - a_pq <= w.f_pq + beta [same]; v_q + sum_p a_pq - b_q <= d + beta - alpha;
    sum_C b_q <= 2 alpha. With `w` the weights are numbers."""
    n = len(labels)
    for p in range(n):
        for q in range(n):
            if p == q:
                continue
            entries = [(dual.v + p, 1.0), (dual.a + p * n + q, -1.0)]
            limit = BETA * (labels[p] == labels[q])
            if w is None:
                entries += [(t, -f[p, q, t]) for t in range(f.shape[2])]
            else:
                limit += f[p, q] @ w
            rows.append((entries, limit))
    for q in range(n):
        entries = [(dual.v + q, 1.0), (dual.b + q, -1.0)]
        entries += [(dual.a + p * n + q, 1.0) for p in range(n) if p != q]
        rows.append((entries, penalty + BETA - ALPHA))
    for c in np.unique(labels):
        rows.append(([(dual.b + q, 1.0) for q in np.flatnonzero(labels == c)], 2 * ALPHA))


def solve(cost, rows, free):
    i, j, value = [], [], []
    for row, (entries, _) in enumerate(rows):
        for column, number in entries:
            i.append(row), j.append(column), value.append(number)
    matrix = coo_matrix((value, (i, j)), shape=(len(rows), len(cost)))
    bounds = [(None, None) if k in free else (0, None) for k in range(len(cost))]
    done = linprog(cost, A_ub=matrix.tocsr(), b_ub=[limit for _, limit in rows], bounds=bounds,
                   method="highs")
    assert done.status == 0, done.message
    return done


def relaxation(f, labels, penalty, w):
    n = len(labels)
    dual = Dual(0, n)
    rows = []
    add_dual_rows(rows, dual, f, labels, penalty, w)
    cost = np.zeros(dual.end)
    cost[dual.v:dual.v + n] = -1
    done = solve(cost, rows, set(range(dual.v, dual.v + n)))
    return -done.fun - ALPHA * len(np.unique(labels)) - BETA * n


def least_margin_energy(f, labels, penalty, w):
    n = len(labels)
    distances = f @ w + BETA * (labels[:, None] == labels[None])
    best = np.inf
    for choice in range(1, 1 << n):
        chosen = [q for q in range(n) if choice >> q & 1]
        energy = len(chosen) * (penalty + BETA) - BETA * n
        energy += sum(distances[p, chosen].min() for p in range(n) if not choice >> p & 1)
        counts = np.bincount(labels[chosen], minlength=labels.max() + 1)
        best = min(best, energy - ALPHA * np.abs(1 - counts).sum())
    return best


def objective(sets, penalty, w):
    """tau |w| + mean over samples of E(x^k) - R, at the best x^k."""
    total, count = 0.0, 0
    for points, labels in sets:
        f = features(points)
        distances = f @ w
        chosen = best_exemplars(distances, labels)
        energy = distances[np.arange(len(labels)), chosen].sum() + penalty * len(np.unique(labels))
        total += energy - relaxation(f, labels, penalty, w)
        count += len(labels)
    return TAU * w.sum() + total / count


def exact_training(sets, penalty, start):
    """Linear programs and latent steps in turns until the exemplars stay."""
    w, before = start, None
    count = sum(len(labels) for _, labels in sets)
    for _ in range(20):
        chosen = [best_exemplars(features(points) @ w, labels) for points, labels in sets]
        if before is not None and all((a == b).all() for a, b in zip(chosen, before)):
            break
        before = chosen
        num_weights = sets[0][0].shape[1]
        duals, first = [], num_weights
        for _, labels in sets:
            duals.append(Dual(first, len(labels)))
            first = duals[-1].end
        cost, rows, free = np.zeros(first), [], set()
        cost[:num_weights] = TAU
        for (points, labels), dual, exemplars in zip(sets, duals, chosen):
            f, n = features(points), len(labels)
            cost[:num_weights] += f[np.arange(n), exemplars].sum(axis=0) / count
            cost[dual.v:dual.v + n] = -1 / count
            free |= set(range(dual.v, dual.v + n))
            add_dual_rows(rows, dual, f, labels, penalty)
        w = solve(cost, rows, free).x[:num_weights]
    return w


def learn(folder, sets, penalty):
    trains = []
    for k, (points, labels) in enumerate(sets):
        np.save(f"{folder}/X{k}.npy", points)
        np.save(f"{folder}/y{k}.npy", labels)
        trains.append(f"{folder}/X{k}.npy:{folder}/y{k}.npy")
    done = subprocess.run([PROGRAM, "exemplar", "learn", *trains, "--normalize=false", "--penalty",
                           str(penalty), "--json", "--threads", "1"],
                          capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout)["weights"])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    worst = 0.0
    for seed in range(count):
        random = np.random.RandomState(seed)
        sets = [make_set(random, n, 3, 4) for n in (11, 9)]
        penalty = 3.0
        with tempfile.TemporaryDirectory(prefix="milieu-learn-") as folder:
            learned = learn(folder, sets, penalty)
        exact = exact_training(sets, penalty, np.full(4, 0.75))
        ours, best = objective(sets, penalty, learned), objective(sets, penalty, exact)
        for points, labels in sets:
            relaxed = relaxation(features(points), labels, penalty, learned)
            least = least_margin_energy(features(points), labels, penalty, learned)
            assert relaxed <= least + 1e-7, (seed, relaxed, least)
        ratio = ours / best
        worst = max(worst, ratio)
        print(f"seed {seed}: learned {ours:.5f}, exact {best:.5f}, ratio {ratio:.4f}")
    print(f"worst ratio {worst:.4f}, must be at most 1.02")
    return 0 if worst <= 1.02 else 1


if __name__ == "__main__":
    sys.exit(main())
