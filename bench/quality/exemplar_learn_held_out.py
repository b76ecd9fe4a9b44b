#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`milieu exemplar learn` on sets that chose none of its defaults, beside what it replaces and beside
scikit-learn: half of the drawn samples of each class to learn from, the others to be clustered.

    bench/quality/exemplar_learn_held_out.py [--splits N] [--per-class N] [--sets NAME,...]

Columns: number of clusters found by the program: learned (the default), the paper's preset (exemplars
under weights of columns). Told the true number: learned, and scikit-learn on the test half: LDA of the
training half with spectral clustering (10 neighbours), spectral clustering, k-means standardised, Ward,
Gaussian mixture on 10 principal components. Then the nearest neighbour: learned, LDA's space, Euclidean.
The paired test (Wilcoxon, over all splits) compares the learned distance, told, with each column."""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from scipy.stats import wilcoxon  # noqa: E402
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

DATA = os.environ.get("MILIEU_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))


def load(name):
    def array(path):
        return np.load(os.path.join(DATA, path))
    if name == "gas":
        first = array("gas_drift/batch.npy") == 1
        return array("gas_drift/X.npy")[first], array("gas_drift/labels.npy")[first]
    if name == "usps":
        return array("usps_esl/X_train.npy"), array("usps_esl/labels_train.npy")
    if name == "hillenbrand":
        return array("hillenbrand/X15.npy"), array("hillenbrand/labels.npy")
    if name == "made":
        random = np.random.RandomState(0)
        y = np.arange(1200) % 12
        x = np.hstack([random.normal(0, 2, (12, 6))[y], np.zeros((1200, 24))])
        return x + random.normal(0, 1, x.shape) * random.uniform(0.5, 3, 30), y
    folder = {"vowel": "vowel_deterding", "peterson": "peterson_barney"}[name]
    return array(f"{folder}/X.npy"), array(f"{folder}/labels.npy")


def matched(labels, truth):
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    return table[linear_sum_assignment(-table)].sum() / len(truth)


def draw(y, per_class, seed):
    random = np.random.RandomState(seed)
    halves = ([], [])
    for c in np.unique(y):
        members = random.permutation(np.flatnonzero(y == c))[:2 * per_class]
        halves[0].extend(members[:len(members) // 2])
        halves[1].extend(members[len(members) // 2:])
    return np.sort(halves[0]), np.sort(halves[1])


def ours(folder, preset):
    flags = ["--preset", "paper"] if preset else []
    common.run([common.PROGRAM, "exemplar", "learn", f"{folder}/X.npy:{folder}/y.npy", *flags, "--out",
                f"{folder}/model", "--force", "--json", "--threads", "1"])
    use = [common.PROGRAM, "exemplar", f"{folder}/T.npy", "--model", f"{folder}/model", "--labels",
           f"{folder}/t.npy", "--json", "--threads", "1"]
    k = str(np.load(f"{folder}/t.npy").max() + 1)
    found, told = common.run(use), common.run([*use, "-k", k])
    nearest = common.run([*use, "--classify"])
    return (found["metrics"]["accuracy"], found["clusters"], told["metrics"]["accuracy"],
            nearest["class_accuracy"])


def split_figures(x, y, per_class, seed, folder):
    train, test = draw(y, per_class, seed)
    mean, spread = x[train].mean(axis=0), x[train].std(axis=0) + 1e-12
    a, b, truth = (x[train] - mean) / spread, (x[test] - mean) / spread, y[test]
    for name, value in (("X", x[train].astype(np.float32)), ("T", x[test].astype(np.float32)),
                        ("y", y[train].astype(np.int64)), ("t", truth.astype(np.int64))):
        np.save(f"{folder}/{name}.npy", value)
    figures = {}
    figures["learned"], clusters, figures["learned, told"], figures["NN learned"] = ours(folder, False)
    figures["paper's"], few, figures["paper's, told"], _ = ours(folder, True)
    k = len(np.unique(truth))
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(a, y[train])
    u, v = lda.transform(a), lda.transform(b)

    def spectral(points):
        return SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=10, random_state=0,
                                  assign_labels="kmeans").fit_predict(points)
    figures["LDA + spectral"] = matched(spectral(v), truth)
    figures["spectral"] = matched(spectral(b), truth)
    figures["k-means"] = matched(KMeans(k, n_init=10, random_state=0).fit_predict(b), truth)
    figures["Ward"] = matched(AgglomerativeClustering(k).fit_predict(b), truth)
    low = PCA(min(10, b.shape[1])).fit_transform(b)
    figures["mixture"] = matched(GaussianMixture(k, n_init=3, reg_covar=1e-3, random_state=0)
                                 .fit_predict(low), truth)
    figures["NN LDA"] = KNeighborsClassifier(1).fit(u, y[train]).score(v, truth)
    figures["NN"] = KNeighborsClassifier(1).fit(a, y[train]).score(b, truth)
    return figures, clusters, few, k


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--sets", default="usps,gas,vowel,peterson,hillenbrand,made")
    arguments = parser.parse_args()
    rows, all_figures = [], {}
    with tempfile.TemporaryDirectory(prefix="milieu-held-out-") as folder:
        for name in arguments.sets.split(","):
            x, y = load(name)
            x, y = x.astype(np.float64), np.unique(y, return_inverse=True)[1]
            done = [split_figures(x, y, arguments.per_class, seed, folder)
                    for seed in range(arguments.splits)]
            for figures, *_ in done:
                for column, value in figures.items():
                    all_figures.setdefault(column, []).append(value)
            rows.append((f"{name} ({done[0][3]} classes)",
                         *(f"{100 * np.mean([d[0][c] for d in done]):.1f}" for c in done[0][0]),
                         f"{np.mean([d[1] for d in done]):.1f} / {np.mean([d[2] for d in done]):.1f}"))
            print(rows[-1], flush=True)
    rows.append(("mean", *(f"{100 * np.mean(v):.1f}" for v in all_figures.values()), ""))
    reference = np.array(all_figures["learned, told"])
    rows.append(("learned, told: p", *("" if np.allclose(v, reference) else
                                       f"{wilcoxon(reference, v).pvalue:.3g}"
                                       for v in all_figures.values()), ""))
    common.print_table(("set", *all_figures, "clusters learned / paper's"), rows)


if __name__ == "__main__":
    main()
