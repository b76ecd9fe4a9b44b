#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the splits of `milieu reproduce exemplar held-out`.

    milieu reproduce exemplar held-out --out DIR
    bench/quality/exemplar_learn_rivals.py DIR/exemplar_problems

Every folder, NAME split SEED, has train.npy, train_classes.npy, test.npy, test_classes.npy and figures.npy:
what the program had, in the order of its table. Columns are standardised by the training half. Accuracy in
%, told the number of clusters: shrunk LDA of the training half with spectral clustering of its space (10
neighbours) or k-means in it; spectral clustering, k-means whitened, a Gaussian mixture on 10 principal
components, Ward. Then the nearest neighbour in LDA's space. Means of the splits of each set; p: Student's
paired test and Wilcoxon's against the learned distance (told; nearest neighbour) over all splits."""
import argparse
import collections
import os
import pathlib
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np  # noqa: E402
from scipy.stats import ttest_rel, wilcoxon  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

from baselines import error_of, graph, kmeans, mixture, spectral, ward, whitened  # noqa: E402

LEARNED_TOLD, LEARNED_NEAREST = 4, 9  # places in figures.npy


def accuracy(labels, classes):
    return 100 - error_of(labels, classes)


def figures_of(folder):
    train, test = (np.load(folder / f"{name}.npy").astype(np.float64) for name in ("train", "test"))
    known, classes = (np.load(folder / f"{name}_classes.npy") for name in ("train", "test"))
    deviation = train.std(0)
    deviation[deviation == 0] = 1
    train, test = (train - train.mean(0)) / deviation, (test - train.mean(0)) / deviation
    k = int(classes.max()) + 1
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(train, known)
    space = lda.transform(test)
    ours = 100 * np.load(folder / "figures.npy").ravel()
    return {
        "learned, told": ours[LEARNED_TOLD],
        "LDA + spectral": accuracy(spectral(graph(space, 10, False), k, 0), classes),
        "LDA + k-means": accuracy(kmeans(space, k, 0), classes),
        "spectral": accuracy(spectral(graph(test, 10, False), k, 0), classes),
        "whitened": accuracy(kmeans(whitened(test), k, 0), classes),
        "mixture": accuracy(mixture(test, k, 0), classes),
        "Ward": accuracy(ward(test, k), classes),
        "NN learned": ours[LEARNED_NEAREST],
        "NN LDA": 100 * KNeighborsClassifier(1).fit(lda.transform(train), known).score(space, classes),
    }


def test_text(values, reference, test):
    return "-" if np.allclose(values, reference) else f"{test(values, reference).pvalue:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    sets = collections.defaultdict(list)
    for folder in sorted(path for path in arguments.problems.iterdir() if path.is_dir()):
        sets[folder.name.rsplit(" split ", 1)[0]].append(figures_of(folder))
    names = list(next(iter(sets.values()))[0])
    print("| set | " + " | ".join(names) + " |\n| --- |" + " ---: |" * len(names))
    for name, splits in sets.items():
        means = [np.mean([split[each] for split in splits]) for each in names]
        print(f"| {name}, {len(splits)} splits | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    every = {each: np.array([split[each] for splits in sets.values() for split in splits]) for each in names}
    print("| mean | " + " | ".join(f"{every[each].mean():.1f}" for each in names) + " |")
    for what, test in (("p (t)", ttest_rel), ("p (ranks)", wilcoxon)):
        against = [every["NN learned" if each.startswith("NN") else "learned, told"] for each in names]
        print(f"| {what} | " + " | ".join(test_text(every[each], other, test)
                                          for each, other in zip(names, against)) + " |")


if __name__ == "__main__":
    main()
