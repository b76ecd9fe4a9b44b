# SPDX-License-Identifier: Apache-2.0
"""A mosaic of two textures that use the same grey levels in other proportions.

No pixel tells its texture. CAC clusters pixels into words and neighbourhoods into phrases, together.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from milieu import CAC, KMeans
from milieu.metrics import matched_accuracy

SIDE = 48


def mosaic(rng):
    """Grey levels and texture of every pixel: four levels, other proportions inside a disc."""
    y, x = np.mgrid[:SIDE, :SIDE]
    texture = ((x - SIDE / 2) ** 2 + (y - SIDE / 2) ** 2 < (SIDE / 3) ** 2).astype(int)
    shares = np.array([[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4]])
    levels = np.array([[rng.choice(4, p=shares[t]) for t in row] for row in texture])
    return levels + rng.normal(0, 0.15, (SIDE, SIDE)), texture


def main(picture="cac_mosaic.png"):
    rng = np.random.default_rng(0)
    image, texture = mosaic(rng)
    X = image.reshape(-1, 1).astype(np.float32)
    y, x = np.mgrid[:SIDE, :SIDE]
    positions = np.column_stack([x.ravel(), y.ravel()]).astype(np.float32)

    cac = CAC(4, n_phrases=2, n_neighbors=24).fit(X, positions=positions)
    plain = KMeans(2).fit(X)
    results = {"cac": matched_accuracy(texture.ravel(), cac.labels_),
               "k-means": matched_accuracy(texture.ravel(), plain.labels_)}
    for name, accuracy in results.items():
        print(f"{name}: {accuracy:.1%} of the pixels in the right texture")

    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
    for axis, values, title in zip(axes, [image, plain.labels_, cac.labels_],
                                   ["mosaic", "k-means", "phrases of cac"], strict=True):
        axis.imshow(np.reshape(values, (SIDE, SIDE)), cmap="gray")
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
