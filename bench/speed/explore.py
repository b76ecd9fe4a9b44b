#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon the explorer shows something, and how fast its server answers.

    bench/speed/explore.py [--images DIR] [--limit 3000] [--points 60000] [--repeat 3] [--json FILE]

Images (default: scenes15 of the shared data; a part of them, --limit): time from the start of the
program, with a warm cache, to the page, the collection and the first 48 thumbnails. Points: time to the
map of 60,000 rows. Then requests per second and the server's memory. What the page itself takes is
measured in web/ (see docs/explorer.md)."""

import argparse
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("MILIEU_PROGRAM", str(ROOT / "build/release/bin/milieu"))
FIRST_THUMBS = 48


class Server:
    def __init__(self, arguments, cache):
        self.began = time.monotonic()
        self.process = subprocess.Popen([PROGRAM, "explore", *arguments, "--no-browser"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "MILIEU_CACHE": str(cache)})
        parts = urllib.parse.urlparse(self.process.stdout.readline().strip())
        token = urllib.parse.parse_qs(parts.query)["token"][0]
        self.headers = {"Cookie": f"milieu_token_{parts.port}={token}"}
        self.connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=600)

    def get(self, path):
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]}")
        return body

    def seconds(self):
        return time.monotonic() - self.began

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def close(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def first_view(arguments, cache, has_images):
    """Seconds to the page, to the collection with its map, to the first thumbnails; MB."""
    server = Server(arguments, cache)
    try:
        server.get("/")
        server.get("/assets/app.js")
        page = server.seconds()
        server.get("/api/collection")
        server.get("/api/collection/classes")
        server.get("/api/collection/map")
        view = server.seconds()
        for row in range(FIRST_THUMBS if has_images else 0):
            server.get(f"/api/thumb/{row}?side=96")
        thumbs = server.seconds()
        began = time.monotonic()
        for _ in range(500):
            server.get("/api/collection")
        rate = 500 / (time.monotonic() - began)
        return page, view, thumbs, rate, server.memory()
    finally:
        server.close()


def find_images(given):
    for place in [given, os.environ.get("MILIEU_DATA", "") + "/scenes15",
                  str(ROOT.parent / "shared/data/scenes15")]:
        if place and pathlib.Path(place).is_dir():
            return pathlib.Path(place)
    return None


def report(name, rows, record):
    best = np.array(rows)
    record[name] = {"page": best[:, 0].min(), "map": best[:, 1].min(), "thumbs": best[:, 2].min(),
                    "requests_per_second": best[:, 3].max(), "peak_mb": best[:, 4].max()}
    print(f"{name:<34} {best[:, 0].min():7.2f} {best[:, 1].min():9.2f} {best[:, 2].min():11.2f} "
          f"{best[:, 3].max():10.0f} {best[:, 4].max():9.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", default="")
    parser.add_argument("--limit", type=int, default=3000)
    parser.add_argument("--points", type=int, default=60000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    record = {}
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, best of {options.repeat}\n")
    print(f"{'collection':<34} {'page s':>7} {'+ map s':>9} {'+ thumbs s':>11} {'requests/s':>10} "
          f"{'peak MB':>9}")
    with tempfile.TemporaryDirectory(prefix="milieu-explore-") as folder:
        folder = pathlib.Path(folder)
        images = find_images(options.images)
        if images is None:
            print("images: scenes15 was not found (give a folder with --images): skipped")
        else:
            names = sorted(path for path in images.rglob("*") if path.suffix.lower() in (".jpg", ".png"))
            names = names[:: max(1, len(names) // options.limit)][: options.limit]
            for name in names:
                place = folder / "photos" / name.relative_to(images)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(name.read_bytes())
            arguments = [str(folder / "photos"), "--feature", "gist"]
            first_view(arguments, folder / "cache", True)  # fills the cache
            report(f"{len(names)} images, gist, warm cache",
                   [first_view(arguments, folder / "cache", True) for _ in range(options.repeat)],
                   record)
        random = np.random.RandomState(0)
        points = random.normal(size=(options.points, 64)).astype(np.float32)
        np.save(folder / "X.npy", points)
        np.save(folder / "y.npy", random.randint(0, 10, options.points))
        arguments = [str(folder / "X.npy"), "--labels", str(folder / "y.npy")]
        report(f"{options.points} rows of 64 numbers",
               [first_view(arguments, folder / "cache", False) for _ in range(options.repeat)],
               record)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
