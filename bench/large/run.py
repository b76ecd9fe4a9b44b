#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How each method grows, beside its peer: one job per row, n doubled twice, seconds and peak memory.

    bench/large/run.py [JOB ...] [--sizes small|large] [--threads N] [--data DIR] [--json FILE] [--fresh]

Every run is a process of its own; its figures are kept in FILE, and what is there is not run again, so the
whole may be stopped and continued. `seconds` are those of the fit; peak memory is that of the process, points
included. Points are made like embeddings: unit vectors about centres, spread mostly along 24 directions.
`accuracy` compares with the clusters that the points were drawn from. A peer stops being run at the size
above which it would need more than --peer-memory (GB).
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def embeddings(n, d, k, seed=1):
    random = np.random.default_rng(seed)
    labels = random.integers(k, size=n)
    centres = random.normal(size=(k, d)).astype(np.float32)
    spread = random.normal(size=(24, d)).astype(np.float32)
    points = np.empty((n, d), np.float32)
    for begin in range(0, n, 65536):
        own = slice(begin, min(n, begin + 65536))
        size = own.stop - own.start
        points[own] = centres[labels[own]] + 0.2 * random.normal(size=(size, 24)).astype(np.float32) @ spread
        points[own] += 0.5 * random.normal(size=(size, d)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, labels


def counts(n, d, k, seed=1):
    random = np.random.default_rng(seed)
    topics = random.dirichlet(np.full(d, 0.1), size=k)
    shares = random.dirichlet(np.full(k, 0.2), size=n)
    return np.array([random.multinomial(300, row) for row in shares @ topics], np.float32), shares.argmax(1)


# Job: method and options of ours, peers with the memory in GB that they need for n x d, sizes, what is asked.
def nothing(n, d):
    return 3e-9 * 8 * n * d


JOBS = {
    "ncut": {
        "ours": ["ncut", "-k", 100], "k": 100, "make": embeddings, "d": 768,
        "peers": {"spectral": nothing}, "small": [5_000, 10_000, 20_000], "large": [25_000, 50_000, 100_000],
        "asked": "5x scikit-learn, accuracy within 1 point"},
    "ward": {
        "ours": ["agglomerative", "-k", 100, "--linkage", "ward"], "k": 100, "make": embeddings, "d": 128,
        "peers": {"ward_fastcluster": nothing, "ward_scipy": lambda n, d: 4e-9 * n * n + 8e-9 * n * n / 2},
        "small": [5_000, 10_000, 20_000], "large": [25_000, 50_000, 100_000], "asked": "2x, memory linear in n"},
    "average": {
        "ours": ["agglomerative", "-k", 100, "--linkage", "average"], "k": 100, "make": embeddings, "d": 128,
        "peers": {"average_fastcluster": lambda n, d: 12e-9 * n * n, "average_scipy": lambda n, d: 8e-9 * n * n},
        "small": [3_000, 6_000, 12_000], "large": [7_500, 15_000, 30_000], "asked": "2x"},
    "topics": {
        "ours": ["topics", "-k", 15], "k": 15, "make": counts, "d": 100,
        "peers": {"topics_sklearn": nothing}, "small": [1_125, 2_250, 4_500], "large": [4_500, 9_000, 18_000],
        "asked": "5x at equal perplexity"},
    "gmm": {
        "ours": ["gmm", "-k", 32, "--covariance", "full", "--max-iterations", 20, "--rel-tolerance", 0,
                 "--restarts", 1], "k": 32,
        "make": embeddings, "d": 32, "peers": {"gmm_full": nothing}, "small": [25_000, 50_000, 100_000],
        "large": [250_000, 500_000, 1_000_000], "asked": "5x"},
    "exemplar": {
        "ours": ["exemplar"], "k": 100, "make": embeddings, "d": 128, "peers": {},
        "small": [2_500, 5_000, 10_000], "large": [25_000, 50_000, 100_000],
        "asked": "gap at most 2.5 %, 8 GB"},
}


def points_of(args, job, n):
    """Files of points and labels, made once."""
    os.makedirs(args.data, exist_ok=True)
    spec = JOBS[job]
    stem = os.path.join(args.data, f"{spec['make'].__name__}-{n}x{spec['d']}-{spec['k']}")
    if not os.path.exists(stem + ".labels.npy"):
        points, labels = spec["make"](n, spec["d"], spec["k"])
        np.save(stem + ".npy", points)
        np.save(stem + ".labels.npy", labels)
    return stem + ".npy", stem + ".labels.npy"


def accuracy(found, truth):
    table = np.zeros((found.max() + 1, truth.max() + 1), np.int64)
    np.add.at(table, (found, truth), 1)
    rows, columns = linear_sum_assignment(-table)
    return 100 * table[rows, columns].sum() / len(truth)


def run_ours(args, job, points, truth):
    spec = JOBS[job]
    command = [common.PROGRAM, spec["ours"][0], points, *spec["ours"][1:], "--threads", args.threads, "--json",
               "--quiet", "--truth", truth]
    result = common.run(command, args.threads)
    return {"seconds": result["seconds"], "peak_bytes": result["peak_bytes"],
            "cpu_seconds": result["cpu_seconds"], "accuracy": 100 * result["metrics"]["accuracy"],
            **{key: result[key] for key in ("gap", "objective") if key in result}}


def run_peer(args, name, job, points, truth):
    out = os.path.join(args.data, f"{name}.npy")
    command = [sys.executable, os.path.join(HERE, "peers.py"), name, points, out, "-k", JOBS[job]["k"]]
    result = common.run(command, args.threads)
    return {"seconds": result["seconds"], "peak_bytes": result["peak_bytes"],
            "cpu_seconds": result["cpu_seconds"], "accuracy": accuracy(np.load(out), np.load(truth))}


def measure(args, kept, job, n, name):
    key = f"{job} {n} {name} threads={args.threads}"
    if key not in kept:
        points, truth = points_of(args, job, n)
        print(f"{key} ...", file=sys.stderr, flush=True)
        kept[key] = (run_ours(args, job, points, truth) if name == "milieu" else
                     run_peer(args, name, job, points, truth))
        common.write_json(args.json, runs=kept)
    return kept[key]


def rows_of(args, kept, job):
    spec = JOBS[job]
    for n in spec[args.sizes]:
        ours = measure(args, kept, job, n, "milieu")
        row = [job, f"{n} x {spec['d']}", f"{ours['seconds']:.2f}", f"{ours['peak_bytes'] / 1e9:.2f}",
               f"{ours['accuracy']:.1f}"]
        yield row + ["", "", "", "", "", spec["asked"]] if not spec["peers"] else row
        for name, memory in spec["peers"].items():
            if memory(n, spec["d"]) > args.peer_memory:
                continue
            peer = measure(args, kept, job, n, name)
            yield [*row, name, f"{peer['seconds']:.2f}", f"{peer['peak_bytes'] / 1e9:.2f}",
                   f"{peer['accuracy']:.1f}", f"{peer['seconds'] / ours['seconds']:.1f}", spec["asked"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("jobs", nargs="*", default=[])
    parser.add_argument("--sizes", choices=["small", "large"], default="small")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", default=os.path.join(common.ROOT, "build/bench/points"))
    parser.add_argument("--peer-memory", type=float, default=16)
    parser.add_argument("--json", default=os.path.join(common.ROOT, "build/bench/large.json"))
    parser.add_argument("--fresh", action="store_true", help="forget kept figures")
    args = parser.parse_args()
    kept = {}
    if os.path.exists(args.json) and not args.fresh:
        with open(args.json) as file:
            kept = json.load(file)["runs"]
    rows = [row for job in args.jobs or JOBS for row in rows_of(args, kept, job)]
    print(common.cpu_field("model name"))
    common.print_table(["job", "size", "s", "GB", "accuracy", "peer", "s", "GB", "accuracy", "ratio", "asked"],
                       [row for row in rows if len(row) == 11])


if __name__ == "__main__":
    main()
