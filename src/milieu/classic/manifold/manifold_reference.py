# SPDX-License-Identifier: Apache-2.0
"""Isomap and locally linear embedding of scikit-learn for manifold_test.cc: manifold_reference.py CASE
prints the places of the first points and of the rest, mapped, for each of the two.

A case is a line `n m d k p` (points of the fit, new points, columns, neighbours, dimensions) and n + m
lines of d numbers. Ends with 77 without scikit-learn.
"""
import sys

try:
    import numpy as np
    from sklearn.manifold import Isomap, LocallyLinearEmbedding
except ImportError:
    sys.exit(77)


def main():
    words = open(sys.argv[1]).read().split()
    n, m, d, k, p = (int(word) for word in words[:5])
    points = np.array(words[5:], dtype=float).reshape(n + m, d)
    for model in (Isomap(n_neighbors=k, n_components=p, eigen_solver="dense"),
                  LocallyLinearEmbedding(n_neighbors=k, n_components=p, eigen_solver="dense")):
        places = model.fit_transform(points[:n])
        mapped = model.transform(points[n:])
        signs = np.sign(places[np.abs(places).argmax(0), np.arange(p)])
        for values in (places * signs, mapped * signs):
            print(" ".join(f"{v:.17g}" for v in values.ravel()))


if __name__ == "__main__":
    main()
