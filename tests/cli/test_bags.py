# SPDX-License-Identifier: Apache-2.0
"""milieu bags: clusters of counts, prediction, bad input; test_multinomials.py and test_jsom.py run it on theirs."""

import unittest

import numpy as np

from support import CliTest


class CountsTest(CliTest):
    runs = (["bags"], ["bags", "--weighting", "tf-idf"])

    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.classes = np.arange(60) % 3
        self.counts = random.poisson(0.2, (60, 12)).astype(np.float32)
        for row, c in enumerate(self.classes):
            self.counts[row, 4 * c:4 * c + 4] += random.poisson(10, 4)
        self.save("counts.npy", self.counts)
        self.save("y.npy", self.classes)

    def test_clusters_are_found_and_predicted(self):
        for i, (command, *flags) in enumerate(self.runs):
            run = f"run{i}"
            summary = self.succeed(command, "counts.npy", "-k", "3", *flags, "--truth", "y.npy",
                                   "--out", run, "--json").json()
            self.assertEqual(summary["metrics"]["accuracy"], 1, command)
            self.assertEqual(summary["method"], command)
            lines = self.succeed("predict", run, "counts.npy").out.split()
            np.testing.assert_array_equal(np.array(lines, int), self.labels(run))

    def test_counts_below_zero_are_refused(self):
        self.save("bad.npy", np.array([[1, -2], [3, 4]], np.float32))
        for command, *flags in self.runs:
            self.assertIn("counts has -2 at row 0, column 1, must be at least 0",
                          self.fail_with(1, command, "bad.npy", "-k", "1", *flags))


class BagsTest(CliTest):
    def test_bands_must_divide_the_columns(self):
        self.save("counts.npy", np.ones((6, 12), np.float32))
        self.assertIn("num_bands is 5, counts have 12 columns",
                      self.fail_with(2, "bags", "counts.npy", "-k", "3", "--bands", "5"))


if __name__ == "__main__":
    unittest.main()
