# SPDX-License-Identifier: Apache-2.0
"""Run folders: the same bits from the command line and from Python, both ways."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import all_estimators, blobs, fast, sample_input

import milieu
from milieu import _explore

PROGRAM = _explore.program()
# Estimators whose command takes rows and nothing that a file must say.
SIMPLE = {"KMeans": "kmeans", "KModes": "kmodes", "GaussianMixture": "gmm", "NormalizedCut": "ncut",
          "MeanShift": "meanshift", "Agglomerative": "agglomerative", "KMedoids": "kmedoids",
          "ExemplarClustering": "exemplar", "Bags": "bags", "Topics": "topics",
          "Multinomials": "multinomials", "JSOM": "jsom"}


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_line_run(cls, folder):
    """Run the same method on the same data by the command line."""
    X, y, inputs = sample_input(cls)
    name = cls.__name__
    out = folder / "run"
    options = ["--out", out, "--quiet", "--threads", 1]
    if name in SIMPLE:
        np.save(folder / "X.npy", X)
        names = cls().get_params()
        small = {"n_init": ("--num-restarts", 2), "max_iter": ("--max-iterations", 50),
                 "n_topics": ("--num-topics", 5)}
        for key, option in small.items():
            if key in names:
                options += option
        run(SIMPLE[name], folder / "X.npy", *options)
    elif name == "DCP":
        np.save(folder / "X.npy", X)
        np.save(folder / "context.npy", inputs["context"])
        run("dcp", folder / "X.npy", "--context", folder / "context.npy", "--restarts", 2,
            "--max-iterations", 50, *options)
    elif name == "CAC":
        np.save(folder / "X.npy", X)
        (folder / "groups.txt").write_text(
            "".join(" ".join(map(str, group)) + "\n" for group in inputs["context_groups"]))
        run("cac", folder / "X.npy", "--groups", folder / "groups.txt", "--restarts", 2,
            "--max-iterations", 50, "--words", 3, *options)
    elif name == "ICC":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        run("icc", folder / "X.npy", "--labels", folder / "y.npy", *options)
    elif name == "DistanceLearner":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        run("exemplar", "learn", f"{folder / 'X.npy'}:{folder / 'y.npy'}", "--out", out, "--quiet",
            "--max-iterations", 50)
    elif name == "ICCClassifier":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        run("icc", "classify", folder / "X.npy", folder / "X.npy", "--labels", folder / "y.npy",
            *options)
    else:
        assert name == "DLGMM"
        np.save(folder / "patches.npy", np.concatenate(X))
        np.save(folder / "offsets.npy", np.arange(0, 4 * len(X) + 1, 4))
        run("dlgmm", folder / "patches.npy", "--offsets", folder / "offsets.npy", "--words", 3,
            "--restarts", 2, "--max-iterations", 50, *options)
    return out


def assert_same_model(one, other):
    first, second = one.model_.arrays(), other.model_.arrays()
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, np.ndarray) and value.size and name not in ("samples", "sample_labels"):
            np.testing.assert_array_equal(value, second[name], err_msg=name)


@pytest.mark.parametrize("name", [cls.__name__ for cls in all_estimators()])
def test_command_line_and_python_give_the_same_bits(name, tmp_path):
    cls = getattr(milieu, name)
    folder = command_line_run(cls, tmp_path)
    loaded = milieu.load(folder)
    assert type(loaded) is cls
    X, y, inputs = sample_input(cls)
    fitted = fast(cls).fit(X, y, **inputs)
    assert_same_model(loaded, fitted)
    if name != "DistanceLearner":
        np.testing.assert_array_equal(loaded.labels_, fitted.labels_)
        if hasattr(loaded, "predict") and name != "CAC":
            np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.objective_ == fitted.objective_
    # n_bands 0 means 1 for arrays; the run folder has the number that was used.
    given = {key: value for key, value in fitted.get_params().items()
             if key not in ("n_jobs", "n_bands")}
    assert {key: loaded.get_params()[key] for key in given} == given


def test_saved_run_is_read_back_and_by_the_command_line(fitted, tmp_path):
    estimator, X, y, _ = fitted
    estimator.save(tmp_path / "run")
    loaded = milieu.load(tmp_path / "run")
    assert type(loaded) is type(estimator)
    assert_same_model(loaded, estimator)
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["objective"] == estimator.objective_
    assert summary["method"] in run("info", tmp_path / "run")


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture", "DCP", "ICC", "ExemplarClustering",
                                  "KMedoids", "MeanShift", "Topics", "Multinomials", "JSOM", "Bags",
                                  "KModes"])
def test_the_command_line_predicts_from_a_saved_estimator(name, tmp_path):
    cls = getattr(milieu, name)
    X, y, inputs = sample_input(cls)
    estimator = fast(cls).fit(X, y, **inputs)
    estimator.save(tmp_path / "run", X)
    np.save(tmp_path / "new.npy", X)
    run("predict", tmp_path / "run", tmp_path / "new.npy", "--out", tmp_path / "labels.csv")
    labels = pd.read_csv(tmp_path / "labels.csv")["label"].to_numpy()
    np.testing.assert_array_equal(labels, estimator.predict(X))


def test_report_has_the_map_when_the_samples_are_given(tmp_path):
    X, y = blobs()
    estimator = milieu.KMeans(3).fit(X)
    estimator.save(tmp_path / "plain")
    estimator.save(tmp_path / "full", X, y=y, names=[f"s{i}" for i in range(len(X))])
    plain = (tmp_path / "plain/report.html").read_text()
    full = (tmp_path / "full/report.html").read_text()
    assert "<svg" in full and len(full) > len(plain)
    assert json.loads((tmp_path / "full/summary.json").read_text())["metrics"]["accuracy"] == 1
    assert (tmp_path / "full/labels.csv").read_text().splitlines()[1].startswith("s0,")


def test_older_folder_is_kept_unless_forced(tmp_path):
    X, _ = blobs()
    estimator = milieu.KMeans(3).fit(X)
    estimator.save(tmp_path / "run")
    with pytest.raises(ValueError, match="run"):
        estimator.save(tmp_path / "run")
    estimator.save(tmp_path / "run", force=True)
    assert milieu.load(tmp_path / "run").n_clusters == 3


def test_what_is_not_a_run_folder_is_explained(tmp_path):
    with pytest.raises(OSError):
        milieu.load(tmp_path / "missing")
    with pytest.raises(ValueError, match="no model.safetensors"):
        milieu.load(tmp_path)
    X, _ = blobs()
    milieu.KMeans(3).fit(X).save(tmp_path / "run")
    model = tmp_path / "run/model.safetensors"
    data = bytearray(model.read_bytes())
    data[-3] ^= 255
    model.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        milieu.load(tmp_path / "run")
    model.write_bytes(data[:20])
    with pytest.raises(ValueError):
        milieu.load(tmp_path / "run")
    model.write_bytes(bytes(reversed(data)))
    (tmp_path / "run/options.json").write_text("[1")
    with pytest.raises(ValueError):
        milieu.load(tmp_path / "run")


def test_loaded_learner_clusters_new_samples(tmp_path):
    X, y = blobs(k=3, n=30)
    learner = milieu.DistanceLearner(max_iter=50).fit(X, y)
    learner.save(tmp_path / "run")
    loaded = milieu.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.transform(X), learner.transform(X))
    one = milieu.ExemplarClustering(metric=learner).fit(X)
    other = milieu.ExemplarClustering(metric=loaded).fit(X)
    np.testing.assert_array_equal(one.labels_, other.labels_)
