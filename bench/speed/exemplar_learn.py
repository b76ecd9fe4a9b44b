#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One round of learning a distance beside a numpy twin of the same formulas (float32, distances by
GEMM, slaves by whole arrays), on one thread; cost against F, n and the number of sets; memory beside
its estimate.

    bench/speed/exemplar_learn.py [--repeat N] [--json FILE]

A round's time is the difference of two trainings that differ in their number of rounds, so reading,
normalising and start-up do not count, on either side. Runs alternate; medians are printed.
"""
import argparse
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402

FEW, MANY = 5, 55


def twin_round(sets, w, step, alpha=1.0, beta=1.0):
    """The corrected round of docs/algorithms/exemplar_learn.md for all sets; returns the loss and the gradient."""
    import numpy as np
    gradient, loss = np.zeros(len(w)), 0.0
    for s in sets:
        x, labels, lam, lam_c, penalty = s["x"], s["labels"], s["lam"], s["lam_c"], s["penalty"]
        n = len(x)
        weighted = x * w.astype(np.float32)
        norms = (weighted * x).sum(axis=1)
        d = norms[:, None] + norms[None] - 2 * (weighted @ x.T)
        np.maximum(d, 0, out=d)
        diagonal = np.arange(n)
        d[diagonal, diagonal] = penalty
        best = np.empty(n, int)
        for members in s["members"]:  # latent step
            best[members] = members[d[np.ix_(members, members)].sum(axis=0).argmin()]
        theta = np.float32((penalty + beta) / (n + 1)) + lam
        through = d + s["same"]
        through += np.maximum(theta, 0)
        own = theta[diagonal, diagonal]
        through[diagonal, diagonal] = own
        chosen = through.argmin(axis=1)
        is_open = theta < 0
        is_open[diagonal, diagonal] = False
        gained = np.where(is_open, theta, 0).sum()
        is_open[diagonal, chosen] = True
        value = through[diagonal, chosen].sum() + gained - beta * n
        open_c = np.zeros(n, bool)
        theta_c = (penalty + beta) / (n + 1) + lam_c
        for members in s["members"]:
            total = 2 * alpha + np.minimum(theta_c[members] - alpha, 0).sum()
            if total < 0:
                open_c[members] = theta_c[members] < alpha
            value += -alpha + min(0.0, total)
        share = ((is_open.sum(axis=0) + open_c) / (n + 1)).astype(np.float32)
        lam += np.float32(step) * (is_open - share)
        lam_c += step * (open_c - share)
        loss += d[diagonal, best].sum() - value
        gradient += ((x - x[best]) ** 2).sum(axis=0)
        gradient -= ((x - x[chosen]) ** 2).sum(axis=0)
    return loss, gradient


def make_sets(num_sets, n, columns, clusters):
    import numpy as np
    sets = []
    for k in range(num_sets):
        random = np.random.RandomState(k)
        labels = random.permutation(np.arange(n) % clusters)
        spread = np.where(np.arange(columns) < columns // 2, 0.5, 5)
        x = random.normal(size=(clusters, columns))[labels] + spread * random.normal(size=(n, columns))
        sets.append((x.astype(np.float32), labels))
    return sets


def twin(num_sets, n, columns, clusters):
    """Seconds of one round of the twin, after a few rounds to warm up."""
    import numpy as np
    sets = []
    for x, labels in make_sets(num_sets, n, columns, clusters):
        x = (x - x.mean(axis=0)) / np.sqrt(2 * x.var(axis=0))
        sets.append({"x": x, "labels": labels, "lam": np.zeros((n, n), np.float32),
                     "lam_c": np.zeros(n), "penalty": n / clusters / 2,
                     "same": (labels[:, None] == labels[None]).astype(np.float32),
                     "members": [np.flatnonzero(labels == c) for c in range(clusters)]})
    w, squares, total, first = np.full(columns, 3 / columns), np.zeros(columns), num_sets * n, None
    for t in range(1, MANY + 1):
        if t == FEW + 1:
            began = time.perf_counter()
        loss, gradient = twin_round(sets, w, t ** -0.5)
        gradient = gradient / total + 1e-3
        squares += gradient ** 2
        w = np.maximum(0, w - 0.2 * gradient / (np.sqrt(squares) + 1e-12))
        first = loss / total if first is None else first
    seconds = (time.perf_counter() - began) / (MANY - FEW)
    print(json.dumps({"seconds": seconds, "first": first, "last": loss / total}))


def ours(trains, rounds, threads):
    return common.run([common.PROGRAM, "exemplar", "learn", *trains, "--rounds", rounds,
                       "--calibrate=false", "--json", "--threads", threads], threads)


def measure(folder, num_sets, n, columns, clusters, repeat, threads=1, with_twin=True):
    import numpy as np
    trains = []
    for k, (x, labels) in enumerate(make_sets(num_sets, n, columns, clusters)):
        np.save(f"{folder}/X{k}.npy", x)
        np.save(f"{folder}/y{k}.npy", labels)
        trains.append(f"{folder}/X{k}.npy:{folder}/y{k}.npy")
    seconds, twins, peak, result = [], [], 0, {}
    for _ in range(repeat):
        few, many = ours(trains, FEW, threads), ours(trains, MANY, threads)
        seconds.append((many["seconds"] - few["seconds"]) / (MANY - FEW))
        peak = max(peak, many["peak_bytes"])
        result = many
        if with_twin:
            twins.append(common.run([sys.executable, os.path.abspath(__file__), "--twin", num_sets, n,
                                     columns, clusters], threads))
    row = {"sets": num_sets, "n": n, "F": columns, "threads": threads,
           "ms": 1e3 * sorted(seconds)[len(seconds) // 2], "peak_mb": peak / 1e6,
           "estimate_mb": 8e-6 * num_sets * n * n, "objective": result["trace"][-1]}
    if with_twin:
        row["numpy_ms"] = 1e3 * common.median(twins)
        row["ratio"] = row["numpy_ms"] / row["ms"]
        row["numpy_objective"] = twins[0]["last"]
        row["first"], row["numpy_first"] = result["trace"][0], twins[0]["first"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--twin", type=int, nargs=4)
    arguments = parser.parse_args()
    if arguments.twin:
        return twin(*arguments.twin)
    idle = common.idle_bytes(common.PROGRAM) / 1e6
    rows = []
    with tempfile.TemporaryDirectory(prefix="milieu-bench-") as folder:
        rows.append(measure(folder, 10, 500, 100, 10, arguments.repeat))
        rows.append(measure(folder, 10, 500, 100, 10, arguments.repeat, threads=2, with_twin=False))
        for columns in (50, 200, 400):
            rows.append(measure(folder, 10, 500, columns, 10, arguments.repeat, with_twin=False))
        for n in (250, 1000, 2000):
            rows.append(measure(folder, 2, n, 100, 10, arguments.repeat, with_twin=False))
    common.print_table(("sets", "n", "F", "threads", "ms a round", "numpy ms", "ratio", "peak MB",
                        "estimate MB"),
                       [(r["sets"], r["n"], r["F"], r["threads"], r["ms"], r.get("numpy_ms", "-"),
                         r.get("ratio", "-"), r["peak_mb"], r["estimate_mb"] + idle) for r in rows])
    print(f"objective after {MANY} rounds: {rows[0]['objective']:.5g}, numpy "
          f"{rows[0]['numpy_objective']:.5g} (first round {rows[0]['first']:.6g}, "
          f"{rows[0]['numpy_first']:.6g} without the price of the weights)")
    print(f"estimate: 8 bytes per pair of a set, and {idle:.0f} MB of the program itself")
    common.write_json(arguments.json, rows=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
