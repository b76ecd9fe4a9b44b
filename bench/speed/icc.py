# SPDX-License-Identifier: Apache-2.0
"""ICC beside scikit-learn's GaussianMixture, as in Figure 7 of the paper: two classes in the plane,
100 x 100 cells, 3 + 2 sub-classes, mixtures of 3 and 2 full Gaussians from both of scikit-learn's
starts. Timed is the fit in memory, without reading, on one thread; every process fits for about half a
second and gives its median, so that none pays for a first call or for a core that is still asleep;
processes alternate, and processor time is shown because it hardly depends on what else the machine does.
Then ICC alone: time against n, and a stream of which only the grid is kept (bench/speed/icc_bench.cc).
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402

FITS = {"ours": 1000, "kmeans": 12, "random": 60}  # in one process: about half a second each

SKLEARN = """
import json, sys, time, warnings
import numpy as np
from sklearn.mixture import GaussianMixture
warnings.simplefilter("ignore")
n, repeat, init = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
random = np.random.default_rng(1)
a, b = n * 6 // 10, n - n * 6 // 10
half = a // 2
objects = np.concatenate([random.normal(size=(half, 2)) * np.sqrt([10, 40]),
                          random.normal(size=(a - half, 2)) * np.sqrt([60, 10])])
context = random.normal(size=(b, 2)) * [1.2, 4] + np.where(np.arange(b) < b // 2, -9, 9)[:, None] * [1, 0]
walls, cpus = [], []
for _ in range(repeat):
    wall, cpu = time.perf_counter(), time.process_time()
    for points, k in ((objects, 3), (context, 2)):
        GaussianMixture(k, init_params=init, random_state=0).fit(points)
    walls.append(time.perf_counter() - wall)
    cpus.append(time.process_time() - cpu)
print(json.dumps({"seconds": float(np.median(walls)), "cpu": float(np.median(cpus))}))
"""


def ours(program, mode, n, repeat, threads):
    done = subprocess.run([program, mode, str(n), str(repeat), str(threads)], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{program} failed: {done.stderr}")
    return json.loads(done.stdout)


def compare(program, n, repeat):
    contenders = {
        "milieu icc": [program, "fit", n, FITS["ours"], 1],
        "sklearn, k-means start": ["/usr/bin/python3", "-c", SKLEARN, n, FITS["kmeans"], "kmeans"],
        "sklearn, random start": ["/usr/bin/python3", "-c", SKLEARN, n, FITS["random"], "random"],
    }
    runs = common.interleave(contenders, repeat)
    base = common.median(runs["milieu icc"], "cpu")
    rows = [[name, common.median(runs[name]), common.median(runs[name], "cpu"),
             common.median(runs[name], "cpu") / base] for name in contenders]
    print(f"{n:,} points, one thread")
    common.print_table(["contender", "seconds", "cpu", "cpu / ours"], rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--stream", type=int, default=100_000_000, help="points of the stream")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    program = common.bench_program("icc")
    tables = {n: compare(program, n, options.repeat) for n in (10_000,)}
    growth = [ours(program, "fit", n, 3, 2) for n in (1_000, 10_000, 100_000, 1_000_000, 10_000_000)]
    print("\ntime against n, two threads")
    common.print_table(["n", "seconds", "cpu", "ns of cpu per point"],
                       [[r["n"], r["seconds"], r["cpu"], 1e9 * r["cpu"] / r["n"]] for r in growth])
    stream = common.run([program, "stream", options.stream, 1, 2])
    print(f"\nstream of {options.stream:,} points, two threads: {stream['seconds']:.2f} s, "
          f"{options.stream / stream['seconds'] / 1e6:.1f} M points/s, "
          f"peak memory {stream['peak_bytes'] / 1e6:.0f} MB (a chunk of 1 M points included)")
    common.write_json(options.json, comparison=tables, growth=growth, stream=stream)


if __name__ == "__main__":
    main()
