# SPDX-License-Identifier: Apache-2.0
"""milieu agglomerative: the shared cases, linkages and the cut by distance."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class AgglomerativeTest(MethodCases, CliTest):
    command = "agglomerative"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "10", "--max-memory-gb", "8", "--linkage", "average"]

    def slow_points(self):
        return np.random.RandomState(0).rand(16000, 64).astype(np.float32)

    def test_each_linkage_finds_the_parts(self):
        for linkage in ("ward", "average", "complete", "single"):
            summary = self.fit("--linkage", linkage, "--labels", "y.npy", "--json").json()
            self.assertEqual(summary["metrics"]["accuracy"], 1, linkage)

    def test_a_distance_may_replace_the_number(self):
        summary = self.succeed("agglomerative", "X.npy", "--distance-threshold", "6", "--linkage",
                               "single", "--json").json()
        self.assertEqual(summary["clusters"], 3)

    def test_too_many_samples_for_the_memory_are_refused(self):
        message = self.fail_with(2, "agglomerative", "X.npy", "--max-memory-gb", "0.000001")
        self.assertIn("max_memory_gb", message)


if __name__ == "__main__":
    unittest.main()
