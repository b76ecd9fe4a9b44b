# SPDX-License-Identifier: Apache-2.0
"""Discriminative context partitioning beside Debian's liblinear (L2 loss, same C, default tolerances).

A fit of dcp (all of it: starts, search, exact finish, J1 and Je) against K classifiers of liblinear on
the same rows: the split that dcp found, each part against the context. One thread, in turns. Then how the time grows with n, d and K, and whether a ranking
of contexts uses the cores. With the USPS digits where MILIEU_DATA has them, else synthetic data.
"""
import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402
import liblinear  # noqa: E402
import numpy as np  # noqa: E402

COST = 100


def digits(random):
    """(2200 + 1100) x 256: two digits of USPS against a third; synthetic rows where USPS is not found."""
    folder = os.environ.get("MILIEU_DATA", os.path.join(common.ROOT, "../shared/data"))
    path = os.path.join(folder, "usps_roweis")
    if os.path.exists(path):
        points = np.load(os.path.join(path, "X.npy")).astype(np.float32) / 255
        labels = np.load(os.path.join(path, "labels.npy"))
        return points[np.isin(labels, (6, 0))], points[labels == 2]
    return bundles(2200, 256, random)


def bundles(n, d, random, count=10):
    """Bundles of samples round a context of half their number, overlapping it a little."""
    centers = random.normal(size=(count, d)).astype(np.float32)
    centers *= 1.5 / np.linalg.norm(centers, axis=1, keepdims=True)
    draw = np.random.default_rng(random.randint(1 << 30))
    noise = 2 / np.sqrt(d)
    points = draw.standard_normal((n, d), dtype=np.float32) * noise
    points += centers[np.arange(n) % count]
    return points, draw.standard_normal((n // 2, d), dtype=np.float32) * noise


def time_liblinear(library, points, context, labels, solver):
    """One classifier for each part against the context; the seconds and J of all together.

    `solver` is the solver and its tolerance."""
    seconds = objective = 0
    for part in np.unique(labels):
        rows = np.concatenate([points[labels == part], context])
        signs = np.r_[np.ones((labels == part).sum()), -np.ones(len(context))]
        result = liblinear.train(library, rows, signs, COST, *solver)
        seconds, objective = seconds + result[0], objective + result[1]
    return seconds, objective


def run_dcp(folder, points, context, *more):
    np.save(os.path.join(folder, "x.npy"), points)
    np.save(os.path.join(folder, "z.npy"), context)
    out = os.path.join(folder, "run")
    command = [common.PROGRAM, "dcp", os.path.join(folder, "x.npy"), "--context",
               os.path.join(folder, "z.npy"), "--json", "--out", out, "--force", *more]
    result = common.run(command)
    lines = open(os.path.join(out, "labels.csv")).read().splitlines()[1:]
    result["labels"] = np.array([int(line.rsplit(",", 1)[1]) for line in lines])
    return result


def compare(folder, repeat, random):
    points, context = digits(random)
    center = np.concatenate([points, context]).mean(0)  # dcp does so by default: the same data
    points, context = points - center, context - center
    library = liblinear.load()
    runs = {"dcp, 20 restarts": ["--preset", "margin"], "dcp, 1 restart": ["--preset", "margin", "--restarts", "1"]}
    solvers = {"K liblinear -s 1 -e 0.1": (liblinear.DUAL, 0.1),  # its defaults
               "K liblinear -s 2 -e 0.01": (liblinear.PRIMAL, 0.01),
               "K liblinear -s 1 -e 0.001": (liblinear.DUAL, 0.001)}
    seconds = {name: [] for name in (*runs, *solvers)}
    objectives = {}
    for _ in range(repeat):
        for name, more in runs.items():
            fit = run_dcp(folder, points, context, "-k", "2", "--threads", "1", *more)
            # On a busy machine the processor time of the whole process is the smaller one.
            seconds[name].append(min(fit["seconds"], fit["cpu_seconds"]))
            objectives[name] = fit["objective"]
            if name == "dcp, 20 restarts":
                labels = fit["labels"]
        for name, solver in solvers.items():
            taken, objectives[name] = time_liblinear(library, points, context, labels, solver)
            seconds[name].append(taken)
    median = {name: float(np.median(values)) for name, values in seconds.items()}
    base = min(median[name] for name in solvers)
    rows = [[name, value, value / base, objectives[name]] for name, value in median.items()]
    rows.append(["dcp, each of 20", median["dcp, 20 restarts"] / 20,
                 median["dcp, 20 restarts"] / 20 / base, ""])
    common.print_table(["(2200 + 1100) x 257, K = 2", "s", "x the faster liblinear", "J"], rows)
    return median


def growth(folder, sizes, random):
    """Whole fits, and the share of each evaluation of J and its gradient for one restart: how many of
    them a fit takes depends on how hard the set is, not on its size alone."""
    rows = []
    for n, d, k, count in sizes:
        points, context = bundles(n, d, random, count)
        result = run_dcp(folder, points, context, "-k", str(k), "--threads", "1", "--restarts", "2")
        seconds = min(result["seconds"], result["cpu_seconds"])
        unit = 1e9 * seconds / (1.5 * n * d * k)
        rows.append([f"{n} x {d}, K = {k}, {count} bundles", seconds, unit, result["evaluations"],
                     unit / result["evaluations"], result["peak_bytes"] / 2 ** 20])
    common.print_table(["size", "s", "ns for each row, feature, part", "evaluations",
                        "ns an evaluation", "MB"], rows)
    return rows


def ranking(folder, random):
    points, _ = bundles(2000, 64, random)
    os.makedirs(os.path.join(folder, "contexts"), exist_ok=True)
    for i in range(8):
        np.save(os.path.join(folder, "contexts", f"c{i}.npy"), bundles(1000, 64, random)[1])
    np.save(os.path.join(folder, "x.npy"), points)
    rows = []
    for threads in (1, os.cpu_count()):
        result = common.run([common.PROGRAM, "dcp", os.path.join(folder, "x.npy"), "--context",
                             os.path.join(folder, "contexts"), "--rank-contexts", "--json",
                             "--threads", str(threads)], threads=threads)
        rows.append([f"{threads} threads", result["process_seconds"], result["cpu_seconds"],
                     result["cpu_seconds"] / result["process_seconds"]])
    common.print_table(["ranking 8 contexts", "wall s", "cpu s", "cores in use"], rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="growth up to 1,000,000 x 128")
    parser.add_argument("--only", choices=("compare", "growth", "ranking"))
    parser.add_argument("--json", help="write the figures here")
    options = parser.parse_args()
    random = np.random.RandomState(1)
    sizes = [(5000, 32, 2, 10), (20000, 32, 2, 10), (80000, 32, 2, 10), (20000, 64, 2, 10),
             (20000, 128, 2, 10), (20000, 128, 2, 4), (20000, 128, 4, 8), (20000, 128, 8, 16)]
    if options.large:
        sizes = [(20000, 128, 2, 10), (200000, 128, 2, 10), (1000000, 128, 2, 10)]
    parts = {"compare": lambda folder: compare(folder, options.repeat, random),
             "growth": lambda folder: growth(folder, sizes, random),
             "ranking": lambda folder: ranking(folder, random)}
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: part(folder) for name, part in parts.items()
                   if options.only in (None, name)}
    common.write_json(options.json, **figures)


if __name__ == "__main__":
    main()
