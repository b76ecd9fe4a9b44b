#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The rivals of learned distances in Komodakis11, section 6, on the same features, distances and
protocol (half of each class for training), beside `milieu exemplar learn`:

- supervised clustering by a structural SVM [Finley & Joachims, ICML 2005]: similarities of pairs,
  linear in the candidates; correlation clustering by greedy merging, in training with the loss added;
- multiple-kernel learning [Varma & Ray, ICCV 2007]: exp(-distance / mean) of every candidate, weights of
  their sum on the simplex, one support vector machine per class (scikit-learn). It classifies only.

    bench/quality/exemplar_rivals.py FEATURES... [--splits N] [--rounds N] [--json FILE]

FEATURES are folders made by `milieu features` from one set of images with class folders."""
import argparse
import csv
import glob
import os
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from scipy.spatial.distance import cdist  # noqa: E402
from sklearn.svm import SVC  # noqa: E402


def read_features(folders):
    views, classes = {}, None
    for folder in folders:
        with open(os.path.join(folder, "images.csv"), newline="") as file:
            found = np.unique([row["class"] for row in csv.DictReader(file)], return_inverse=True)[1]
        classes = found if classes is None else classes
        if len(found) != len(classes) or (found != classes).any():
            sys.exit(f"{folder} is not made from the same images as {folders[0]}")
        for path in sorted(glob.glob(os.path.join(folder, "*.npy"))):
            name = os.path.basename(path)[:-4]
            if "." not in name:
                views[name] = np.load(path).astype(np.float64)
    return views, classes


def chi_squared(a, b):
    out = np.empty((len(a), len(b)))
    for i, row in enumerate(a):
        total = b + row
        out[i] = ((b - row) ** 2 / np.where(total > 0, total, 1)).sum(axis=1)
    return out


def candidates_of(views):
    """All candidate distances, divided by their means."""
    names, matrices = [], []
    for name, x in views.items():
        squared = cdist(x, x, "sqeuclidean")
        kinds = {"l2": squared, "l1": cdist(x, x, "cityblock"),
                 "RBF": np.sqrt(np.maximum(0, 2 - 2 * np.exp(-squared / squared.mean())))}
        if x.min() >= 0:
            kinds["chi2"] = chi_squared(x, x)
        for kind, matrix in kinds.items():
            names.append(f"{name} {kind}")
            matrices.append((matrix / matrix.mean()).astype(np.float32))
    return names, np.array(matrices)


def halves(classes, seed):
    random = np.random.RandomState(seed)
    train = []
    for c in np.unique(classes):
        members = random.permutation(np.flatnonzero(classes == c))
        train.extend(members[:len(members) // 2])
    test = np.setdiff1d(np.arange(len(classes)), train)
    return np.sort(train), test


def matched_accuracy(labels, truth):
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(truth)


def nearest_accuracy(distances, rows, columns):
    return (columns[distances.argmin(axis=1)] == rows).mean()


def merge_greedily(similarities):
    """Correlation clustering: merges the two clusters with the largest sum while it is positive."""
    sums = similarities.astype(np.float64).copy()
    np.fill_diagonal(sums, -np.inf)
    owner = np.arange(len(sums))
    while True:
        a, b = np.unravel_index(sums.argmax(), sums.shape)
        if not sums[a, b] > 0:
            return np.unique(owner, return_inverse=True)[1]
        owner[owner == owner[b]] = owner[a]
        sums[a] += sums[b]
        sums[:, a] = sums[a]
        sums[a, a] = -np.inf
        sums[b] = sums[:, b] = -np.inf


def train_structural(matrices, truth, rounds, cost=1e4):
    """Subgradient steps on |w|^2 / 2 + cost * hinge; pairs count 1 / number of pairs. The features of
    a pair are 1 - candidate, which is 0 for a pair of mean distance, and a constant."""
    n = len(truth)
    same = truth[:, None] == truth[None]
    upper = np.triu(np.ones((n, n), bool), 1)
    features = np.concatenate([1 - matrices, np.ones((1, n, n), np.float32)])
    scale = 1.0 / upper.sum()
    w, mean = np.zeros(len(features)), np.zeros(len(features))
    squares = np.full(len(features), 1e-12)
    true_part = features[:, upper & same].sum(axis=1) * scale
    weight = np.where(same, 0.5 / (upper & same).sum(), 0.5 / (upper & ~same).sum()) / scale
    for t in range(1, rounds + 1):
        similarities = np.tensordot(w, features, 1)
        augmented = similarities + np.where(same, -weight, weight)
        found = merge_greedily(augmented)
        together = found[:, None] == found[None]
        gradient = w / cost + features[:, upper & together].sum(axis=1) * scale - true_part
        squares += gradient ** 2
        w = w - 0.3 * gradient / np.sqrt(squares)
        w[:-1] = np.maximum(w[:-1], 0)  # a larger distance never makes a pair more alike
        if t > rounds // 2:
            mean += w / (rounds - rounds // 2)
    return mean


def train_kernels(kernels, truth, rounds=25, cost=100.0):
    """Weights of the kernels on the simplex by projected gradient of the summed SVM objectives."""
    weights = np.full(len(kernels), 1 / len(kernels))
    for t in range(1, rounds + 1):
        gram = np.tensordot(weights, kernels, 1)
        gradient = np.zeros(len(kernels))
        for c in np.unique(truth):
            machine = SVC(C=cost, kernel="precomputed").fit(gram, truth == c)
            alpha, support = machine.dual_coef_[0], machine.support_
            part = kernels[:, support][:, :, support]
            gradient -= 0.5 * np.einsum("i,kij,j->k", alpha, part, alpha)
        gradient /= np.abs(gradient).max()
        moved = weights - gradient / np.sqrt(t) / len(kernels) * 4
        ordered = np.sort(moved)[::-1]
        shift = (np.cumsum(ordered) - 1) / np.arange(1, len(moved) + 1)
        weights = np.maximum(moved - shift[np.flatnonzero(ordered > shift)[-1]], 0)
    return weights


def classify_kernels(kernels, weights, train, test, classes, cost=100.0):
    gram = np.tensordot(weights, kernels, 1)
    scores = []
    for c in np.unique(classes):
        machine = SVC(C=cost, kernel="precomputed").fit(gram[np.ix_(train, train)], classes[train] == c)
        scores.append(machine.decision_function(gram[np.ix_(test, train)]))
    return (np.argmax(scores, axis=0) == classes[test]).mean()


def ours(matrices, classes, train, test, folder):
    np.save(f"{folder}/D.npy", matrices[:, train][:, :, train])
    np.save(f"{folder}/y.npy", classes[train])
    np.save(f"{folder}/T.npy", matrices[:, test][:, :, test])
    np.save(f"{folder}/t.npy", classes[test])
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    learned = common.run([common.PROGRAM, "exemplar", "learn", f"{folder}/D.npy:{folder}/y.npy",
                          "--distance", "precomputed", "--learn-penalty", "--rounds", "600", "--out", f"{folder}/model",
                          "--force", "--json", "--threads", "1"])
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    found = common.run([common.PROGRAM, "exemplar", f"{folder}/T.npy", "--model", f"{folder}/model",
                        "--truth", f"{folder}/t.npy", "--json", "--threads", "1"])
    distances = np.tensordot(learned["weights"], matrices, 1)
    return found["metrics"]["accuracy"], distances, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("features", nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    views, classes = read_features(arguments.features)
    names, matrices = candidates_of(views)
    print(f"{len(classes)} images, {classes.max() + 1} classes, {len(names)} candidates")
    figures = {name: [] for name in ("milieu, clustering", "milieu, NN", "structural SVM, clustering",
                                     "structural SVM, NN", "multiple kernels, classification",
                                     "milieu, CPU s of training", "structural SVM, CPU s of training",
                                     "multiple kernels, CPU s of training")}
    with tempfile.TemporaryDirectory(prefix="milieu-rivals-") as folder:
        for seed in range(arguments.splits):
            train, test = halves(classes, seed)
            accuracy, distances, seconds = ours(matrices, classes, train, test, folder)
            figures["milieu, CPU s of training"].append(seconds)
            figures["milieu, clustering"].append(accuracy)
            figures["milieu, NN"].append(nearest_accuracy(distances[np.ix_(test, train)],
                                                          classes[test], classes[train]))
            begin = time.process_time()
            w = train_structural(matrices[:, train][:, :, train], classes[train], arguments.rounds)
            figures["structural SVM, CPU s of training"].append(time.process_time() - begin)
            similarities = w[-1] + np.tensordot(w[:-1], 1 - matrices, 1)
            figures["structural SVM, clustering"].append(matched_accuracy(
                merge_greedily(similarities[np.ix_(test, test)]), classes[test]))
            figures["structural SVM, NN"].append(nearest_accuracy(
                -similarities[np.ix_(test, train)], classes[test], classes[train]))
            kernels = np.exp(-matrices)
            begin = time.process_time()
            weights = train_kernels(kernels[:, train][:, :, train], classes[train])
            figures["multiple kernels, CPU s of training"].append(time.process_time() - begin)
            figures["multiple kernels, classification"].append(
                classify_kernels(kernels, weights, train, test, classes))
            print(f"split {seed}: " + ", ".join(f"{k} {v[-1]:.3f}" for k, v in figures.items()),
                  flush=True)
    common.print_table(("figure", "mean", "splits"),
                       [(k, float(np.mean(v)), len(v)) for k, v in figures.items()])
    common.write_json(arguments.json, candidates=names, figures=figures)


if __name__ == "__main__":
    main()
