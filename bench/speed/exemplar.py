# SPDX-License-Identifier: Apache-2.0
"""Exemplar clustering beside affinity propagation (scikit-learn, R's apcluster) and R's pam.

All contenders get the same distances and the same penalty; one function computes the energy of
whatever exemplars they return. pam gets the number of exemplars that ours found, since it needs one.
AP has 1000 iterations and counts as converged when scikit-learn says so. Every contender runs in a
separate process, alternating; wall and CPU seconds exclude reading the file. --large adds
n = 100,000 and 1,000,000 in the plane. With --json the cells of earlier runs in that file are kept,
so that the table can be measured in pieces; --table only prints it.
"""
import argparse
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402  (before numpy: it sets nothing, but its environment() serves the peers)

import numpy as np  # noqa: E402

PEERS = ("sklearn", "apcluster", "pam")
R_SCRIPT = r"""
args <- commandArgs(TRUE)
n <- as.integer(args[3]); penalty <- as.numeric(args[4]); k <- as.integer(args[5])
d <- matrix(readBin(args[2], "double", n * n), n, n)
if (args[1] == "apcluster") {
  suppressMessages(library(apcluster))
  s <- -d
  t <- proc.time()
  r <- apcluster(s, p = -penalty, maxits = 1000, details = FALSE)
  t <- proc.time() - t
  rows <- r@exemplars; converged <- r@it < 1000
} else {
  library(cluster)
  s <- as.dist(d)
  t <- proc.time()
  rows <- if (k < n) pam(s, k, pamonce = 6)$id.med else 1:n
  t <- proc.time() - t
  converged <- TRUE
}
cat(sprintf('{"seconds": %.4f, "fit_cpu": %.4f, "converged": %s, "exemplars": [%s]}',
            t[3], t[1] + t[2], tolower(converged), paste(rows - 1, collapse = ",")))
"""


def make_points(kind, n, seed):
    random = np.random.default_rng(seed)
    if kind == "uniform2":
        return random.random((n, 2)).astype(np.float32)
    centres = 3 * random.normal(size=(10, 10))
    return (centres[random.integers(10, size=n)] + random.normal(size=(n, 10))).astype(np.float32)


def all_distances(points):
    p = points.astype(float)
    squares = np.zeros((len(p), len(p)))
    for column in p.T:  # differences, not a product: equal points are at 0
        squares += (column[:, None] - column[None]) ** 2
    return np.sqrt(squares)


def energy(distances, exemplars, penalty):
    exemplars = np.unique(np.asarray(exemplars, int))
    if not len(exemplars):
        return float("inf")
    cost = distances[:, exemplars].min(1)
    cost[exemplars] = 0
    return float(cost.sum() + penalty * len(exemplars))


def run_sklearn(path, n, penalty):
    """In a separate process: prints what the others print."""
    import time
    import warnings
    from sklearn.cluster import AffinityPropagation
    similarities = -np.fromfile(path).reshape(n, n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began, cpu = time.perf_counter(), time.process_time()
        model = AffinityPropagation(affinity="precomputed", preference=-penalty, max_iter=1000,
                                    random_state=0).fit(similarities)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "fit_cpu": cpu,
                      "converged": not any("converge" in str(w.message) for w in caught),
                      "exemplars": model.cluster_centers_indices_.tolist()}))


def ours_command(path, penalty, threads, *more):
    return [common.PROGRAM, "exemplar", path, "--penalty", repr(float(penalty)), "--threads",
            threads, "--json", *more]


def peer_command(peer, folder, n, penalty, k):
    matrix = os.path.join(folder, "d.bin")
    if peer == "sklearn":
        return [sys.executable, __file__, "--sklearn", matrix, n, repr(penalty)]
    return ["Rscript", "--vanilla", os.path.join(folder, "peer.R"), peer, matrix, n, repr(penalty), k]


