# SPDX-License-Identifier: Apache-2.0
"""Work on a Dask cluster whose workers are killed: complete, and equal to the work done here."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import threading
import time

import numpy as np
import pytest
from conftest import blobs
from PIL import Image

import milieu
import milieu.dask

distributed = pytest.importorskip(
    "dask.distributed", reason="Dask is missing: apt-get install python3-distributed")


@pytest.fixture(scope="module")
def client():
    """Three workers of one thread; dead ones are replaced."""
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@contextlib.contextmanager
def killed_workers(client, is_time, count=1):
    """Kill workers that are computing, `count` of them one after the other, once is_time() is true."""
    killed = []

    def kill():
        deadline = time.monotonic() + 60
        while len(killed) < count and time.monotonic() < deadline:
            busy = [worker for worker, tasks in client.processing().items() if tasks]
            pids = [nanny.pid for nanny in client.cluster.workers.values() if nanny.worker_address in busy]
            pids = [pid for pid in pids if pid and pid not in killed]
            if pids and is_time():
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    yield killed
    killer.join()


def make_photos(folder, count):
    rng = np.random.default_rng(0)
    for i in range(count):
        path = folder / ("dark" if i % 2 else "light") / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        level = 60 if i % 2 else 190
        pixels = np.clip(rng.normal(level, 30, (200, 200, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(path)
    return folder


def files_of(folder):
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def test_features_with_killed_workers(client, tmp_path):
    photos, feature = make_photos(tmp_path / "photos", 60), "gist,dense-sift:words=20"
    out = tmp_path / "out"
    begun = lambda: any(out.glob(".milieu/shards/*.gist.part"))
    with killed_workers(client, begun, count=2) as killed:
        written = milieu.dask.extract(client, photos, feature, out, n_shards=20)
    assert len(killed) == 2, "the work was over before two workers were killed"
    assert written.n_images == 60
    milieu.features.write(photos, feature, tmp_path / "whole")
    assert files_of(out) == files_of(tmp_path / "whole")


def without_seconds(ranking):
    rows = []
    for context in ranking:
        row = dataclasses.asdict(context)
        del row["seconds"]
        rows.append({name: value.tolist() if name == "labels" else value for name, value in row.items()})
    return rows


def test_ranking_with_a_killed_worker(client):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(c, 1, (150, 12)) for c in (-2, 2)]).astype(np.float32)
    contexts = {f"c{i}": rng.normal(rng.normal(0, 1, 12), 1, (120, 12)).astype(np.float32) for i in range(30)}
    estimator = milieu.DCP(n_clusters=2, n_init=5)
    with killed_workers(client, lambda: True) as killed:
        ranking = milieu.dask.rank_contexts(client, estimator, X, contexts, n_shards=15)
    assert len(killed) == 1, "the work was over before a worker was killed"
    assert len(ranking) == 31
    assert without_seconds(ranking) == without_seconds(estimator.rank_contexts(X, contexts))


def test_inputs_of_a_ranking_count(client):
    X, y = blobs()
    weights = np.where(np.arange(80) < 40, 1.0, 0.01)
    estimator = milieu.DCP(n_clusters=2, n_init=2)
    ranking = milieu.dask.rank_contexts(client, estimator, X[y < 2], [X[y == 2]], sample_weight=weights)
    assert without_seconds(ranking) == without_seconds(
        estimator.rank_contexts(X[y < 2], [X[y == 2]], sample_weight=weights))
    with pytest.raises(TypeError, match="no input 'weights'"):
        milieu.dask.rank_contexts(client, estimator, X, [X], weights=weights)


@pytest.mark.parametrize("name", ["KModes", "Topics", "Multinomials", "JSOM"])
def test_restarts_give_the_fit(client, name):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (60, 12)).astype(np.float32)
    options = {"n_topics": 4} if name == "JSOM" else {}
    parameter = "n_components" if name == "Topics" else "n_clusters"
    estimator = getattr(milieu, name)(**{parameter: 3}, n_init=5, random_state=3, **options)
    there, here = milieu.dask.fit(client, estimator, X), estimator.fit(X)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.model_.to_bytes() == here.model_.to_bytes()
    assert there.get_params() == here.get_params()
    drop = lambda summary: {key: value for key, value in summary.items() if key != "seconds"}
    assert drop(there.summary_) == drop(here.summary_)


def test_restarts_that_share_work_are_refused(client):
    with pytest.raises(ValueError, match="does not run its restarts one by one"):
        milieu.dask.fit(client, milieu.NormalizedCut(n_clusters=2), blobs()[0])


def test_grid_has_the_fits_in_order(client):
    X, _ = blobs()
    fitted = milieu.dask.fit_grid(client, milieu.KMeans(n_init=2), {"n_clusters": [2, 3], "random_state": [1, 2]}, X)
    assert [(one.n_clusters, one.random_state) for one in fitted] == [(2, 1), (2, 2), (3, 1), (3, 2)]
    for one in fitted:
        here = milieu.KMeans(n_clusters=one.n_clusters, n_init=2, random_state=one.random_state).fit(X)
        np.testing.assert_array_equal(one.labels_, here.labels_)
