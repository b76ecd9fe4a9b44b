# SPDX-License-Identifier: Apache-2.0
"""Reading data: opening a large .npy, the pass for NaN and Inf, parsing CSV, beside numpy (and pandas).

- open: a 2 GB float32 .npy full of holes; ours maps it and checks the header, numpy.load(mmap_mode="r").
- finite: 512 MB of float32 in the page cache; ours find_non_finite, numpy.isfinite(X).all().
- csv: 1,000,000 x 20 numbers, six significant digits, in the page cache; ours maps and parses to
  float32 (one parse per value), numpy.loadtxt(dtype=float32), pandas.read_csv(dtype=float32) if it is
  installed. The sums of all values must agree.

Runs alternate; medians are printed. The program is built by the bench preset.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402


def run_ours(*arguments):
    done = subprocess.run([common.bench_program("io"), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result



def bench_open(folder, repeat):
    path = os.path.join(folder, "holes.npy")
    np.lib.format.open_memmap(path, mode="w+", dtype="<f4", shape=(4_000_000, 128))
    ours = statistics.median(run_ours("open", path, 10 * repeat)["seconds"])
    peer = statistics.median(timed(lambda: np.load(path, mmap_mode="r"))[0] for _ in range(10 * repeat))
    return [{"what": "open 2 GB .npy", "threads": 1, "ours": ours, "peer": peer,
             "peer_name": "numpy.load mmap", "unit": "ms", "scale": 1e3}]


def bench_finite(folder, repeat, threads):
    path = os.path.join(folder, "finite.npy")
    points = np.random.default_rng(1).random((1_000_000, 128), dtype=np.float32)
    np.save(path, points)
    rows = []
    for count in threads:
        ours, peer = [], []
        for _ in range(repeat):
            ours += run_ours("finite", path, count, 2)["seconds"][1:]  # the first maps pages
            peer.append(timed(lambda: np.isfinite(points).all())[0])
        rows.append({"what": "look for NaN, 512 MB", "threads": count, "megabytes": points.nbytes / 1e6,
                     "ours": statistics.median(ours), "peer": statistics.median(peer),
                     "peer_name": "numpy.isfinite, 1 thread"})
    return rows


def write_table(path, rows, cols):
    """The text of 20,000 random rows, repeated: faster to write, the same work to parse."""
    block = min(rows, 20_000)
    values = np.random.default_rng(2).normal(size=(block, cols)) * 10.0 ** np.arange(cols).clip(0, 6)
    text = "\n".join(",".join("%.6g" % x for x in row) for row in values) + "\n"
    with open(path, "w") as file:
        for _ in range(rows // block):
            file.write(text)


def read_pandas(path):
    import pandas
    return pandas.read_csv(path, header=None, dtype=np.float32).to_numpy()


def bench_csv(folder, repeat, threads, num_rows):
    path = os.path.join(folder, "table.csv")
    write_table(path, num_rows, 20)
    megabytes = os.path.getsize(path) / 1e6
    peers = {"numpy.loadtxt": lambda: np.loadtxt(path, delimiter=",", dtype=np.float32)}
    try:
        import pandas  # noqa: F401
        peers["pandas.read_csv"] = lambda: read_pandas(path)
    except ImportError:
        pass
    ours = {count: [] for count in threads}
    theirs = {name: [] for name in peers}
    for i in range(repeat):
        for count in threads:
            result = run_ours("csv", path, count, 2)
            ours[count] += result["seconds"]
        for name, read in peers.items():
            if i >= 2:  # slow, and steady
                continue
            seconds, values = timed(read)
            theirs[name].append(seconds)
            assert values.shape == (result["rows"], result["cols"])
            total = values.sum(dtype=np.float64)
            assert abs(total - result["sum"]) <= 1e-9 * np.abs(values).sum(dtype=np.float64)
    return [{"what": f"csv {num_rows:,} x 20", "threads": count, "megabytes": megabytes,
             "ours": statistics.median(ours[count]), "peer": statistics.median(theirs[name]),
             "peer_name": name}
            for count in threads for name in peers]


def print_table(rows):
    print(f"{'':26} {'threads':>7} {'ours':>12} {'MB/s/core':>10} {'peer':>12} {'ratio':>7}  peer")
    for row in rows:
        speed = row["megabytes"] / row["ours"] / row["threads"] if "megabytes" in row else None
        row["megabytes_per_second_and_core"] = speed
        row["ratio"] = row["peer"] / row["ours"]
        print(f"{row['what']:26} {row['threads']:7} {1e3 * row['ours']:9.3f} ms "
              f"{speed if speed is None else round(speed)!s:>10} {1e3 * row['peer']:9.3f} ms "
              f"{row['ratio']:6.1f}x  {row['peer_name']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the CSV file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = bench_open(folder, arguments.repeat)
        rows += bench_finite(folder, arguments.repeat, arguments.threads)
        rows += bench_csv(folder, arguments.repeat, arguments.threads, arguments.rows)
    machine = common.machine()
    print(f"{machine['cpu']}, {machine['cores']} cores, numpy {np.__version__}, medians of {arguments.repeat}")
    print_table(rows)
    common.write_json(arguments.json, benchmark="io", repeat=arguments.repeat, rows=rows)


if __name__ == "__main__":
    main()
