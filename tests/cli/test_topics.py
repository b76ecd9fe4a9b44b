# SPDX-License-Identifier: Apache-2.0
"""milieu topics: counts of words in rows."""

import unittest

import numpy as np

from support import CliTest


class TopicsTest(CliTest):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.classes = np.arange(60) % 3
        counts = random.poisson(0.2, (60, 12))
        for row, c in enumerate(self.classes):
            counts[row, 4 * c:4 * c + 4] += random.poisson(10, 4)
        self.save("counts.npy", counts.astype(np.float32))
        self.save("y.npy", self.classes)

    def test_topics_are_found(self):
        for inference in ("variational", "gibbs"):
            summary = self.succeed("topics", "counts.npy", "-k", "3", "--inference", inference,
                                   "--restarts", "5", "--max-iterations", "60", "--truth", "y.npy",
                                   "--json").json()
            self.assertEqual(summary["metrics"]["accuracy"], 1, inference)

    def test_counts_below_zero_are_refused(self):
        self.save("bad.npy", np.array([[1, -2], [3, 4]], np.float32))
        self.assertIn("counts has -2 at row 0, column 1, must be at least 0",
                      self.fail_with(1, "topics", "bad.npy", "-k", "1"))


if __name__ == "__main__":
    unittest.main()
