# SPDX-License-Identifier: Apache-2.0
"""Figures of scikit-learn for sklearn_test.cc: sklearn_reference.py CASES prints, for each case, what
LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis and KNeighborsClassifier say.

A case is a line `n d`, n lines of d numbers, a line of n classes. Ends with 77 without scikit-learn.
"""
import sys

try:
    import numpy as np
    from sklearn.discriminant_analysis import (LinearDiscriminantAnalysis,
                                               QuadraticDiscriminantAnalysis)
    from sklearn.neighbors import KNeighborsClassifier
except ImportError:
    sys.exit(77)


def show(values):
    print(" ".join(f"{v:.17g}" for v in np.ravel(values)))


def main():
    words = open(sys.argv[1]).read().split()
    at = 0
    while at < len(words):
        n, d = int(words[at]), int(words[at + 1])
        points = np.array(words[at + 2:at + 2 + n * d], dtype=float).reshape(n, d)
        at += 2 + n * d
        labels = np.array(words[at:at + n], dtype=int)
        at += n
        lda = LinearDiscriminantAnalysis(solver="eigen").fit(points, labels)
        dims = min(labels.max(), d)
        axes = lda.scalings_[:, :dims].T
        axes = axes * np.sign(axes[np.arange(dims), np.abs(axes).argmax(1)])[:, None]
        show(axes)
        show(lda.predict_proba(points))
        qda = QuadraticDiscriminantAnalysis().fit(points, labels)
        show(qda._decision_function(points))
        show(qda.predict_proba(points))
        show(KNeighborsClassifier(5).fit(points, labels).predict_proba(points))


if __name__ == "__main__":
    main()
