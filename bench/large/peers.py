# SPDX-License-Identifier: Apache-2.0
"""The peers of bench/large/run.py, each in a process of its own: prints seconds, leaves labels.

    peers.py NAME POINTS OUT [-k K] [--limit SECONDS]
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np


def timed(fit):
    began = time.perf_counter()
    result = fit()
    return time.perf_counter() - began, result


def spectral(points, k):
    from sklearn.cluster import SpectralClustering
    method = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=20, random_state=1, n_init=10)
    return timed(lambda: method.fit_predict(points))


def ward_scipy(points, k):
    return linkage_scipy(points, k, "ward")


def average_scipy(points, k):
    return linkage_scipy(points, k, "average")


def linkage_scipy(points, k, method):
    from scipy.cluster.hierarchy import fcluster, linkage
    seconds, tree = timed(lambda: linkage(points, method))
    return seconds, fcluster(tree, k, "maxclust") - 1


R_PREFIX = """
suppressMessages(library(fastcluster))
size <- as.integer(readLines("{dir}/shape.txt"))
x <- matrix(readBin("{dir}/points.bin", "double", size[1] * size[2], size = 4), nrow = size[1], byrow = TRUE)
began <- proc.time()[["elapsed"]]
"""
R_SUFFIX = """
seconds <- proc.time()[["elapsed"]] - began
writeLines(as.character(seconds), "{dir}/seconds.txt")
writeLines(as.character(cutree(tree, {k}) - 1), "{dir}/labels.txt")
"""


def fastcluster(points, k, call):
    """A tree by R's fastcluster; the time is that of the call."""
    with tempfile.TemporaryDirectory() as folder:
        points.astype(np.float32).tofile(os.path.join(folder, "points.bin"))
        with open(os.path.join(folder, "shape.txt"), "w") as file:
            file.write("\n".join(map(str, points.shape)))
        script = (R_PREFIX + "tree <- " + call + R_SUFFIX).replace("{dir}", folder).replace("{k}", str(k))
        path = os.path.join(folder, "run.R")
        with open(path, "w") as file:
            file.write(script)
        subprocess.run(["Rscript", path], check=True)
        with open(os.path.join(folder, "seconds.txt")) as file:
            seconds = float(file.read())
        return seconds, np.loadtxt(os.path.join(folder, "labels.txt"), dtype=int)


def ward_fastcluster(points, k):
    return fastcluster(points, k, 'hclust.vector(x, method = "ward")')


def average_fastcluster(points, k):
    return fastcluster(points, k, 'hclust(dist(x), method = "average")')


def gmm_full(points, k):
    from sklearn.mixture import GaussianMixture
    method = GaussianMixture(k, max_iter=20, tol=0, init_params="random_from_data", random_state=1)
    return timed(lambda: method.fit_predict(points))


def topics_sklearn(points, k):
    from sklearn.decomposition import LatentDirichletAllocation
    method = LatentDirichletAllocation(k, learning_method="batch", max_iter=100, random_state=1,
                                       evaluate_every=5, perp_tol=1e-1)
    seconds, shares = timed(lambda: method.fit_transform(points))
    return seconds, shares.argmax(1)


PEERS = {f.__name__: f for f in (spectral, ward_scipy, average_scipy, ward_fastcluster, average_fastcluster,
                                 gmm_full, topics_sklearn)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", choices=sorted(PEERS))
    parser.add_argument("points")
    parser.add_argument("out")
    parser.add_argument("-k", type=int, default=8)
    args = parser.parse_args()
    seconds, labels = PEERS[args.name](np.load(args.points), args.k)
    np.save(args.out, np.asarray(labels))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
