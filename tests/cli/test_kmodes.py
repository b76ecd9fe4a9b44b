# SPDX-License-Identifier: Apache-2.0
"""milieu kmodes: the shared cases on binary rows, and entries that are not binary."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class KModesTest(MethodCases, CliTest):
    command = "kmodes"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "200", "--restarts", "1000"]

    def points(self):
        random = np.random.RandomState(0)
        modes = np.repeat(np.eye(3), 8, axis=1)  # three blocks of eight
        classes = random.permutation(np.repeat(np.arange(3), 40))
        flips = random.rand(120, 24) < 0.05
        return np.logical_xor(modes[classes] > 0, flips).astype(np.uint8), classes

    def slow_points(self):
        return np.random.RandomState(0).randint(0, 2, (50000, 256)).astype(np.uint8)

    def test_nan_is_named_by_row_and_column(self):
        self.samples = self.samples.astype(np.float32)
        super().test_nan_is_named_by_row_and_column()

    def test_objective_counts_the_places_that_differ(self):
        summary = self.fit("--json", "--out", "run").json()
        labels = self.labels("run")
        total = 0
        for cluster in range(3):
            ones = self.samples[labels == cluster].sum(axis=0)
            total += np.minimum(ones, (labels == cluster).sum() - ones).sum()
        self.assertEqual(summary["objective"], total)

    def test_other_entries_are_named_by_row_and_column(self):
        self.samples[4, 6] = 2
        self.save("bad.npy", self.samples)
        self.assertRegex(self.fail_with(2, "kmodes", "bad.npy"), r"\(4, 6\) is 2, must be 0 or 1")

    def test_given_modes_number_the_clusters(self):
        self.save("m.npy", np.repeat(np.eye(3)[[2, 0, 1]], 8, axis=1))
        self.fit("--initial-modes", "m.npy", "--out", "run")
        np.testing.assert_array_equal(self.labels("run"), np.array([1, 2, 0])[self.classes])

    def test_weights_of_two_are_rows_given_twice(self):
        weights = np.ones(120)
        weights[:10] = 2
        self.save("w.npy", weights)
        self.save("twice.npy", np.concatenate([self.samples, self.samples[:10]]))
        self.save("m.npy", np.repeat(np.eye(3), 8, axis=1))
        arguments = ("-k", "3", "--initial-modes", "m.npy", "--json")
        weighted = self.succeed("kmodes", "X.npy", "--weights", "w.npy", *arguments).json()
        twice = self.succeed("kmodes", "twice.npy", *arguments).json()
        self.assertEqual(weighted["objective"], twice["objective"])


if __name__ == "__main__":
    unittest.main()
