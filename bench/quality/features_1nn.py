#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A sanity figure for every feature: images per second (one thread, decoding included), and how often
the nearest other image has the same class (leave one out), on uiuc_textures or another folder.

    bench/quality/features_1nn.py [--folder DIR] [--feature LIST] [--json FILE]

Distances: Euclidean, and chi-squared where no number is negative.
"""
import argparse
import csv
import os
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402

FEATURES = ["dense-sift", "sparse-sift", "hessian-affine", "local-color", "hog", "textons", "mr8", "gist",
            "lbp", "rot-lbp", "color", "tiny:normalize=true"]


def find_folder(folder):
    for place in [folder, os.path.join(os.environ.get("MILIEU_DATA", ""), "uiuc_textures"),
                  os.path.join(common.ROOT, "../shared/data/uiuc_textures")]:
        if place and os.path.isdir(place):
            return place
    sys.exit("uiuc_textures was not found: set MILIEU_DATA to the folder of the data sets")


def nearest_is_right(distances, classes):
    np.fill_diagonal(distances, np.inf)
    return float((classes[distances.argmin(axis=1)] == classes).mean())


def chi_squared(rows):
    out = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        total = rows + row
        out[i] = ((rows - row) ** 2 / np.where(total > 0, total, 1)).sum(axis=1)
    return out


def euclidean(rows):
    squares = (rows ** 2).sum(axis=1)
    return squares[:, None] + squares[None] - 2 * rows @ rows.T


def measure(folder, feature, out):
    done = common.run([common.PROGRAM, "features", folder, "--feature", feature, "--out", out, "--json",
                       "--threads", "1"])
    name = next(iter(done["features"]))
    rows = np.load(os.path.join(out, name + ".npy")).astype(np.float64)
    with open(os.path.join(out, "images.csv"), newline="") as file:
        classes = np.array([row["class"] for row in csv.DictReader(file)])
    chi = nearest_is_right(chi_squared(rows), classes) if rows.min() >= 0 else None
    return {"feature": feature, "columns": rows.shape[1], "n": len(rows),
            "images_per_cpu_second": len(rows) / done["cpu_seconds"],
            "euclidean": nearest_is_right(euclidean(rows), classes), "chi_squared": chi}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder")
    parser.add_argument("--feature", help="one of them only; default: all")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    folder = find_folder(arguments.folder)
    results = []
    with tempfile.TemporaryDirectory(prefix="milieu-bench-") as out:
        for i, feature in enumerate([arguments.feature] if arguments.feature else FEATURES):
            results.append(measure(folder, feature, pathlib.Path(out) / str(i)))
    print(f"{folder}: {results[0]['n']} images; words: 200, learned from the same images")
    common.print_table(("feature", "columns", "images/cpu s", "1-NN euclidean %", "1-NN chi-squared %"), [
        (r["feature"], r["columns"], r["images_per_cpu_second"], 100 * r["euclidean"],
         "-" if r["chi_squared"] is None else 100 * r["chi_squared"]) for r in results])
    common.write_json(arguments.json, folder=os.path.basename(folder), results=results)


if __name__ == "__main__":
    main()
