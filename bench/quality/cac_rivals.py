#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the problems of `milieu reproduce cac held-out`.

    milieu reproduce cac held-out --out DIR
    bench/quality/cac_rivals.py DIR [--seeds 3]

Every folder of DIR/cac_problems has view0.npy, view1.npy, ... and classes.npy; DIR/cac_views.csv says
which of them had a part in cac's defaults, and cac's errors. Views are scaled to unit total variance
and put side by side, except where a column says otherwise. Errors in %, after the best one-to-one match
of clusters and classes, means of the seeds.

`averaged`: spectral clustering of the mean of the views' self-tuned affinities, each of 20 neighbours.
`co-regularised`: pairwise co-regularised multi-view spectral clustering [Kumar11] on the same
affinities: eigenvectors of each view's normalised affinity + 0.02 sum of U U^T over the other views,
five rounds, then k-means on all views' rows side by side.

Figures are kept in DIR/cac_rivals.csv with a fingerprint of their problem: a run that was stopped
continues, and figures of other problems are not taken."""

import argparse
import csv
import hashlib
import itertools
import os
import pathlib
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np  # noqa: E402
from scipy.sparse.linalg import LinearOperator, eigsh  # noqa: E402
from scipy.stats import ttest_rel, wilcoxon  # noqa: E402

from baselines import (NEIGHBOURS, baselines_on, error_of, graph, kmeans, laplacian,  # noqa: E402
                       leading, spectral, standardised)

RULES = ("Ward",)  # one result whatever the seed
COUPLING = 0.02  # the best of 0.02, 0.05, 0.1, 0.2 and 0.5 on the ten triples of mfeat that chose
ROUNDS = 5


def scaled(view):
    view = view.astype(np.float64) - view.mean(0)
    return view / max(np.sqrt((view**2).sum() / len(view)), 1e-300)


def unit_rows(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def coupled(matrix, others, k):
    """Leading eigenvectors of matrix + COUPLING sum U U^T, which is never formed."""
    joined = np.hstack(others)

    def product(x):
        return matrix @ x + COUPLING * (joined @ (joined.T @ x))
    operator = LinearOperator(matrix.shape, product, matmat=product, dtype=float)
    return eigsh(operator, k=k, which="LA", v0=np.ones(len(joined)), ncv=min(len(joined) - 1, 4 * k + 20))[1]


def co_regularised(views, k, seed):
    matrices = [laplacian(graph(view, NEIGHBOURS, True)) for view in views]
    vectors = [leading(matrix, k) for matrix in matrices]
    for _, v in itertools.product(range(ROUNDS), range(len(views))):
        vectors[v] = coupled(matrices[v], vectors[:v] + vectors[v + 1:], k)
    return kmeans(np.hstack([unit_rows(each) for each in vectors]), k, seed)


def methods_on(views, k, seed):
    raw = np.hstack(views).astype(np.float64)
    each = [scaled(view) for view in views]
    return {
        "k-means raw": lambda: kmeans(raw, k, seed),
        **baselines_on(np.hstack(each), k, seed),
        "averaged": lambda: spectral(sum(graph(view, NEIGHBOURS, True) for view in each), k, seed),
        "co-regularised": lambda: co_regularised(each, k, seed),
    }


class Kept:
    """Errors and CPU seconds in a file that grows by one line per run."""

    def __init__(self, path):
        self.path, self.figures = path, {}
        if path.exists():
            with open(path, newline="") as file:
                for *key, error, seconds in csv.reader(file):
                    self.figures[tuple(key)] = float(error), float(seconds)

    def get(self, key, compute):
        key = tuple(map(str, key))
        if key not in self.figures:
            began = time.process_time()
            error = compute()
            self.figures[key] = error, time.process_time() - began
            with open(self.path, "a", newline="") as file:
                csv.writer(file).writerow((*key, *self.figures[key]))
        return self.figures[key]


def figures_of(folder, seeds, names, kept):
    """Name of a method to its mean error and mean CPU seconds."""
    classes = np.load(folder / "classes.npy")
    views = [np.load(path) for path in sorted(folder.glob("view*.npy"))]
    print_of = hashlib.sha256(b"".join(array.tobytes() for array in (classes, *views))).hexdigest()[:16]
    found = {}
    for seed in range(seeds):
        methods = methods_on(views, int(classes.max()) + 1, seed)
        for name in names or methods:
            if seed == 0 or name not in RULES:
                found.setdefault(name, []).append(kept.get(
                    (folder.name, print_of, name, seed), lambda: error_of(methods[name](), classes)))
    return {name: tuple(np.mean(values, 0)) for name, values in found.items()}


def cac_errors(path):
    """Problem to (has a part in the choice, cac's error), from the table of the program."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["problem"]: (row["used for the choice"] == "yes", float(row["cac"])) for row in rows
            if row["cac"] != "-"}


def against(errors, cac):
    """Largest lag of cac and p of the paired tests: Student's, and Wilcoxon's of the ranks."""
    lag = np.max(cac - errors)
    if np.allclose(errors, cac):
        return [f"{lag:.1f}", "", ""]
    return [f"{lag:.1f}", f"{ttest_rel(errors, cac).pvalue:.2g}", f"{wilcoxon(errors, cac).pvalue:.2g}"]


def show(title, rows):
    """rows: (problem, cac's error, method -> (error, seconds))."""
    names = list(rows[0][2])
    print(f"\n{title}\n\n| problem | " + " | ".join(names) + " | cac |")
    print("| --- |" + " ---: |" * (len(names) + 1))
    for problem, cac, found in rows:
        print(f"| {problem} | " + " | ".join(f"{found[name][0]:.1f}" for name in names) + f" | {cac:.1f} |")
    cac = np.array([row[1] for row in rows])
    errors = {name: np.array([row[2][name][0] for row in rows]) for name in names}
    tests = {name: against(errors[name], cac) for name in names}
    print(f"| **mean of {len(rows)}** | " + " | ".join(f"**{errors[name].mean():.1f}**" for name in names)
          + f" | **{cac.mean():.1f}** |")
    for i, what in enumerate(("cac behind it by at most", "p of the paired difference (t)", "p (ranks)")):
        print(f"| {what} | " + " | ".join(tests[name][i] for name in names) + " | - |")
    print("| CPU seconds | " + " | ".join(
        f"{np.mean([row[2][name][1] for row in rows]):.2f}" for name in names) + " | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the --out of milieu reproduce cac held-out")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="methods, separated by commas; default: all")
    parser.add_argument("--problems", default="", help="only problems whose name has this")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    names = [name for name in arguments.only.split(",") if name]
    kept, table = Kept(arguments.folder / "cac_rivals.csv"), arguments.folder / "cac_views.csv"
    of_cac = cac_errors(table) if table.exists() else {}
    rows = {True: [], False: []}
    for folder in sorted(path for path in (arguments.folder / "cac_problems").iterdir() if path.is_dir()):
        if arguments.problems not in folder.name:
            continue
        has_chosen, cac = of_cac.get(folder.name, (False, np.nan))
        found = figures_of(folder, arguments.seeds, names, kept)
        rows[has_chosen].append((folder.name, cac, found))
        print(folder.name, *(f"{name} {error:.1f} ({seconds:.1f} s)" for name, (error, seconds)
                             in found.items()), sep="; ", flush=True)
    for has_chosen, title in ((False, "Not used for any choice"), (True, "Used for the choice")):
        if rows[has_chosen]:
            show(title, rows[has_chosen])


if __name__ == "__main__":
    main()
