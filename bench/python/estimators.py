# SPDX-License-Identifier: Apache-2.0
"""The estimators of the Python package beside scikit-learn's, on the same arrays; and what calling the
library through Python costs.

Every fit runs in a process of its own, the two alternate, medians are printed: seconds of fit, peak
memory above the input, and a figure of quality that both share (the objective, or the accuracy against
the groups the data were drawn from). `overhead` is the time of one call of the binding on a tiny input
that the library itself does not spend, and `command line` compares a fit from Python with the same
run of the program.
"""
import argparse
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import common  # noqa: E402

PACKAGE = os.environ.get("MILIEU_PYTHON_DIR", os.path.join(common.ROOT, "build/python"))

# Name, rows, columns, groups, and how each side is made; `kind` says what the data are.
JOBS = {
    "KMeans": dict(n=100_000, d=32, k=50, kind="groups",
                   ours="milieu.KMeans(50, n_init=1, random_state=1, n_jobs=T)",
                   peer="sklearn.cluster.KMeans(50, n_init=1, random_state=1)",
                   quality="minus_score"),
    "GaussianMixture": dict(n=50_000, d=16, k=10, kind="groups",
                            ours="milieu.GaussianMixture(10, covariance_type='full', n_jobs=T)",
                            peer="sklearn.mixture.GaussianMixture(10, random_state=1)",
                            quality="score"),
    "ExemplarClustering / AffinityPropagation": dict(
        n=1500, d=8, k=10, kind="groups",
        ours="milieu.ExemplarClustering(penalty=30, n_jobs=T)",
        peer="sklearn.cluster.AffinityPropagation(preference=-30, affinity='precomputed', "
             "max_iter=1000, random_state=1)", quality="energy"),
    "NormalizedCut / SpectralClustering": dict(
        n=5000, d=16, k=10, kind="groups", ours="milieu.NormalizedCut(10, n_jobs=T)",
        peer="sklearn.cluster.SpectralClustering(10, affinity='nearest_neighbors', "
             "n_neighbors=20, random_state=1)", quality="accuracy"),
    "Topics / LatentDirichletAllocation": dict(
        n=2000, d=100, k=10, kind="counts",
        ours="milieu.Topics(10, n_init=1, max_iter=50, n_jobs=T)",
        peer="sklearn.decomposition.LatentDirichletAllocation(10, max_iter=50, random_state=1)",
        quality="accuracy"),
    "ICCClassifier / QDA": dict(
        n=20_000, d=16, k=10, kind="classes", ours="milieu.ICCClassifier(n_jobs=T)",
        peer="sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis()", quality="held_out"),
}


def make_data(job, seed):
    import numpy as np

    random = np.random.default_rng(seed)
    y = random.integers(job["k"], size=job["n"])
    if job["kind"] == "counts":
        topics = random.dirichlet(np.full(job["d"], 0.1), job["k"])
        rows = [random.multinomial(80, topics[t]) for t in y]
        return np.array(rows, dtype=np.float32), y
    centers = 3 * random.normal(size=(job["k"], job["d"]))
    return (centers[y] + random.normal(size=(job["n"], job["d"]))).astype(np.float32), y


def quality_of(job, estimator, X, y, held):
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    if job["quality"] == "score":
        return float(estimator.score(X))
    if job["quality"] == "minus_score":
        return -float(estimator.score(X))
    if job["quality"] == "held_out":
        return float(np.mean(estimator.predict(X[held]) == y[held]))
    if job["quality"] == "energy":
        rows = getattr(estimator, "exemplar_indices_", None)
        rows = estimator.cluster_centers_indices_ if rows is None else rows
        distances = np.linalg.norm(X[:, None] - X[rows][None], axis=2)
        return float(distances.min(axis=1).sum() + 30 * len(rows))
    if hasattr(estimator, "labels_"):
        return float(adjusted_rand_score(y, estimator.labels_))
    return float(adjusted_rand_score(y, estimator.transform(X).argmax(axis=1)))


