#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""milieu-mpi with 1 and 2 ranks beside milieu with 1 and 2 threads: seconds of the fit, bytes that a
rank sends in an iteration, seconds in which it talks or waits. One thread per rank; runs alternate;
medians are printed. The peer is our own program with threads: both give the same bytes.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402

MPI = os.environ.get("MILIEU_MPI", os.path.join(common.ROOT, "build/release/bin/milieu-mpi"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
JOBS = {
    "kmeans": ("points", ["-k", "100", "--restarts", "1", "--max-iterations", "20",
                          "--rel-tolerance", "0", "--init", "random"]),
    "gmm": ("points", ["-k", "20", "--max-iterations", "10", "--rel-tolerance", "0",
                       "--init", "random"]),
    "multinomials": ("counts", ["-k", "10", "--restarts", "1", "--max-iterations", "10",
                                "--rel-tolerance", "0"]),
    "topics": ("counts", ["-k", "10", "--max-iterations", "5", "--rel-tolerance", "0"]),
}


def make(kind, n):
    random = np.random.default_rng(1)
    if kind == "counts":
        shares = random.dirichlet(np.full(200, 0.1), size=10)
        return random.poisson(60 * shares[np.arange(n // 20) % 10]).astype(np.float32)
    return (random.normal(size=(n, 64)) + 3 * random.normal(size=(50, 64))[
        random.integers(0, 50, n)]).astype(np.float32)


def run(words, ranks, threads, cost):
    words = [*words, "--threads", str(threads), "--json", "-q"]
    program = [common.PROGRAM] if ranks == 0 else ["mpirun", "--oversubscribe", "-n", str(ranks), MPI]
    done = subprocess.run([*program, *words], env={**ENVIRONMENT, "MILIEU_RANK_COST": str(cost)},
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join([*program, *words])}\n{done.stderr}")
    summary = json.loads(done.stdout)
    talk = json.loads(cost.read_text()) if ranks else []
    return {"seconds": summary["seconds"], "iterations": summary["iterations"],
            "talk": max((t["seconds"] for t in talk), default=0.0),
            "bytes": max((t["bytes_sent"] for t in talk), default=0)}


def compare(method, n, repeat, folder):
    kind, options = JOBS[method]
    path = folder / f"{kind}{n}.npy"
    if not path.exists():
        np.save(path, make(kind, n))
    contenders = {"1 thread": (0, 1), "2 threads": (0, 2), "1 rank": (1, 1), "2 ranks": (2, 1)}
    runs = {name: [] for name in contenders}
    for _ in range(repeat):
        for name, (ranks, threads) in contenders.items():
            runs[name].append(run([method, str(path), *options], ranks, threads, folder / "cost"))
    rows = []
    for name, found in runs.items():
        seconds = statistics.median(r["seconds"] for r in found)
        per_iteration = statistics.median(r["bytes"] / r["iterations"] for r in found)
        rows.append({"method": method, "n": n, "contender": name, "seconds": seconds,
                     "talk_seconds": statistics.median(r["talk"] for r in found),
                     "bytes_per_iteration": per_iteration})
        print(f"{method:<14}{n:>9}  {name:<10}{seconds:9.3f} s  talking or waiting "
              f"{rows[-1]['talk_seconds']:7.3f} s  {per_iteration / 1e3:10.1f} kB per iteration",
              flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100000, 200000])
    given = parser.parse_args()
    if not shutil.which("mpirun") or not os.path.exists(MPI):
        print("ranks: OpenMPI or milieu-mpi is not here: nothing to compare")
        return
    with tempfile.TemporaryDirectory() as temporary:
        rows = [row for method in JOBS for n in given.sizes
                for row in compare(method, n, given.repeat, pathlib.Path(temporary))]
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(
            {"cpu": common.cpu_field("model name"), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
