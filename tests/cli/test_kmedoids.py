# SPDX-License-Identifier: Apache-2.0
"""milieu kmedoids: the shared cases, and the objective by hand."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class KMedoidsTest(MethodCases, CliTest):
    command = "kmedoids"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "100", "--restarts", "1000", "--max-memory-gb", "8"]

    def slow_points(self):
        return np.random.RandomState(0).rand(5000, 16).astype(np.float32)

    def test_objective_adds_distances_to_the_best_medoids(self):
        summary = self.fit("--json", "--distance", "l1").json()
        total = 0
        for c in range(3):
            members = self.samples[self.classes == c].astype(np.float64)
            distances = np.abs(members[:, None] - members[None]).sum(axis=2)
            total += distances.sum(axis=1).min()
        self.assertAlmostEqual(summary["objective"] / total, 1, 5)


if __name__ == "__main__":
    unittest.main()
