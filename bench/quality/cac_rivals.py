#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the problems of `milieu reproduce cac held-out`.

    milieu reproduce cac held-out --out DIR
    bench/quality/cac_rivals.py DIR/cac_problems [--seeds 1]

Every folder has view0.npy, view1.npy, ... and classes.npy. Views are scaled to unit total variance and
put side by side, except where a column says otherwise. Errors in %, after the best one-to-one match of
clusters and classes. `averaged`: spectral clustering of the mean of the views' self-tuned affinities, each of 20
neighbours."""

import argparse
import pathlib
import warnings

import numpy as np

from baselines import NEIGHBOURS, baselines_on, error_of, graph, kmeans, spectral, standardised


def scaled(view):
    view = view.astype(np.float64) - view.mean(0)
    return view / max(np.sqrt((view**2).sum() / len(view)), 1e-300)


def methods_on(views, k, seed):
    raw = np.hstack(views).astype(np.float64)
    averaged = sum(graph(scaled(view), NEIGHBOURS, True) for view in views)
    return {
        "averaged": lambda: spectral(averaged, k, seed),
        **baselines_on(np.hstack([scaled(view) for view in views]), k, seed),
        "k-means raw": lambda: kmeans(raw, k, seed),
        "standardised": lambda: kmeans(standardised(raw), k, seed),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help="methods, separated by commas; default: all")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows, names = [], [name for name in arguments.only.split(",") if name]
    for folder in sorted(path for path in arguments.problems.iterdir() if path.is_dir()):
        classes = np.load(folder / "classes.npy")
        views = [np.load(path) for path in sorted(folder.glob("view*.npy"))]
        errors = []
        for seed in range(arguments.seeds):
            methods = methods_on(views, int(classes.max()) + 1, seed)
            if not rows and seed == 0:
                names = names or list(methods)
                print("problem," + ",".join(names), flush=True)
            errors.append([error_of(methods[name](), classes) for name in names])
        rows.append(np.mean(errors, 0))
        print(folder.name.replace(",", "") + "," + ",".join(f"{error:.1f}" for error in rows[-1]), flush=True)
    print("mean," + ",".join(f"{error:.1f}" for error in np.mean(rows, 0)))


if __name__ == "__main__":
    main()
