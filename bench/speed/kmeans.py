# SPDX-License-Identifier: Apache-2.0
"""k-means beside faiss and scikit-learn: the same points, the same first centres, 10 iterations.

Ours is the command line program; its time is the summary's `seconds`, the whole of fit_kmeans: checks,
iterations and the last assignment. faiss runs with its sub-sampling off, scikit-learn with
algorithm="lloyd"; timed are train() and fit() on float32 samples in memory. Both are given the BLAS
core type that suits the CPU. One function computes the objective of the centres that each returns.
Memory is the peak of our whole process above that of `milieu --version`, beside the size of the input.

Kinds of data (200,000 x 128, non-negative): `sift` has correlated, sparse whole numbers of length about
512; the others are round clusters cut at 0, few or many of them, close together or far apart.
"""
import argparse
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402

os.environ.update(common.environment(os.environ.get("OMP_NUM_THREADS", "1")))
import numpy as np  # noqa: E402

BLOBS = {"few_apart": (64, 0.3), "many_apart": (1000, 0.3), "few_close": (100, 1.0),
         "many_close": (2000, 1.0)}
KINDS = ["sift", *BLOBS]


def make_points(kind, n, d, seed):
    random = np.random.default_rng(seed)
    if kind in BLOBS:
        num_clusters, noise = BLOBS[kind]
        centres = 30 * random.gamma(1.0, 1.0, size=(num_clusters, d))
        points = centres[random.integers(num_clusters, size=n)]
        return np.maximum(points + 30 * noise * random.normal(size=(n, d)), 0).astype(np.float32)
    mixing = random.normal(size=(32, d)) * np.linspace(2.5, 0.3, 32)[:, None]
    latent = random.normal(size=(500, 32))[random.integers(500, size=n)]
    latent = latent + 0.7 * random.normal(size=(n, 32))
    points = np.maximum(0.5 * latent @ mixing + 0.8 * random.normal(size=(n, d)), 0)
    for largest in (0.25, 1.0):
        points /= np.linalg.norm(points, axis=1, keepdims=True) + 1e-9
        points = np.minimum(points, largest)
    return np.minimum(np.floor(512 * points), 255).astype(np.float32)


def objective(points, centres):
    """Sum of squared distances to the nearest centre, in double."""
    centres = centres.astype(np.float64)
    total = 0.0
    for begin in range(0, len(points), 8192):
        block = points[begin:begin + 8192].astype(np.float64)
        nearest = ((centres ** 2).sum(1) - 2 * block @ centres.T).argmin(1)
        total += float(((block - centres[nearest]) ** 2).sum())
    return total


def run_peer(args):
    """What a peer's process does; prints its time and version, leaves its centres."""
    points, start = np.load(args.points), np.load(args.start)
    k, threads = len(start), int(os.environ["OMP_NUM_THREADS"])
    if args.peer == "faiss":
        import faiss
        faiss.omp_set_num_threads(threads)
        method = faiss.Kmeans(points.shape[1], k, niter=args.iterations, nredo=1, spherical=False,
                              max_points_per_centroid=10 ** 9, min_points_per_centroid=1)
        began = time.perf_counter()
        method.train(points, init_centroids=start)
        seconds, centres, version = time.perf_counter() - began, method.centroids, faiss.__version__
    else:
        import sklearn
        from sklearn.cluster import KMeans
        method = KMeans(k, init=start, n_init=1, max_iter=args.iterations, tol=0, algorithm="lloyd")
        began = time.perf_counter()
        method.fit(points)
        seconds, centres = time.perf_counter() - began, method.cluster_centers_
        version = sklearn.__version__
    np.save(args.centres, centres)
    print(json.dumps({"seconds": seconds, "version": version}))


def our_centres(folder):
    """The centres in model.safetensors: a JSON header behind its length, then the raw array."""
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(size))["centers"]
        begin, end = entry["data_offsets"]
        file.seek(8 + size + begin)
        return np.frombuffer(file.read(end - begin), np.float32).reshape(entry["shape"])


def contenders_of(args, folder, points, start, threads):
    def peer(name):
        return [sys.executable, os.path.abspath(__file__), "--peer", name, "--points", points,
                "--start", start, "--iterations", args.iterations,
                "--centres", os.path.join(folder, name + ".npy")]

    ours = [args.program, "kmeans", points, "-k", len(np.load(start, mmap_mode="r")),
            "--initial-centers", start, "--max-iterations", args.iterations, "--rel-tolerance", 0,
            "--restarts", 1, "--threads", threads, "--json", "--quiet",
            "--out", os.path.join(folder, "ours"), "--force"]
    return {"ours": ours, **{name: peer(name) for name in args.peers}}


def compare(args, folder, kind, k, threads, rows, records):
    points_path = os.path.join(folder, "points.npy")
    start_path = os.path.join(folder, f"start{k}.npy")
    points = np.load(points_path, mmap_mode="r")
    idle = common.idle_bytes(args.program)
    runs = common.interleave(contenders_of(args, folder, points_path, start_path, threads),
                             args.repeat, threads)
    found = {name: our_centres(os.path.join(folder, "ours")) if name == "ours" else
             np.load(os.path.join(folder, name + ".npy")) for name in runs}
    objectives = {name: objective(points, centres) for name, centres in found.items()}
    peak = max(r["peak_bytes"] for r in runs["ours"]) - idle
    seconds = {name: common.median(r) for name, r in runs.items()}
    for name in args.peers:
        rows.append([f"{kind} k={k}", threads, seconds["ours"], name, seconds[name],
                     f"{seconds[name] / seconds['ours']:.2f}",
                     f"{objectives['ours'] / objectives[name] - 1:+.1e}",
                     f"{100 * (peak / points.nbytes - 1):+.1f} %"])
    records.append({"kind": kind, "k": k, "threads": threads, "seconds": seconds,
                    "objectives": objectives, "peak_above_idle": peak, "idle": idle, "input": points.nbytes,
                    "iterations": args.iterations, "runs": runs})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", default=common.PROGRAM)
    parser.add_argument("--kinds", default="sift", help="comma-separated, or all: " + " ".join(KINDS))
    parser.add_argument("--clusters", default="256,1024")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", default="faiss,sklearn")
    parser.add_argument("-n", type=int, default=200_000)
    parser.add_argument("-d", type=int, default=128)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="where to write all figures")
    for hidden in ("--peer", "--points", "--start", "--centres"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return run_peer(args)
    args.peers = args.peers.split(",")
    kinds = KINDS if args.kinds == "all" else args.kinds.split(",")
    rows, records = [], []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            points = make_points(kind, args.n, args.d, args.seed)
            np.save(os.path.join(folder, "points.npy"), points)
            random = np.random.default_rng(args.seed + 1)
            for k in map(int, args.clusters.split(",")):
                chosen = np.sort(random.choice(args.n, k, replace=False))
                np.save(os.path.join(folder, f"start{k}.npy"), points[chosen])
                for threads in map(int, args.threads.split(",")):
                    compare(args, folder, kind, k, threads, rows, records)
    common.print_table(["case", "threads", "ours s", "peer", "peer s", "ratio", "objective",
                        "memory above input"], rows)
    common.write_json(args.json, benchmark="kmeans", n=args.n, d=args.d, seed=args.seed,
                      repetitions=args.repeat, results=records)


if __name__ == "__main__":
    main()
