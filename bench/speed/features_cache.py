#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""milieu features on a folder of thousands of images: a first run, a second one on the unchanged
folder, one after a kill, and the peak memory for several numbers of images.

    bench/speed/features_cache.py [--data DIR] [--feature LIST] [--json FILE]

The images are those of scenes15 (MILIEU_DATA, ../shared/data), or generated here when it is not found.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402


def find_images(data):
    places = [data] if data else [os.environ.get("MILIEU_DATA", ""),
                                  os.path.join(common.ROOT, "../shared/data")]
    for place in places:
        if place and (pathlib.Path(place) / "scenes15").is_dir():
            return sorted(str(p) for p in (pathlib.Path(place) / "scenes15").rglob("*.jpg"))
    return []


def make_images(folder, count):
    """Noise of 256 x 256 pixels, where no real ones are available."""
    import numpy as np
    random = np.random.RandomState(1)
    paths = []
    for i in range(count):
        path = pathlib.Path(folder) / f"{i:05}.pgm"
        path.write_bytes(b"P5 256 256 255\n" + random.bytes(256 * 256))
        paths.append(str(path))
    return paths


def link(paths, folder):
    folder.mkdir()
    for i, path in enumerate(paths):
        (folder / f"{i:05}{pathlib.Path(path).suffix}").symlink_to(os.path.abspath(path))
    return folder


def features(source, feature, out):
    return common.run([common.PROGRAM, "features", source, "--feature", feature, "--out", out, "--json"],
                      threads=os.cpu_count())


def killed_run(source, feature, out, wanted):
    """Starts a run and kills it once about `wanted` images are finished; returns how many were."""
    process = subprocess.Popen([common.PROGRAM, "features", source, "--feature", feature, "--out", out,
                                "--quiet"])
    files = pathlib.Path(out) / ".milieu/files"  # an image is finished with its line here

    def finished():
        return files.read_bytes().count(b"]\n") if files.exists() else 0

    while process.poll() is None and finished() < wanted:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return finished()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the data sets")
    parser.add_argument("--feature", default="tiny,color")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="milieu-bench-") as name:
        folder = pathlib.Path(name)
        paths = find_images(arguments.data)[:arguments.count] or make_images(name, arguments.count)
        rows = []
        for count in sorted({len(paths) // 4, len(paths) // 2, len(paths)}):
            source = link(paths[:count], folder / f"p{count}")
            first = features(source, arguments.feature, folder / f"f{count}")
            second = features(source, arguments.feature, folder / f"f{count}")
            assert second["computed"] == 0
            rows.append((count, first["process_seconds"], count / first["process_seconds"],
                         first["peak_bytes"] / 1e6, second["process_seconds"],
                         second["cpu_seconds"]))
        common.print_table(("images", "first s", "images/s", "peak MB", "second s", "second cpu s"),
                           rows)
        source, total = folder / f"p{len(paths)}", len(paths)
        finished = killed_run(source, arguments.feature, folder / "killed", total // 3)
        rest = features(source, arguments.feature, folder / "killed")["computed"]
        print(f"killed after {finished} of {total} images: the next run computed {rest}")
        common.write_json(arguments.json, feature=arguments.feature, rows=rows,
                          killed={"finished": finished, "computed_after": rest})
    if rest + finished != total:
        sys.exit("finished images were computed again")
    if rows[-1][4] > 1:
        print("the second run took more than a second (see the processor time: the machine may be busy)")


if __name__ == "__main__":
    main()
