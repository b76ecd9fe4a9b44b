# SPDX-License-Identifier: Apache-2.0
"""Features of folders, files and arrays; the explorer."""

import io
import os
import pathlib
import sys
import urllib.request

import numpy as np
import pytest
from conftest import blobs
from PIL import Image

import milieu

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/cli"))
from networks import onnx_model  # noqa: E402


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Two classes of small images, and a cache that is ours."""
    monkeypatch.setenv("MILIEU_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    folder = tmp_path / "photos"
    for name, level in [("dark", 60), ("light", 190)]:
        (folder / name).mkdir(parents=True)
        for i in range(6):
            pixels = np.clip(rng.normal(level, 20, (48, 64, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")
    return folder


def test_folder_gives_rows_names_and_classes(photos):
    found = milieu.features.extract(photos, "tiny,color")
    assert len(found.X) == 12 and found.X.dtype == np.float32
    assert found.names[0] == "dark/0.png"
    assert found.y.tolist() == ["dark"] * 6 + ["light"] * 6
    assert [name for name, _, _ in found.columns] == ["tiny", "color"]
    assert sum(count for _, _, count in found.columns) == found.X.shape[1]


def test_shards_of_a_folder_are_merged(photos, tmp_path):
    out = tmp_path / "out"
    for shard, count in (("2/2", 6), ("1/2", 6)):
        written = milieu.features.write(photos, "tiny,color", out, shard=shard, n_jobs=1)
        assert (written.n_images, written.n_computed) == (count, count)
        if shard == "2/2":
            with pytest.raises(ValueError, match="1 shard is not complete in .*: 1/2"):
                milieu.features.merge(out)
    assert milieu.features.merge(out).n_images == 12
    milieu.features.write(photos, "tiny,color", tmp_path / "whole")
    for name in ("tiny.npy", "color.npy", "images.csv", "features.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    with pytest.raises(ValueError, match="shard is '3', must be i/n"):
        milieu.features.write(photos, "tiny", tmp_path / "other", shard="3")


def test_files_and_arrays_give_the_rows_of_the_folder(photos):
    folder = milieu.features.extract(photos, "gist")
    paths = [photos / name for name in folder.names]
    files = milieu.features.extract(paths[::-1], "gist")
    by_name = {os.path.basename(os.path.dirname(n)) + "/" + os.path.basename(n): row
               for n, row in zip(files.names, files.X, strict=True)}
    for name, row in zip(folder.names, folder.X, strict=True):
        np.testing.assert_array_equal(by_name[name], row)
    arrays = milieu.features.extract([np.asarray(Image.open(path)) for path in paths], "gist")
    np.testing.assert_array_equal(arrays.X, folder.X)


def test_networks_describe_arrays_as_they_describe_files(photos, tmp_path):
    network = tmp_path / "pool.onnx"
    network.write_bytes(onnx_model("GlobalAveragePool"))
    feature = f"onnx:{network}:preset=unit"
    folder = milieu.features.extract(photos, feature)
    arrays = milieu.features.extract([np.asarray(Image.open(photos / name)) for name in folder.names],
                                     feature)
    assert folder.X.shape == (12, 3)
    np.testing.assert_array_equal(arrays.X, folder.X)


@pytest.mark.parametrize("images, feature, message", [
    ([np.zeros((4, 4), np.float32)], "gist", "image 0 must be an array of uint8"),
    ([np.zeros((4, 4, 4), np.uint8)], "gist", "image 0 must be"),
    ([np.zeros((40, 40), np.uint8)], "dense-sift", "needs visual words"),
    ([np.zeros((40, 40), np.uint8)], "gits", "gits"),
])
def test_wrong_images_are_explained(images, feature, message):
    with pytest.raises(ValueError, match=message):
        milieu.features.extract(images, feature)


def test_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        milieu.features.extract(tmp_path / "nowhere")


def test_importing_milieu_does_not_load_opencv():
    import subprocess
    import sys

    code = ("import sys, milieu; "
            "assert 'milieu._images' not in sys.modules; "
            "maps = open('/proc/self/maps').read(); "
            "assert 'opencv' not in maps, 'OpenCV is loaded'")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_explorer_opens_on_arrays(tmp_path, monkeypatch):
    monkeypatch.setenv("MILIEU_CACHE", str(tmp_path))
    X, y = blobs()
    with milieu.explore(X, labels=y, browser=False) as explorer:
        with urllib.request.urlopen(explorer.url) as answer:
            assert answer.status == 200
    assert explorer._process.returncode is not None


def test_explorer_opens_on_a_list_of_images(photos):
    paths = sorted(photos.rglob("*.png"))
    with milieu.explore(images=paths, browser=False) as explorer:
        with urllib.request.urlopen(explorer.url) as answer:
            assert answer.status == 200


def thumbnail(explorer, row):
    """Return a row's image as the page shows it."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    browser.open(explorer.url).read()
    with browser.open(explorer.url.split("/?")[0] + f"/api/thumb/{row}?side=96") as answer:
        return Image.open(io.BytesIO(answer.read())).convert("RGB")


def test_explorer_shows_images_in_memory_and_files(tmp_path, monkeypatch):
    monkeypatch.setenv("MILIEU_CACHE", str(tmp_path / "cache"))
    X, y = blobs(n=4)
    images = [np.full((20 + i, 30, 3), 20 * i, np.uint8) for i in range(len(X))]
    with milieu.explore(X, labels=y, images=images, browser=False) as explorer:
        shown = thumbnail(explorer, 3)
    assert shown.size == (30, 23)
    np.testing.assert_allclose(shown.getpixel((5, 5)), 60, atol=2)
    files = [tmp_path / f"{i}.png" for i in range(len(X))]
    for image, path in zip(images, files, strict=True):
        Image.fromarray(image).save(path)
    with milieu.explore(X, images=files, browser=False) as explorer:
        np.testing.assert_allclose(thumbnail(explorer, 3).getpixel((5, 5)), 60, atol=2)


def test_explorer_needs_something():
    with pytest.raises(ValueError, match="X, images, or both"):
        milieu.explore()