def compare(n, kind, factor, args):
    points = make_points(kind, n, args.seed)
    distances = all_distances(points)
    penalty = factor * float(np.median(distances[np.triu_indices(n, 1)]))
    cell = {"n": n, "data": kind, "factor": factor, "seed": args.seed, "threads": args.threads}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        np.save(path, points)
        distances.tofile(os.path.join(folder, "d.bin"))
        with open(os.path.join(folder, "peer.R"), "w") as file:
            file.write(R_SCRIPT)
        runs = {}
        for _ in range(args.repeat):
            ours = common.run(ours_command(path, penalty, args.threads), args.threads)
            ours["fit_cpu"] = ours["cpu_seconds"]
            runs.setdefault("ours", []).append(ours)
            cell["k"], cell["gap"] = len(ours["exemplars"]), ours["gap"]
            for peer in filter(None, args.peers.split(",")):
                runs.setdefault(peer, []).append(
                    common.run(peer_command(peer, folder, n, penalty, cell["k"]), 1))
    for name, found in runs.items():
        cell[name] = {"energy": energy(distances, found[-1]["exemplars"], penalty),
                      "seconds": common.median(found), "cpu": common.median(found, "fit_cpu"),
                      "converged": found[-1].get("converged", True)}
    return cell


def large(n, args):
    penalty = 240 / (n * np.pi)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        np.save(path, np.random.default_rng(args.seed).random((n, 2)).astype(np.float32))
        ours = common.run(ours_command(path, penalty, args.threads, "--distance",
                                       "squared-euclidean", "--neighbors", "40"), args.threads)
    return {"n": n, "k": len(ours["exemplars"]), "gap": ours["gap"], "seconds": ours["seconds"],
            "process_seconds": ours["process_seconds"], "cpu": ours["cpu_seconds"],
            "peak_mb": ours["peak_bytes"] / 2**20, "seed": args.seed, "threads": args.threads}


def print_cells(cells):
    header = ["n", "data", "x median", "k", "energy", "gap %", "s", "cpu s"]
    for peer in PEERS:
        header += [peer, "energy +%", "times slower", "(cpu)"]
    rows = []
    for cell in sorted(cells, key=lambda c: (c["n"], c["data"], c["factor"])):
        ours = cell["ours"]
        row = [cell["n"], cell["data"], cell["factor"], cell["k"], f"{ours['energy']:.6g}",
               f"{100 * cell['gap']:.3f}", f"{ours['seconds']:.3f}", f"{ours['cpu']:.2f}"]
        for peer in PEERS:
            found = cell.get(peer)
            if not found:
                row += ["-"] * 4
                continue
            row += [f"{found['seconds']:.2f} s" + ("" if found["converged"] else " (no conv.)"),
                    f"{100 * (found['energy'] / ours['energy'] - 1):+.4f}",
                    f"{found['seconds'] / max(ours['seconds'], 1e-9):.0f}",
                    f"{found['cpu'] / max(ours['cpu'], 1e-9):.0f}"]
        rows.append(row)
    common.print_table(header, rows)


def load(path):
    if not path or not os.path.exists(path):
        return {"cells": [], "large": []}
    with open(path) as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="where the figures go; cells already there are kept")
    parser.add_argument("--sizes", default="300,1000",
                        help="numbers of points; with 3000 the peers take most of an hour")
    parser.add_argument("--data", default="gauss10,uniform2")
    parser.add_argument("--factors", default="0.1,1,10")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", help="numbers of points in the plane, such as 100000,1000000")
    parser.add_argument("--table", action="store_true", help="only print what --json holds")
    parser.add_argument("--sklearn", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.sklearn:
        return run_sklearn(args.sklearn[0], int(args.sklearn[1]), float(args.sklearn[2]))
    content = load(args.json)
    cells, big = content["cells"], content["large"]
    if not args.table:
        for n in map(int, filter(None, args.sizes.split(","))):
            for kind in args.data.split(","):
                for factor in map(float, args.factors.split(",")):
                    cell = compare(n, kind, factor, args)
                    same = lambda c: (c["n"], c["data"], c["factor"]) == (n, kind, factor)
                    for old in filter(same, cells):  # peers measured earlier stay
                        cell = {**old, **cell}
                    cells[:] = [c for c in cells if not same(c)] + [cell]
                    print_cells([cell])
                    common.write_json(args.json, cells=cells, large=big)
        for n in map(int, filter(None, (args.large or "").split(","))):
            big[:] = [b for b in big if b["n"] != n] + [large(n, args)]
            print(big[-1], flush=True)
            common.write_json(args.json, cells=cells, large=big)
    print_cells(cells)
    for row in big:
        print(row)


if __name__ == "__main__":
    sys.exit(main())
