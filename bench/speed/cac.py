# SPDX-License-Identifier: Apache-2.0
"""Context-aware clustering beside k-means: what a nested iteration costs, that cost is linear in the
number of samples, and memory for many of them.

Steps are timed in processor seconds of one thread by milieu_cac_bench; the k-means iteration has no
bounds (every sample against every centre). `first` is the nested iteration after an M-step, `mean` that
of all until J settles, `full` one in which every group and every primitive is examined. --large runs the program
on 5,000,000 primitives in 2,000 images (about 700 MB of files) for a few rounds and shows its memory."""
import argparse
import os
import subprocess
import json
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402


def measure(program, args, n, d):
    done = subprocess.run([program, str(n), str(d), "50", "5", "10", str(args.repeat)], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def run_large(args):
    import numpy as np
    random = np.random.default_rng(1)
    n, images, d = args.large, 2000, 16
    with tempfile.TemporaryDirectory() as folder:
        image = np.repeat(np.arange(images), n // images)
        n = len(image)
        place = random.random((n, 2), dtype=np.float32)
        word = (random.integers(10, size=n) + 10 * (image % 5)).astype(np.int32)
        centres = 3 * random.normal(size=(50, d)).astype(np.float32)
        points = centres[word] + random.normal(size=(n, d)).astype(np.float32)
        for name, array in (("X", points), ("P", place), ("I", image.astype(np.int32))):
            np.save(os.path.join(folder, name + ".npy"), array)
        del points, place
        path = {name: os.path.join(folder, name + ".npy") for name in "XPI"}
        run = common.run([common.PROGRAM, "cac", path["X"], "--positions", path["P"], "--images",
                          path["I"], "--words", 50, "--phrases", 5, "--phrase-model", "counts",
                          "--restarts", 1, "--start", "words",
                          "--continuation", "false", "--max-iterations", args.rounds, "--json"],
                         args.threads)
        size = sum(os.path.getsize(p) for p in path.values())
    print(f"{n:,} primitives in {images:,} images: {run['seconds']:.1f} s, peak "
          f"{run['peak_bytes'] / 2 ** 20:,.0f} MB, input {size / 2 ** 20:,.0f} MB, "
          f"{run['peak_bytes'] / n:.0f} bytes per primitive")
    return {"n": n, "seconds": run["seconds"], "cpu_seconds": run["cpu_seconds"],
            "peak_bytes": run["peak_bytes"], "input_bytes": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", default="25000,50000,100000")
    parser.add_argument("--large", type=int, default=0, help="run the program on this many primitives")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="where to write all figures")
    args = parser.parse_args()
    program = common.bench_program("cac")
    records, rows = [], []
    sizes = [int(n) for n in args.sizes.split(",")]
    for d in (16, 128):
        for n in sizes if d == 16 else sizes[-1:]:
            r = measure(program, args, n, d)
            records.append(r)
            rows.append([f"n={n:,} d={d}", 1e3 * r["kmeans"]] + [
                text for key in ("nested_first", "nested_mean", "nested_full")
                for text in (1e3 * r[key], f"{r[key] / r['kmeans']:.2f}")] + [1e3 * r["m_step"]])
    common.print_table(["case", "k-means ms", "first ms", "ratio", "mean ms", "ratio", "full ms",
                        "ratio", "M-step ms"], rows)
    large = run_large(args) if args.large else None
    common.write_json(args.json, benchmark="cac", results=records, large=large,
                      repetitions=args.repeat)


if __name__ == "__main__":
    main()
