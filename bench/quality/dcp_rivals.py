#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the problems of `milieu reproduce dcp held-out`.

    milieu reproduce dcp held-out --out DIR
    bench/quality/dcp_rivals.py DIR/dcp_problems [--seeds 1]

Every folder has set.npy, classes.npy and dcp_errors.npy (single contexts on average, all together, first
of the ranking). Class-balanced errors in %; minus: the paired difference from dcp over all problems of one
mixture, above 0 where dcp is better, with the p-value of Student's test."""

import argparse
import collections
import pathlib
import warnings

import numpy as np
from scipy.stats import ttest_rel

from baselines import balanced_error_of, baselines_on

DCP = ("dcp, mean of single contexts", "dcp, all contexts together", "dcp, first of the ranking")


def errors_of(folder, seeds):
    points, classes = np.load(folder / "set.npy"), np.load(folder / "classes.npy")
    errors = collections.defaultdict(list)
    for seed in range(seeds):
        for name, labels in baselines_on(points, 2, seed).items():
            errors[name].append(balanced_error_of(labels(), classes))
    result = {name: float(np.mean(values)) for name, values in errors.items()}
    result.update(zip(DCP, 100 * np.load(folder / "dcp_errors.npy")))
    return result


def difference(errors, dcp):
    if np.array_equal(errors, dcp):
        return ""
    p = ttest_rel(errors, dcp).pvalue
    return f"{np.mean(errors - dcp):+.1f} (p {'< .0001' if p < 1e-4 else f'{p:.4f}'})"


def show(mixture, rows):
    sets = sorted({name for name, _ in rows})
    print(f"\nMixed {mixture}, {len(rows)} problems:\n")
    print("| method | " + " | ".join(sets) + " | all | minus dcp, single | minus dcp, together |")
    print("| --- |" + " ---: |" * (len(sets) + 3))
    for method in rows[0][1]:
        values = np.array([errors[method] for _, errors in rows])
        cells = [np.mean([errors[method] for name, errors in rows if name == chosen]) for chosen in sets]
        against = [difference(values, np.array([errors[dcp] for _, errors in rows])) for dcp in DCP[:2]]
        print(f"| {method} | " + " | ".join(f"{cell:.1f}" for cell in (*cells, values.mean())) + " | "
              + " | ".join(against) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows = collections.defaultdict(list)
    for folder in sorted(path for path in arguments.problems.iterdir() if path.is_dir()):
        name, _, mixture = folder.name.rsplit(", ", 2)
        rows[mixture].append((name, errors_of(folder, arguments.seeds)))
    for mixture, found in sorted(rows.items()):
        show(mixture, found)


if __name__ == "__main__":
    main()
