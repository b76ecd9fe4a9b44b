# SPDX-License-Identifier: Apache-2.0
"""Images that tests generate: three kinds that every feature separates."""

import numpy as np
from PIL import Image

CLASSES = ["blobs", "red", "stripes"]


def make_pixels(kind, seed, size=48):
    """An image of a class, different for every seed."""
    random = np.random.RandomState(seed)
    y, x = np.mgrid[0:size, 0:size]
    if kind == "stripes":
        wave = np.sin(2 * np.pi * x / 6 + random.uniform(0, 6))
        return np.repeat((127 + 120 * wave)[..., None], 3, axis=2).astype(np.uint8)
    if kind == "blobs":
        values = np.full((size, size), 40.0)
        for _ in range(6):
            cx, cy = random.uniform(8, size - 8, 2)
            values += 180 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 18)
        values = np.clip(values, 0, 255)
        return np.stack([values, values, np.clip(values * 1.2 + 30, 0, 255)], 2).astype(np.uint8)
    pixels = np.zeros((size, size, 3), np.uint8)
    pixels[..., 0] = 180 + random.randint(0, 40, (size, size))
    return pixels


def make_folder(root, per_class=6, size=48, ending="png", classes=CLASSES, first=0):
    """root/CLASS/N.png; returns the relative paths in the order of the listing."""
    paths = []
    for kind in classes:
        (root / kind).mkdir(parents=True, exist_ok=True)
        for i in range(first, first + per_class):
            path = root / kind / f"{i:03}.{ending}"
            seed = 100 * CLASSES.index(kind) + i
            Image.fromarray(make_pixels(kind, seed, size)).save(path)
            paths.append(f"{kind}/{path.name}")
    return sorted(paths)
