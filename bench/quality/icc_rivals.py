#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's baselines on the problems of `milieu reproduce icc held-out`.

    milieu reproduce icc held-out --out DIR
    bench/quality/icc_rivals.py DIR/icc_problems

Every folder has train.npy, test.npy, their classes and icc_accuracies.npy (icc classify, with default
options and with --auto). Everything that a baseline chooses (dimensions, components, penalty) it
chooses by cross-validation on the training rows. Finished problems are kept in rivals.json of their
folder. Accuracy in %; --auto minus it: the paired difference over problems, with the p-value of
Student's test; worst: the smallest difference of a set, mean of its problems."""

import argparse
import collections
import json
import pathlib
import warnings

import numpy as np
from scipy.special import logsumexp
from scipy.stats import ttest_rel
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FEW_DIMS = 12
COUNTS = [1, 2, 3, 5, 8]
DIMS = [5, 10, 20, 40, 80]
MOST_QUADRATIC_DIMS = 300
MOST_LOGISTIC_DIMS = 150  # more columns are reduced to as many principal axes
ICC = ("icc classify", "icc classify --auto")


class Mixtures(BaseEstimator, ClassifierMixin):
    """A Gaussian mixture for the density of each class."""

    def __init__(self, count=1):
        self.count = count

    def fit(self, points, classes):
        self.classes_, sizes = np.unique(classes, return_counts=True)
        self.log_priors_ = np.log(sizes / len(classes))
        self.mixtures_ = [
            GaussianMixture(min(self.count, size), reg_covar=1e-3 * points.var(), random_state=0).fit(
                points[classes == c]) for c, size in zip(self.classes_, sizes)]
        return self

    def predict(self, points):
        scores = [mixture.score_samples(points) for mixture in self.mixtures_]
        return self.classes_[(np.array(scores).T + self.log_priors_).argmax(1)]


class MeansPerClass(BaseEstimator, ClassifierMixin):
    """k-means of each class; its clusters share one covariance, or each has its own."""

    def __init__(self, count=1, own=False):
        self.count = count
        self.own = own

    def fit(self, points, classes):
        self.classes_ = np.unique(classes)
        labels, self.class_of_ = np.empty(len(points), int), []
        for place, c in enumerate(self.classes_):
            rows = np.flatnonzero(classes == c)
            found = KMeans(min(self.count, len(rows)), n_init=3, random_state=0).fit_predict(points[rows])
            labels[rows] = found + len(self.class_of_)
            self.class_of_ += [place] * (found.max() + 1)
        self.model_ = (QuadraticDiscriminantAnalysis(reg_param=0.1) if self.own
                       else LinearDiscriminantAnalysis()).fit(points, labels)
        return self

    def predict(self, points):
        log_probabilities = self.model_.predict_log_proba(points)
        scores = [logsumexp(log_probabilities[:, np.array(self.class_of_) == c], axis=1)
                  for c in range(len(self.classes_))]
        return self.classes_[np.array(scores).argmax(0)]


def searched(pipeline, grid):
    return GridSearchCV(pipeline, grid, cv=StratifiedKFold(5, shuffle=True, random_state=0))


def baselines(points):
    most = min(points.shape[1], int(0.8 * len(points)) - 1)
    reduced = PCA(min(FEW_DIMS, most), random_state=0)
    dims = [d for d in DIMS if d < most] or [most]
    yield "LDA", LinearDiscriminantAnalysis()
    if points.shape[1] <= MOST_QUADRATIC_DIMS:
        yield "QDA", QuadraticDiscriminantAnalysis(reg_param=1e-4)
    yield "QDA after PCA", searched(
        make_pipeline(PCA(random_state=0), QuadraticDiscriminantAnalysis(reg_param=1e-4)),
        {"pca__n_components": dims})
    yield "nearest neighbour", KNeighborsClassifier(1)
    axes = [PCA(MOST_LOGISTIC_DIMS, random_state=0)] if most > MOST_LOGISTIC_DIMS else []
    yield "logistic regression", searched(
        make_pipeline(StandardScaler(), *axes, LogisticRegression(max_iter=100)),
        {"logisticregression__C": [0.01, 1.0]})
    yield "mixtures per class, 12 dimensions", searched(
        make_pipeline(reduced, Mixtures()), {"mixtures__count": COUNTS})
    yield "k-means per class, 12 dimensions", searched(
        make_pipeline(reduced, MeansPerClass()),
        {"meansperclass__count": COUNTS, "meansperclass__own": [False, True]})


def accuracies_of(folder):
    kept = folder / "rivals.json"
    if kept.exists():
        found = json.loads(kept.read_text())
    else:
        train, test = np.load(folder / "train.npy"), np.load(folder / "test.npy")
        classes, truth = np.load(folder / "train_classes.npy"), np.load(folder / "test_classes.npy")
        found = {}
        for name, model in baselines(train):
            found[name] = 100 * float((model.fit(train, classes).predict(test) == truth).mean())
        kept.write_text(json.dumps(found))
    return found | dict(zip(ICC, 100 * np.load(folder / "icc_accuracies.npy")))


def show(title, rows):
    sets = sorted({name for name, _ in rows})
    print(f"\n{title}, {len(rows)} problems:\n")
    print("| method | " + " | ".join(sets) + " | all | --auto minus it | worst |")
    print("| --- |" + " ---: |" * (len(sets) + 3))
    own = np.array([found[ICC[1]] for _, found in rows])
    for method in dict.fromkeys(name for _, found in rows for name in found):
        values = np.array([found.get(method, np.nan) for _, found in rows])
        means = [np.mean(values[[name == chosen for name, _ in rows]]) for chosen in sets]
        leads = [np.mean((own - values)[[name == chosen for name, _ in rows]]) for chosen in sets]
        cells = ["-" if np.isnan(mean) else f"{mean:.1f}" for mean in (*means, values.mean())]
        known = ~np.isnan(values)
        if method != ICC[1] and known.sum() > 1:
            p = ttest_rel(own[known], values[known]).pvalue
            cells += [f"{(own - values)[known].mean():+.1f} (p {p:.2g})", f"{np.nanmin(leads):+.1f}"]
        else:
            cells += ["-", "-"]
        print(f"| {method} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--chosen", default="usps,deterding,hillenbrand,mfeat: pixels",
                        help="sets that chose the candidates of --auto: shown apart")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    chosen = {name.replace(":", ",") for name in arguments.chosen.split(",")}
    tables = collections.defaultdict(list)
    for folder in sorted(path for path in arguments.problems.iterdir() if path.is_dir()):
        name, kind, _ = folder.name.rsplit(", ", 2)
        tables[("Sets that chose" if name in chosen else "Sets that chose nothing")
               + (", some classes are unions" if kind == "unions" else ", their own classes")].append(
                   (name, accuracies_of(folder)))
    for title, rows in tables.items():
        show(title, rows)


if __name__ == "__main__":
    main()
