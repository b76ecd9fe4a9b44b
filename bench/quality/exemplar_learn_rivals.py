#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the splits of `milieu reproduce exemplar held-out`.

    milieu reproduce exemplar held-out --out DIR
    bench/quality/exemplar_learn_rivals.py DIR/exemplar_problems
    bench/quality/exemplar_learn_rivals.py DIR/more --draw     draws sets of scikit-learn's there first

Every folder, NAME split SEED, has train.npy, train_classes.npy, test.npy, test_classes.npy and figures.npy:
what the program had, in the order of its table. Columns are standardised by the training half. Accuracy in
%, told the number of clusters: shrunk LDA of the training half with spectral clustering of its space (10
neighbours) or k-means in it; spectral clustering, k-means whitened, a Gaussian mixture on 10 principal
components, Ward. Then the nearest neighbour in LDA's space. Means of the splits of each set; p: Student's
paired test and Wilcoxon's against the learned distance (told; nearest neighbour) over all splits."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np  # noqa: E402
from scipy.stats import ttest_rel, wilcoxon  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_digits, load_wine  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

from baselines import error_of, graph, kmeans, mixture, spectral, ward, whitened  # noqa: E402

LEARNED_TOLD, LEARNED_NEAREST = 4, 9  # places in figures.npy
PROGRAM = os.environ.get("MILIEU_PROGRAM", pathlib.Path(__file__).parents[2] / "build/release/bin/milieu")
DRAWN = {"digits": load_digits, "wine": load_wine, "tumours": load_breast_cancer}
SPLITS, PER_CLASS = 5, 20


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
        "learned": ours[0],
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


def program_accuracy(folder, *arguments):
    command = [PROGRAM, "exemplar", folder / "test.npy", "--model", folder / "distance",
               "--truth", folder / "test_classes.npy", "--json", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["metrics"]["accuracy"]


def draw(folder, name, seed):
    """One split: samples of every class to learn from, as many others to be clustered."""
    points, classes = DRAWN[name](return_X_y=True)
    random = np.random.default_rng(seed)
    rows = [random.permutation(np.flatnonzero(classes == c))[:2 * PER_CLASS] for c in np.unique(classes)]
    place = folder / f"{name} split {seed}"
    place.mkdir(parents=True, exist_ok=True)
    for half, part in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        taken = np.concatenate([each[part] for each in rows])
        np.save(place / f"{half}.npy", points[taken].astype(np.float32))
        np.save(place / f"{half}_classes.npy", classes[taken].astype(np.int32))
    subprocess.run([PROGRAM, "exemplar", "learn", f"{place / 'train.npy'}:{place / 'train_classes.npy'}",
                    "--out", place / "distance", "--force", "--quiet"], check=True)
    figures = np.full(LEARNED_NEAREST + 1, np.nan)
    figures[0] = program_accuracy(place)
    figures[LEARNED_TOLD] = program_accuracy(place, "-k", str(classes.max() + 1))
    figures[LEARNED_NEAREST] = program_accuracy(place, "--classify")
    np.save(place / "figures.npy", figures)


def test_text(values, reference, test):
    return "-" if np.allclose(values, reference) else f"{test(values, reference).pvalue:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--draw", action="store_true", help="draw digits, wine and tumours of scikit-learn first")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    if arguments.draw:
        for name in DRAWN:
            for seed in range(1, SPLITS + 1):
                draw(arguments.problems, name, seed)
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
