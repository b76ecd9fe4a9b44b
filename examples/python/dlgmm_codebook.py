# SPDX-License-Identifier: Apache-2.0
"""Images made of four kinds of patches: clusters of images and the visual words, learned together."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from milieu import DLGMM, KMeans
from milieu.metrics import matched_accuracy

PATCH, GRID = 4, 8


def patch(kind, rng):
    """Stripes across, stripes down, a checkerboard, or nothing."""
    y, x = np.mgrid[:PATCH, :PATCH]
    shapes = [y % 2, x % 2, (x + y) % 2, np.full((PATCH, PATCH), 0.5)]
    return shapes[kind] + rng.normal(0, 0.25, (PATCH, PATCH))


def made(rng, count=60):
    shares = np.array([[0.4, 0.1, 0.3, 0.2], [0.1, 0.4, 0.3, 0.2], [0.25, 0.25, 0.05, 0.45]])
    truth = np.arange(count) % len(shares)
    kinds = [rng.choice(4, GRID * GRID, p=shares[t]) for t in truth]
    images = [np.array([patch(k, rng).ravel() for k in image], dtype=np.float32) for image in kinds]
    return images, truth


def main(picture="dlgmm_codebook.png"):
    rng = np.random.default_rng(0)
    images, truth = made(rng)
    dlgmm = DLGMM(4, n_clusters=3).fit(images)
    pixels = np.array([image.ravel() for image in images])
    results = {"dlgmm": matched_accuracy(truth, dlgmm.labels_),
               "k-means of pixels": matched_accuracy(truth, KMeans(3).fit(pixels).labels_)}
    for name, accuracy in results.items():
        print(f"{name}: {accuracy:.1%} of the images in the right cluster")

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.5))
    words = dlgmm.words_.reshape(-1, PATCH, PATCH)
    axes[0].imshow(np.hstack([np.pad(word, 1, constant_values=1) for word in words]), cmap="gray")
    axes[0].set_title("the four words")
    axes[0].axis("off")
    counts = dlgmm.transform(images)
    for cluster in range(3):
        axes[1].plot(counts[dlgmm.labels_ == cluster].mean(axis=0), "o-", label=f"cluster {cluster}")
    axes[1].set_xlabel("word")
    axes[1].set_ylabel("patches per image")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
