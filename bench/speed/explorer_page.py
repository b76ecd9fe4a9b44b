# SPDX-License-Identifier: Apache-2.0
"""The explorer's page in a real browser (Debian's chromium, WebGL by software where there is no
graphics card): time to the first view of a folder of images with a warm cache, frame time of panning
and zooming the map of the images and of 60,000 points, memory of the server and of the page.
Required: 2 s; 50 frames per second where the machine allows, else the frame time of the page's own
work.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MILIEU_PROGRAM", str(ROOT / "build/release/bin/milieu"))
PAGE = str(ROOT / "web/test/bench/page.mjs")


@contextlib.contextmanager
def explorer(*arguments):
    """A server; yields its address, the seconds until it printed it, and its process."""
    start = time.monotonic()
    process = subprocess.Popen([PROGRAM, "explore", *arguments, "--no-browser", "--port", "0"],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip(), time.monotonic() - start, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def measure(what, address):
    done = subprocess.run([str(ROOT / "scripts/web"), "node", PAGE, what, address], check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def first_view(folder, repeat):
    """Seconds from the command to the first view; the first round fills the cache and is left out."""
    rounds = []
    for _ in range(repeat + 1):
        with explorer(folder, "--feature", "tiny") as (address, ready, process):
            page = measure("first-view", address)
            rounds.append({"server_seconds": ready, "page_seconds": page["milliseconds"] / 1000,
                           "images_seconds": ready + page["images_milliseconds"] / 1000,
                           "seconds": ready + page["milliseconds"] / 1000,
                           "server_mb": common.largest_memory(process.pid)})
    return rounds[1:]


def image_frames(folder):
    with explorer(folder, "--feature", "tiny") as (address, _, _process):
        return measure("frames", address)


def frames(rows, folder):
    random = np.random.RandomState(0)
    classes = random.randint(0, 8, rows)
    points = (random.randn(8, 16)[classes] * 2 + random.randn(rows, 16)).astype(np.float32)
    np.save(f"{folder}/points.npy", points)
    np.save(f"{folder}/classes.npy", classes.astype(np.int32))
    with explorer(f"{folder}/points.npy", "--labels", f"{folder}/classes.npy") as (address, _, _process):
        return measure("frames", address)


def print_frames(what, figures):
    for kind in ("pan", "zoom"):
        one = figures[kind]
        print(f"{kind}, {what}: frame {one['frame_ms_median']:.1f} ms (95 %: {one['frame_ms_95']:.1f}), "
              f"the page's own work {one['work_ms_per_frame']:.2f} ms, of it scripts {one['script_ms_per_frame']:.2f} ms")
    print(f"heap of the page {figures['heap_bytes'] / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--images", help="folder for the first view, in place of scenes15")
    parser.add_argument("--json")
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("MILIEU_DATA", ROOT / "../shared/data")) / "scenes15"
    result = {"rows": options.rows}
    with tempfile.TemporaryDirectory() as folder:
        result["frames"] = frames(options.rows, folder)
        images = options.images or next((str(p) for p in (data / "images", data) if p.is_dir()), None)
        result["first_view"] = first_view(images, options.repeat) if images else None
        result["image_frames"] = image_frames(images) if images else None
    print_frames(f"{options.rows} points", result["frames"])
    if result["first_view"]:
        rounds = result["first_view"]
        print(f"first view of {images}: images after "
              f"{common.median(rounds, 'images_seconds'):.2f} s, the map too after "
              f"{common.median(rounds):.2f} s; the server was ready after "
              f"{common.median(rounds, 'server_seconds'):.2f} s and takes "
              f"{common.median(rounds, 'server_mb'):.0f} MB")
        print_frames("map of the images", result["image_frames"])
    else:
        print("scenes15 was not found: no figure for the first view (set MILIEU_DATA to the data)")
    if options.json:
        common.write_json(options.json, **result)


if __name__ == "__main__":
    main()
