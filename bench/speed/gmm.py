# SPDX-License-Identifier: Apache-2.0
"""Gaussian mixture, diagonal covariances, a fixed number of EM rounds, beside scikit-learn.

Both start from the same means, weights and variances: those that `milieu gmm --initial-means` takes
from the samples nearest to each mean, computed here for scikit-learn in advance. Timed on our side is
the whole of fit_gmm (the summary's `seconds`): checks, variance floors, that start, the rounds and
the labels; reading the file is not. Timed for scikit-learn is fit() on double samples in memory, with
init_params="random_from_data", so that no k-means run is in it. Each side then makes the same number
of rounds and one last E-step. Runs alternate; medians are printed.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("MILIEU_PROGRAM", os.path.join(HERE, "../../build/release/bin/milieu"))


def cpu_text():
    with open("/proc/cpuinfo") as file:
        return file.read()


def choose_blas_core():
    """OpenBLAS may not know a new CPU: set the core type whose kernels suit it."""
    text = cpu_text()
    core = "SkylakeX" if "avx512vl" in text else "Haswell" if "avx2" in text else None
    if core == "Haswell" and "AuthenticAMD" in text:
        core = "Zen"
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)


choose_blas_core()  # before numpy loads OpenBLAS
import numpy as np  # noqa: E402


def make_points(n, d, k, seed):
    random = np.random.default_rng(seed)
    centres = 2 * random.normal(size=(k, d))
    deviations = random.uniform(0.5, 1.5, size=(k, d))
    parts = random.integers(k, size=n)
    return (centres[parts] + deviations[parts] * random.normal(size=(n, d))).astype(np.float32)


def make_start(points, means):
    """Weights and precisions of the samples nearest to each mean, about that mean."""
    squares = (means ** 2).sum(1) - 2 * points @ means.T
    labels = squares.argmin(1)
    weights = np.bincount(labels, minlength=len(means)) / len(points)
    variances = np.stack([((points[labels == c] - means[c]) ** 2).mean(0)
                          for c in range(len(means))])
    return weights, 1 / variances


def run_ours(path, means_path, k, rounds, threads):
    command = [PROGRAM, "gmm", path, "-k", str(k), "--initial-means", means_path,
               "--covariance", "diagonal", "--max-iterations", str(rounds), "--rel-tolerance", "0",
               "--threads", str(threads), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    summary = json.loads(done.stdout)
    assert summary["iterations"] == rounds, summary["iterations"]
    return summary["seconds"], summary["objective"]


def run_sklearn(points, means, weights, precisions, rounds, threads):
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits
    mixture = GaussianMixture(len(means), covariance_type="diag", tol=0, max_iter=rounds,
                              init_params="random_from_data", means_init=means,
                              weights_init=weights, precisions_init=precisions, random_state=0)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is meant
        started = time.perf_counter()
        mixture.fit(points)
        seconds = time.perf_counter() - started
        assert mixture.n_iter_ == rounds, mixture.n_iter_
        return seconds, float(mixture.score_samples(points).sum())


def compare(args, threads, folder):
    points = make_points(args.n, args.d, args.k, args.seed)
    path = os.path.join(folder, "points.npy")
    means_path = os.path.join(folder, "means.npy")
    np.save(path, points)
    np.save(means_path, points[:args.k])
    double_points = points.astype(np.float64)
    means = double_points[:args.k]
    weights, precisions = make_start(double_points, means)
    ours, peer = [], []
    for _ in range(args.repeat):
        ours.append(run_ours(path, means_path, args.k, args.rounds, threads))
        peer.append(run_sklearn(double_points, means, weights, precisions, args.rounds, threads))
    ours_seconds = statistics.median(seconds for seconds, _ in ours)
    peer_seconds = statistics.median(seconds for seconds, _ in peer)
    return {"n": args.n, "d": args.d, "k": args.k, "rounds": args.rounds, "threads": threads,
            "ours_seconds": ours_seconds, "sklearn_seconds": peer_seconds,
            "ratio": peer_seconds / ours_seconds,
            "ours_log_likelihood": ours[0][1], "sklearn_log_likelihood": peer[0][1],
            "ours_all": [seconds for seconds, _ in ours],
            "sklearn_all": [seconds for seconds, _ in peer]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--d", type=int, default=16)
    parser.add_argument("--k", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", default="1,2", help="numbers of threads to compare at")
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    rows = []
    print(f"{'threads':>7} {'ours s':>8} {'sklearn s':>10} {'ratio':>6} {'ours log-lik':>16} "
          f"{'sklearn log-lik':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for threads in map(int, args.threads.split(",")):
            row = compare(args, threads, folder)
            rows.append(row)
            print(f"{threads:7d} {row['ours_seconds']:8.3f} {row['sklearn_seconds']:10.3f} "
                  f"{row['ratio']:6.2f} {row['ours_log_likelihood']:16.4f} "
                  f"{row['sklearn_log_likelihood']:16.4f}", flush=True)
    if args.json:
        machine = next((line.split(":")[1].strip() for line in cpu_text().splitlines()
                        if line.startswith("model name")), platform.processor())
        with open(args.json, "w") as file:
            json.dump({"bench": "gmm", "machine": machine,
                       "blas_core": os.environ.get("OPENBLAS_CORETYPE"), "seed": args.seed,
                       "repeat": args.repeat, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
