# SPDX-License-Identifier: Apache-2.0
"""Exemplar clustering against the exact optimum: random instances solved by an integer program.

For every instance: lower bound <= optimum <= energy, and energy = optimum. Needs SciPy's HiGHS; run as
`MILIEU_PROGRAM=... python3 exemplar_exact.py [number of instances]`.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_matrix
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = os.environ["MILIEU_PROGRAM"]
KINDS = ("uniform", "gaussian", "asymmetric", "duplicates", "negative", "penalties", "lists")


def make_costs(kind, n, random):
    points = random.random((n, 2)) if kind != "gaussian" else random.normal(size=(n, 2))
    if kind == "duplicates":
        points[1::3] = points[: len(points[1::3]) * 3 : 3][: len(points[1::3])]
    costs = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    if kind == "asymmetric":
        costs = random.random((n, n))
    if kind == "negative":
        costs -= 0.3
    np.fill_diagonal(costs, 0)
    return costs.astype(np.float32)


def integer_optimum(costs, penalties, allowed):
    """Variables x[p, q]: p is served by q; x[q, q]: q is an exemplar."""
    n = len(costs)
    objective = costs.astype(float).copy()
    np.fill_diagonal(objective, penalties)
    index = np.arange(n * n).reshape(n, n)
    rows, cols, values = [], [], []
    for p in range(n):  # every sample is served once
        rows += [p] * n
        cols += list(index[p])
        values += [1.0] * n
    row = n
    for p in range(n):  # only by exemplars
        for q in range(n):
            if p != q:
                rows += [row, row]
                cols += [index[p, q], index[q, q]]
                values += [1.0, -1.0]
                row += 1
    matrix = coo_matrix((values, (rows, cols)), shape=(row, n * n)).tocsr()
    lower = np.r_[np.ones(n), np.full(row - n, -np.inf)]
    upper = np.r_[np.ones(n), np.zeros(row - n)]
    solution = milp(objective.ravel(), constraints=LinearConstraint(matrix, lower, upper),
                    integrality=np.ones(n * n),
                    bounds=Bounds(0, (allowed | np.eye(n, dtype=bool)).ravel().astype(float)),
                    options={"mip_rel_gap": 0})
    assert solution.status == 0, solution.message
    return solution.fun


def run_milieu(folder, kind, costs, penalties, allowed, start):
    def save(name, values):
        np.save(os.path.join(folder, name), values)
        return os.path.join(folder, name)

    path = save("costs.npy", costs)
    flags = ["--distance", "precomputed"]
    if kind == "lists":
        p, q = np.nonzero(allowed & ~np.eye(len(costs), dtype=bool))
        flags = ["--lists", save("lists.npy", np.c_[p, q, costs[p, q]])]
    if kind == "penalties":
        flags += ["--penalties", save("penalties.npy", penalties)]
    else:
        flags += ["--penalty", repr(float(penalties[0]))]
    done = subprocess.run([PROGRAM, "exemplar", path, *flags, "--rel-gap", "0", "--start", start,
                           "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def energy_of(summary, costs, penalties, allowed):
    """The energy of the exemplars named, from the costs alone."""
    chosen = np.array(summary["exemplars"])
    served = np.where(allowed, costs.astype(float), np.inf)[:, chosen].min(1)
    served[chosen] = penalties[chosen]
    return served.sum()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    random = np.random.default_rng(1)
    failures = exact = closed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            kind = KINDS[i % len(KINDS)]
            n = int(random.integers(5, 41))
            costs = make_costs(kind, n, random)
            scale = float(np.median(np.abs(costs[~np.eye(n, dtype=bool)])))
            # Rounded to float, which is what a file of penalties holds.
            penalties = np.full(n, np.float32(scale * 10 ** random.uniform(-1, 1)))
            if kind == "penalties":
                penalties *= random.random(n) + 0.5
            penalties = penalties.astype(np.float32).astype(float)
            allowed = random.random((n, n)) < (0.3 if kind == "lists" else 2)
            optimum = integer_optimum(costs, penalties, allowed)
            found = run_milieu(folder, kind, costs, penalties, allowed,
                               ("greedy", "stabilities")[i % 2])
            tolerance = 1e-6 * max(1.0, abs(optimum))
            name = f"instance {i} ({kind}, n {n}, penalty {penalties[0]})"
            exact += found["energy"] <= optimum + tolerance
            closed += found["gap"] < 1e-6
            if abs(energy_of(found, costs, penalties, allowed) - found["energy"]) > tolerance:
                print(f"{name}: energy {found['energy']} is not that of its exemplars")
                failures += 1
            if not found["lower_bound"] - tolerance <= optimum <= found["energy"] + tolerance:
                print(f"{name}: bound {found['lower_bound']}, optimum {optimum}, energy "
                      f"{found['energy']}")
                failures += 1
            elif found["energy"] > optimum + tolerance:
                print(f"{name}: energy {found['energy']} is above the optimum {optimum}")
                failures += 1
    print(f"{count} instances: {exact} exact, {closed} with a closed gap, {failures} failures")
    return 1 if failures or not closed else 0


if __name__ == "__main__":
    sys.exit(main())
