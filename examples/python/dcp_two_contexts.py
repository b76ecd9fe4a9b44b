# SPDX-License-Identifier: Apache-2.0
"""The same ellipses split by orientation or by size: the context decides.

A context that lies between the values of one factor makes DCP split by that factor; k-means finds one
split only.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from milieu import DCP, KMeans
from milieu.metrics import matched_accuracy

SIDE = 20


def ellipse(angle, size, rng):
    """A drawn ellipse, twice as long as wide, on a noisy ground."""
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2 + rng.normal(0, 0.3, (2, 1, 1))
    along = x * np.cos(angle) + y * np.sin(angle)
    across = -x * np.sin(angle) + y * np.cos(angle)
    inside = (along / size) ** 2 + (across / size * 2) ** 2
    return np.clip(1.5 - inside, 0, 1) + rng.normal(0, 0.05, (SIDE, SIDE))


def draw(angles, sizes, count, rng):
    """`count` images of every combination, with its number in each factor."""
    rows, kinds = [], []
    for a, angle in enumerate(angles):
        for s, size in enumerate(sizes):
            for _ in range(count):
                rows.append(ellipse(angle + rng.normal(0, 0.08), size * rng.normal(1, 0.04), rng))
                kinds.append((a, s))
    return np.array(rows, dtype=np.float32).reshape(len(rows), -1), np.array(kinds)


def show(axes, X, labels, title):
    for part, axis in enumerate(axes):
        chosen = X[labels == part][:16].reshape(-1, SIDE, SIDE)
        chosen = np.concatenate([chosen, np.zeros((16 - len(chosen), SIDE, SIDE), np.float32)])
        grid = np.block([[chosen[4 * i + j] for j in range(4)] for i in range(4)])
        axis.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
        axis.set_title(f"{title}, part {part + 1}", fontsize=9)
        axis.axis("off")


def main(picture="dcp_two_contexts.png"):
    rng = np.random.default_rng(0)
    X, kinds = draw([np.pi / 4, 3 * np.pi / 4], [5, 9], 40, rng)
    order = rng.permutation(len(X))
    X, kinds = X[order], kinds[order]
    contexts = {"orientation": draw([0, np.pi / 2], [5, 9], 40, rng)[0],
                "size": draw([np.pi / 4, 3 * np.pi / 4], [6.8], 80, rng)[0]}
    figure, axes = plt.subplots(3, 2, figsize=(5, 7.5))
    baseline = KMeans(2).fit(X).labels_
    show(axes[0], X, baseline, "k-means")
    results = {}
    for row, (factor, context) in enumerate(contexts.items(), start=1):
        labels = DCP(n_clusters=2).fit(X, context=context).labels_
        show(axes[row], X, labels, f"context between {factor}s")
        truth = kinds[:, 0 if factor == "orientation" else 1]
        results[factor] = matched_accuracy(truth, labels)
        print(f"split by {factor}: dcp {results[factor]:.1%}, "
              f"k-means {matched_accuracy(truth, baseline):.1%}")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
