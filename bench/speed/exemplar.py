# SPDX-License-Identifier: Apache-2.0
"""Exemplar clustering beside affinity propagation (scikit-learn, R's apcluster) and R's pam.

All contenders get the same distances and penalties; one function computes the energy of whatever
exemplars they return. pam gets the number of exemplars that ours found, since it needs one. AP counts
as converged when scikit-learn says so. --large adds n = 100,000 and 1,000,000 in the plane.
"""
import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("MILIEU_PROGRAM", os.path.join(HERE, "../../build/release/bin/milieu"))
R_SCRIPT = r"""
suppressMessages({library(cluster); library(apcluster)})
args <- commandArgs(TRUE)
n <- as.integer(args[2]); penalty <- as.numeric(args[3]); k <- as.integer(args[4])
d <- matrix(readBin(args[1], "double", n * n), n, n)
t0 <- proc.time()[3]
ap <- tryCatch(apcluster(-d, p = -penalty, maxits = 1000), error = function(e) NULL)
t1 <- proc.time()[3]
cat("ap", t1 - t0, if (is.null(ap)) "" else ap@exemplars - 1, "\n")
t0 <- proc.time()[3]
m <- if (k < n) pam(as.dist(d), k, pamonce = 6, cluster.only = FALSE)$id.med else 1:n
t1 <- proc.time()[3]
cat("pam", t1 - t0, m - 1, "\n")
"""


def make_points(kind, n, random):
    if kind == "uniform2":
        return random.random((n, 2)).astype(np.float32)
    centres = 3 * random.normal(size=(10, 10))
    return (centres[random.integers(10, size=n)] + random.normal(size=(n, 10))).astype(np.float32)


def energy(distances, exemplars, penalty):
    exemplars = np.unique(np.asarray(exemplars, int))
    if not len(exemplars):
        return float("inf")
    cost = distances[:, exemplars].min(1)
    cost[exemplars] = 0
    return float(cost.sum() + penalty * len(exemplars))


def run_ours(path, penalty, threads, extra=()):
    started = time.perf_counter()
    done = subprocess.run(
        [PROGRAM, "exemplar", path, "--penalty", repr(float(penalty)), "--threads", str(threads),
         "--json", *extra],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout), time.perf_counter() - started


def run_sklearn(distances, penalty):
    from sklearn.cluster import AffinityPropagation
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        model = AffinityPropagation(affinity="precomputed", preference=-penalty, max_iter=1000,
                                    random_state=0).fit(-distances)
        seconds = time.perf_counter() - started
    converged = not any("converge" in str(w.message) for w in caught)
    return model.cluster_centers_indices_, seconds, converged


def run_r(folder, distances, penalty, k):
    path = os.path.join(folder, "d.bin")
    distances.astype(np.float64).tofile(path)
    script = os.path.join(folder, "peer.R")
    with open(script, "w") as file:
        file.write(R_SCRIPT)
    done = subprocess.run(["Rscript", script, path, str(len(distances)), repr(float(penalty)),
                           str(k)], capture_output=True, text=True)
    out = {}
    for line in done.stdout.splitlines():
        name, seconds, *rows = line.split()
        out[name] = ([int(row) for row in rows], float(seconds))
    return out


def compare(n, kind, factor, threads, seed, with_r):
    random = np.random.default_rng(seed)
    points = make_points(kind, n, random)
    squares = ((points[:, None].astype(float) - points[None]) ** 2).sum(-1) if n <= 1000 else None
    if squares is None:
        p = points.astype(float)
        squares = np.maximum((p * p).sum(1)[:, None] + (p * p).sum(1) - 2 * p @ p.T, 0)
        np.fill_diagonal(squares, 0)
    distances = np.sqrt(squares)
    penalty = factor * float(np.median(distances[np.triu_indices(n, 1)]))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        np.save(path, points)
        ours, wall = run_ours(path, penalty, threads)
        row = {"n": n, "data": kind, "penalty": f"{factor} x median", "k": len(ours["exemplars"]),
               "ours_energy": energy(distances, ours["exemplars"], penalty),
               "gap": ours["gap"], "ours_seconds": ours["seconds"], "ours_wall": wall}
        centers, seconds, converged = run_sklearn(distances, penalty)
        row.update(sklearn_energy=energy(distances, centers, penalty), sklearn_seconds=seconds,
                   sklearn_converged=converged)
        if with_r:
            for name, (rows, seconds) in run_r(folder, distances, penalty, row["k"]).items():
                row[f"r_{name}_energy"] = energy(distances, rows, penalty)
                row[f"r_{name}_seconds"] = seconds
    return row


def large(n, threads, seed):
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        np.save(path, random.random((n, 2)).astype(np.float32))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        ours, wall = run_ours(path, 240 / (n * np.pi), threads,
                              ["--distance", "squared-euclidean", "--neighbors", "40"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"n": n, "k": len(ours["exemplars"]), "gap": ours["gap"], "seconds": ours["seconds"],
            "wall": wall, "max_rss_mb": max(before, after) / 1024}


def print_row(row):
    peers = [key[:-7] for key in row if key.endswith("_energy") and key != "ours_energy"]
    text = (f"{row['n']:5d} {row['data']:9s} {row['penalty']:12s} k {row['k']:4d}  ours "
            f"{row['ours_energy']:.6g} gap {100 * row['gap']:.3f} % {row['ours_seconds']:.2f} s")
    for peer in peers:
        worse = row[f"{peer}_energy"] / row["ours_energy"] - 1
        text += (f" | {peer} {100 * worse:+.3f} % {row[f'{peer}_seconds']:.2f} s "
                 f"({row[f'{peer}_seconds'] / max(row['ours_seconds'], 1e-9):.0f}x)")
    if not row["sklearn_converged"]:
        text += " (AP did not converge)"
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="where the figures go")
    parser.add_argument("--sizes", default="300,1000,3000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    with_r = subprocess.run(["sh", "-c", "command -v Rscript"], capture_output=True).returncode == 0
    rows = []
    for n in map(int, args.sizes.split(",")):
        for kind in ("gauss10", "uniform2"):
            for factor in (0.1, 1, 10):
                rows.append(compare(n, kind, factor, args.threads, args.seed, with_r))
                print_row(rows[-1])
    big = []
    if args.large:
        for n in (100_000, 1_000_000):
            big.append(large(n, args.threads, args.seed))
            print(big[-1], flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"machine": platform.processor() or platform.machine(), "seed": args.seed,
                       "threads": args.threads, "rows": rows, "large": big}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
