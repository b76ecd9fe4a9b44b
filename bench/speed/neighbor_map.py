# SPDX-License-Identifier: Apache-2.0
"""The explorer's map by neighbours on made vectors: seconds and memory beside Debian's umap-learn,
and how well both keep neighbours (scikit-learn's trustworthiness, 15 neighbours). Run by a python
that has umap, otherwise only the explorer's figures are printed.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MILIEU_PROGRAM", str(ROOT / "build/release/bin/milieu"))
NEIGHBORS = 15


def made_vectors(rows, columns):
    """Sixty groups on curved sheets of three dimensions: neighbours mean something."""
    random = np.random.RandomState(1)
    group = random.randint(0, 60, rows)
    places = random.normal(size=(rows, 3))
    sheets = random.normal(size=(60, 3, columns)) / np.sqrt(columns)
    bends = random.normal(size=(60, 3, columns)) / np.sqrt(columns)
    centers = random.normal(size=(60, columns)) * 3 / np.sqrt(columns)
    points = np.einsum("ij,ijk->ik", places, sheets[group])
    points += np.einsum("ij,ijk->ik", np.sin(2 * places), bends[group])
    return (points + centers[group] + 0.02 * random.normal(size=points.shape)).astype(np.float32)


def of_explorer(path, folder):
    """The map, its seconds, and the server's memory before and after."""
    process = subprocess.Popen([PROGRAM, "explore", path, "--no-browser", "--port", "0"], text=True,
                               stdout=subprocess.PIPE, env={**os.environ, "MILIEU_CACHE": folder})
    try:
        address = process.stdout.readline().strip()
        base, token = address.split("/?")
        before = common.largest_memory(process.pid)
        start, stages = time.monotonic(), {}
        while True:
            with urllib.request.urlopen(f"{base}/api/collection/neighbor-map?{token}") as answer:
                body = answer.read()
                if answer.status == 200:
                    break
            stages.setdefault(json.loads(body)["stage"], time.monotonic() - start)
            time.sleep(0.05)
        seconds = time.monotonic() - start
        places = np.frombuffer(body, "<f4").reshape(-1, 2)
        return places, {"seconds": seconds, "layout_began": stages.get("layout"),
                        "mb_before": before, "mb": common.largest_memory(process.pid)}
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=9000)
    parser.add_argument("--columns", type=int, default=1280)
    parser.add_argument("--json")
    options = parser.parse_args()
    points = made_vectors(options.rows, options.columns)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/points.npy", points)
        places, figures = of_explorer(f"{folder}/points.npy", folder)
    maps = {"explorer": (places, figures)}
    try:
        import umap
        times = []
        for _ in range(2):  # the first compiles
            start = time.monotonic()
            theirs = umap.UMAP(n_neighbors=NEIGHBORS, random_state=1).fit_transform(points)
            times.append(time.monotonic() - start)
        maps["umap-learn"] = (theirs, {"seconds": times[1], "seconds_with_compiling": times[0]})
    except ImportError:
        print("umap-learn is not installed: no comparison")
    from sklearn.manifold import trustworthiness
    for name, (places, figures) in maps.items():
        figures["trustworthiness"] = trustworthiness(points[::3], places[::3], n_neighbors=NEIGHBORS)
        print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in figures.items() if value is not None))
    if options.json:
        common.write_json(options.json, rows=options.rows, columns=options.columns,
                          maps={name: figures for name, (_, figures) in maps.items()})


if __name__ == "__main__":
    main()
