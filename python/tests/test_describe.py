# SPDX-License-Identifier: Apache-2.0
"""Names for parts: milieu.describe, and the keyword of every fit."""

import pickle

import numpy as np
import pytest

import milieu

NAMES = [f"hour {hour}, {hour} o'clock" for hour in range(12)]
VECTORS = np.eye(12, dtype=np.float32)


def samples(hours, per_hour=12, seed=1):
    noise = np.random.RandomState(seed).normal(size=(per_hour * len(hours), 12)) / 10
    return (np.eye(12)[np.repeat(hours, per_hour)] + noise).astype(np.float32)


def titles(names):
    return sorted(", ".join(label.name for label in part) for part in names)


def test_parts_get_the_labels_that_set_them_apart():
    X = samples([3, 7])
    labels = np.repeat([0, 1], 12)
    names = milieu.describe(labels, X, NAMES)  # the samples are scores of twelve labels
    assert [part[0].name for part in names] == ["hour 3", "hour 7"]
    assert names[0][0].sure == 1
    assert names[0][0].p <= 0.05
    assert str(names[0][0]) == "hour 3 (100 % sure)"
    assert names == milieu.describe(labels, X, NAMES, vectors=VECTORS)
    assert names == milieu.describe(labels, X, NAMES, n_jobs=1)


def test_a_twin_in_numpy_has_the_same_leads():
    random = np.random.RandomState(5)
    scores = random.normal(size=(60, 30))
    scores[:30, 4] += 2
    labels = np.repeat([0, 1], 30)
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    evidence = np.where(ranks <= 10, 1 / ranks, 0)
    lead = evidence[:30].mean(0) - evidence[30:].mean(0)
    label = milieu.describe(labels, scores, [str(i) for i in range(30)])[0][0]
    assert label.label == np.argmax(lead) == 4
    assert label.lead == pytest.approx(lead[4], abs=1e-6)
    assert label.mean == pytest.approx(evidence[:30, 4].mean(), abs=1e-6)


def test_a_context_takes_its_labels_away():
    X = np.concatenate([samples([3], 14), samples([5], 10, seed=2), samples([7], 24, seed=3)])
    labels = np.repeat([0, 1], 24)
    assert titles(milieu.describe(labels, X, NAMES)) == ["hour 3, hour 5", "hour 7"]
    names = milieu.describe(labels, X, NAMES, context=samples([5], 30, seed=4))
    assert titles(names) == ["hour 3", "hour 7"]


def test_random_parts_get_no_names():
    random = np.random.RandomState(6)
    named = 0
    for trial in range(60):
        scores = random.normal(size=(40, 50))
        labels = random.permutation(np.repeat([0, 1], 20))
        named += any(milieu.describe(labels, scores, range(50), random_state=trial))
    assert named <= 10  # 3 on average; more than 10 in one of 4,000 such tests


@pytest.mark.parametrize("estimator", [
    milieu.KMeans(2), milieu.GaussianMixture(2), milieu.Agglomerative(2), milieu.NormalizedCut(2),
    milieu.KMedoids(2), milieu.ExemplarClustering(n_clusters=2), milieu.CAC(2)])
def test_every_fit_names_its_parts(estimator):
    estimator.fit(samples([3, 7]), describe=VECTORS, label_names=NAMES)
    assert titles(estimator.part_names_) == ["hour 3", "hour 7"]
    assert [part["name"] for part in estimator.summary_["part_names"]] == [
        part[0].name for part in estimator.part_names_]
    again = pickle.loads(pickle.dumps(estimator))
    assert again.part_names_ == estimator.part_names_
    assert "hour 7" in estimator._repr_html_()
    estimator.fit(samples([3, 7]))
    assert not hasattr(estimator, "part_names_")


def test_dcp_compares_with_its_context():
    X, context = samples([3, 7]), samples([5])
    estimator = milieu.DCP(2, sizes="12")
    estimator.fit(X, context=context, describe=VECTORS, label_names=NAMES)
    assert titles(estimator.part_names_) == ["hour 3", "hour 7"]
    both = np.concatenate([X, context])
    estimator.fit(X, context=context, describe=both, label_names=NAMES)  # scores of all rows
    assert titles(estimator.part_names_) == ["hour 3", "hour 7"]
    y = np.repeat([0, -1], [24, 12])
    estimator.fit(both, y, describe=VECTORS, label_names=NAMES)
    assert titles(estimator.part_names_) == ["hour 3", "hour 7"]


def test_subclasses_are_pieces_of_classes():
    estimator = milieu.ICC().fit(samples([3, 7]), np.repeat([0, 1], 12), describe=VECTORS,
                                 label_names=NAMES)
    assert len(estimator.part_names_) == estimator.n_subclasses_.sum()


def test_images_of_patches_take_scores():
    random = np.random.RandomState(8)
    images = [random.normal(i % 2 * 4, 1, (20, 3)) for i in range(20)]
    scores = np.eye(5)[np.arange(20) % 2] + random.normal(size=(20, 5)) / 10
    estimator = milieu.DLGMM(4, n_clusters=2)
    estimator.fit(images, describe=scores, label_names=list("abcde"))
    assert titles(estimator.part_names_) == ["a", "b"]


def test_saved_runs_keep_their_names(tmp_path):
    X = samples([3, 7])
    estimator = milieu.ExemplarClustering(n_clusters=2)
    estimator.fit(X, describe=VECTORS, label_names=NAMES)
    estimator.save(tmp_path / "run", X)
    loaded = milieu.load(tmp_path / "run")
    assert loaded.part_names_ == estimator.part_names_
    assert loaded.summary_["part_names"] == estimator.summary_["part_names"]
    assert "hour 7" in (tmp_path / "run/report.html").read_text()
    assert "hour 7" in (tmp_path / "run/part_names.csv").read_text()


def test_mistakes_are_explained():
    X = samples([3, 7])
    with pytest.raises(ValueError, match="describe is given without label_names"):
        milieu.KMeans(2).fit(X, describe=VECTORS)
    with pytest.raises(ValueError, match="label_names is given without describe"):
        milieu.KMeans(2).fit(X, label_names=NAMES)
    with pytest.raises(ValueError, match=r"must have \(12, 12\), one vector per label name, or "
                                         r"\(24, 12\), scores"):
        milieu.KMeans(2).fit(X, describe=np.eye(5), label_names=NAMES)
    with pytest.raises(ValueError, match="label_names has 3 names, X has 12 labels"):
        milieu.describe(np.zeros(24, int), X, ["a", "b", "c"])
    with pytest.raises(ValueError, match="NaN"):
        broken = X.copy()
        broken[2, 1] = np.nan
        milieu.describe(np.zeros(24, int), broken, NAMES)
