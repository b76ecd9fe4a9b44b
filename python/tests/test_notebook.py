# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: self-contained, small, with the map and the images of the parts."""

import pickle
import re

import numpy as np
import pytest
from conftest import blobs

import milieu


def test_fitted_estimator_shows_figures_sizes_and_map():
    X, _ = blobs()
    kmeans = milieu.KMeans(3).fit(X)
    text = kmeans._repr_html_()
    assert "KMeans(n_clusters=3)" in text and "objective" in text
    assert text.count("<circle") == len(X)
    assert kmeans._repr_mimebundle_()["text/html"] == text
    assert "<circle" not in pickle.loads(pickle.dumps(kmeans))._repr_html_()


def test_samples_are_not_kept_alive():
    X, _ = blobs()
    kmeans = milieu.KMeans(3).fit(X)
    del X
    assert "<circle" not in kmeans._repr_html_()


def test_unfitted_estimator_shows_its_parameters():
    assert "KMeans(n_clusters=5)" in milieu.KMeans(5)._repr_html_()


def test_every_estimator_has_a_card(fitted):
    assert fitted[0]._repr_html_().startswith("<div")


@pytest.mark.parametrize("shape, dtype", [((200, 300, 3), np.uint8), ((28, 28), np.float32)])
def test_images_of_parts_are_small_and_inside(shape, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 50)).astype(np.float32)
    images = (rng.random((3000, *shape[:1])) * 255).astype(dtype)
    kmeans = milieu.KMeans(20, n_init=1).fit(X)
    chosen = [np.broadcast_to(image.reshape((-1,) + (1,) * (len(shape) - 1)), shape)
              for image in images]
    text = kmeans.show(images=chosen)._repr_html_()
    assert 20 < text.count("<img") <= 12 * 6
    assert len(text) < 300_000
    assert not re.search(r"(src|href)='(?!data:)", text)


def test_names_are_escaped():
    assert "<script>" not in milieu.KMeans(init="<script>")._repr_html_()


def test_odd_images_are_refused():
    X, _ = blobs()
    with pytest.raises(ValueError, match="must be height x width"):
        milieu.KMeans(3).fit(X).show(images=[np.zeros(3)] * len(X))


def test_warnings_point_to_the_users_line():
    with pytest.warns(milieu.MilieuWarning) as caught:
        milieu.KMeans(3).fit(np.ones((20, 2), np.float32))
    assert caught[0].filename == __file__