def fit_one(name, side, threads, seed):
    """In a process of its own: prints seconds, memory above the input, quality."""
    import numpy as np
    import sklearn.cluster  # noqa: F401
    import sklearn.decomposition  # noqa: F401
    import sklearn.discriminant_analysis  # noqa: F401
    import sklearn.mixture  # noqa: F401

    if side == "ours":
        sys.path.insert(0, PACKAGE)
        import milieu  # noqa: F401
    job = JOBS[name]
    X, y = make_data(job, seed)
    held = np.arange(len(X)) % 5 == 0
    inputs = {"X": X, "y": None}
    if job["quality"] == "held_out":
        inputs = {"X": X[~held], "y": y[~held]}
    if side == "peer" and job["quality"] == "energy":
        inputs["X"] = -np.linalg.norm(X[:, None] - X[None], axis=2)
    estimator = eval(job[side], {**globals(), "T": threads, "sklearn": sklearn,
                                 "milieu": sys.modules.get("milieu")})
    forget_peak()
    before = resident()
    began = time.perf_counter()
    estimator.fit(inputs["X"], inputs["y"])
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "megabytes": (peak() - before) / 1e6,
                      "quality": quality_of(job, estimator, X, y, held)}))


def status(field):
    with open("/proc/self/status") as file:
        return 1024 * int(next(line for line in file if line.startswith(field)).split()[1])


def forget_peak():
    """Data were made with more memory than they need: the peak counts from here."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def resident():
    return status("VmRSS")


def peak():
    return status("VmHWM")


def overhead():
    """In a process of its own: microseconds per call that the library itself does not spend."""
    sys.path.insert(0, PACKAGE)
    import numpy as np

    from milieu import _core
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    options = {"num_clusters": 2, "num_restarts": 1, "max_iterations": 2, "num_threads": 1}
    model = _core.kmeans_fit(X, options, {}, {})["model"]

    def median_of(call, inside):
        times = []
        for _ in range(2000):
            began = time.perf_counter()
            result = call()
            times.append(time.perf_counter() - began - inside(result))
        return 1e6 * float(np.median(times))

    print(json.dumps({
        "seconds": 0,
        "fit": median_of(lambda: _core.kmeans_fit(X, options, {}, {}),
                         lambda result: result["summary"]["seconds"]),
        "predict": median_of(lambda: _core.kmeans_predict(model, X, 1), lambda _: 0.0)}))


def compare_command_line(repeat, seed):
    """Seconds that the library reports, from Python and from the program, for the same run."""
    import numpy as np

    job = JOBS["KMeans"]
    X, _ = make_data(job, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        np.save(path, X)
        code = (f"import sys, json; sys.path.insert(0, {PACKAGE!r}); import numpy as np, milieu; "
                f"X = np.load({path!r}); e = milieu.KMeans(50, n_init=1, n_jobs=1); "
                "import time; t = time.perf_counter(); e.fit(X); "
                "print(json.dumps({'seconds': time.perf_counter() - t}))")
        runs = common.interleave(
            {"Python": ["/usr/bin/python3", "-c", code],
             "command line": [common.PROGRAM, "kmeans", path, "-k", "50", "--restarts", "1",
                              "--threads", "1", "--json"]}, repeat)
    return {name: common.median(found) for name, found in runs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="*", default=list(JOBS))
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--overhead", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit:
        return fit_one(*args.fit, args.threads, args.seed)
    if args.overhead:
        return overhead()
    rows = []
    for name in args.jobs:
        command = ["/usr/bin/python3", __file__, "--threads", args.threads, "--seed", args.seed]
        runs = common.interleave({side: command + ["--fit", name, side]
                                  for side in ("ours", "peer")}, args.repeat, args.threads)
        ours, peer = ({field: common.median(runs[side], field)
                       for field in ("seconds", "megabytes", "quality")} for side in ("ours", "peer"))
        rows.append([name, ours["seconds"], peer["seconds"], peer["seconds"] / ours["seconds"],
                     ours["megabytes"], peer["megabytes"], ours["quality"], peer["quality"]])
    common.print_table(["job", "ours s", "peer s", "ratio", "ours MB", "peer MB", "ours quality",
                        "peer quality"], rows)
    cost = common.run(["/usr/bin/python3", __file__, "--overhead"])
    print(f"overhead of a call: fit {cost['fit']:.0f} us, predict {cost['predict']:.0f} us")
    lines = compare_command_line(args.repeat, args.seed)
    print(f"the same k-means fit: Python {lines['Python']:.3f} s, command line "
          f"{lines['command line']:.3f} s")
    common.write_json(args.json, rows=rows, overhead={k: cost[k] for k in ("fit", "predict")},
                      command_line=lines)


if __name__ == "__main__":
    main()
