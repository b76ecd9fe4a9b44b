# SPDX-License-Identifier: Apache-2.0
"""Metrics by scikit-learn and SciPy, for sklearn_test.cc.

Usage: sklearn_reference.py CASES. CASES holds two lines a case: labels, then truth (no -1 in truth;
-1 in labels is a sample without a cluster). Prints one line per case: accuracy nmi nmi_sqrt nmi_max
ari precision_pairwise recall_pairwise f_pairwise purity f. Ends with status 77 when scikit-learn is
missing.
"""
import sys

try:
    import numpy as np
    import scipy.optimize
    from sklearn import metrics
except ImportError:
    sys.exit(77)


def ratio(part, whole, is_perfect):
    return part / whole if whole else float(is_perfect)


def figures(labels, truth):
    n = len(truth)
    counts = metrics.cluster.contingency_matrix(truth, labels)  # classes x clusters
    clusters = np.unique(labels)
    table = counts[:, clusters >= 0]
    rows, cols = scipy.optimize.linear_sum_assignment(table, maximize=True)
    nmi = [
        metrics.normalized_mutual_info_score(truth, labels, average_method=method)
        for method in ("arithmetic", "geometric", "max")
    ]
    # Samples without a cluster are put together with no other: each gets its own name.
    alone = labels.copy()
    alone[labels < 0] = labels.max() + 1 + np.arange((labels < 0).sum())
    (_, fp), (fn, tp) = metrics.cluster.pair_confusion_matrix(truth, alone)
    is_perfect = tp + fp == 0 and tp + fn == 0
    f_of_pair = 2 * table / (table.sum(0)[None, :] + counts.sum(1)[:, None])
    best_f = f_of_pair.max(1, initial=0)
    return [
        table[rows, cols].sum() / n,
        *nmi,
        metrics.adjusted_rand_score(truth, labels),
        ratio(tp, tp + fp, is_perfect),
        ratio(tp, tp + fn, is_perfect),
        ratio(2 * tp, 2 * tp + fp + fn, is_perfect),
        table.max(0, initial=0).sum() / n,
        (counts.sum(1) * best_f).sum() / n,
    ]


with open(sys.argv[1], encoding="ascii") as file:
    lines = [np.array(line.split(), dtype=np.int64) for line in file]
for labels, truth in zip(lines[::2], lines[1::2]):
    print(*(repr(float(value)) for value in figures(labels, truth)))
