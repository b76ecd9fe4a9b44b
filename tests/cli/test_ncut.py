# SPDX-License-Identifier: Apache-2.0
"""milieu ncut: the shared cases, and clusters that no centre describes."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class NcutTest(MethodCases, CliTest):
    command = "ncut"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "20", "--neighbors", "50"]

    def test_two_rings_are_separated(self):
        angles = np.random.RandomState(0).uniform(0, 2 * np.pi, 300)
        classes = np.arange(300) % 2
        radius = np.where(classes == 0, 1.0, 3.0)
        self.save("rings.npy", np.stack([radius * np.cos(angles), radius * np.sin(angles)], 1))
        self.save("rings_y.npy", classes)
        summary = self.succeed("ncut", "rings.npy", "-k", "2", "--truth", "rings_y.npy",
                               "--json").json()
        self.assertEqual(summary["metrics"]["accuracy"], 1)

    def test_a_model_without_prediction_says_so(self):
        self.fit("--out", "run")
        message = self.fail_with(2, "predict", "run", "X.npy")
        self.assertIn("ncut", message)
        self.assertIn("kmeans", message)


if __name__ == "__main__":
    unittest.main()
