# SPDX-License-Identifier: Apache-2.0
"""The whole point, in one program: embeddings computed elsewhere, a split against a context, a ranking of
contexts, names for the parts, a run folder, the explorer."""

import urllib.request

import numpy as np
from PIL import Image

import milieu
from milieu.metrics import matched_accuracy


def embeddings(rng):
    """A set with two factors, and contexts that lie between the values of one of them."""
    first, second = np.repeat([0, 1], 60), np.tile([0, 1], 60)
    axes = np.linalg.qr(rng.normal(size=(64, 64)))[0]
    rows = 6 * np.outer(first - 0.5, axes[0]) + 9 * np.outer(second - 0.5, axes[1])
    between_first = 9 * np.outer(np.tile([-0.5, 0.5], 40), axes[1])
    between_second = 6 * np.outer(np.tile([-0.5, 0.5], 40), axes[0])
    noise = [rng.normal(0, 0.5, (len(part), 64)) for part in (rows, between_first, between_second)]
    return (rows + noise[0], first, second,
            {"first": between_first + noise[1], "second": between_second + noise[2]}, axes)


def test_embeddings_to_explorer(tmp_path, monkeypatch):
    monkeypatch.setenv("MILIEU_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X, first, second, contexts, axes = embeddings(rng)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")

    # Vectors of words, as a network that embeds texts beside images would give them.
    vectors = np.concatenate([axes[:2], -axes[:2], axes[2:20]])
    words = ["right", "up", "left", "down"] + [f"word {i}" for i in range(18)]
    for name, truth, expected in [("first", first, {"left", "right"}), ("second", second, {"down", "up"})]:
        dcp = milieu.DCP(n_clusters=2).fit(X, context=contexts[name], describe=vectors,
                                           label_names=words)
        assert matched_accuracy(truth, dcp.labels_) > 0.95, name
        assert {part[0].name for part in dcp.part_names_} == expected
    ranking = milieu.DCP().rank_contexts(X, contexts)
    assert {ranked.name for ranked in ranking} == {*contexts, "all contexts"}

    paths = []
    for i, level in enumerate(first * 100 + second * 50):
        paths.append(tmp_path / f"image{i}.png")
        Image.fromarray(np.full((16, 16), level, np.uint8)).save(paths[-1])
    dcp.save(tmp_path / "run", X, names=[path.name for path in paths], images=tmp_path)
    assert "data:image" in (tmp_path / "run/report.html").read_text()
    with milieu.explore(X, images=paths, browser=False) as explorer:
        with urllib.request.urlopen(explorer.url) as answer:
            assert answer.status == 200
