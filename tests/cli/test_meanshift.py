# SPDX-License-Identifier: Apache-2.0
"""milieu meanshift: the shared cases, and the options that only mean shift has."""

import unittest

from method_cases import MethodCases
from support import CliTest


class MeanShiftTest(MethodCases, CliTest):
    command = "meanshift"
    arguments = ["--bandwidth", "4"]
    takes_k = False
    one_cluster = []
    slow_arguments = ["--bandwidth", "1", "--kernel", "gaussian"]

    def test_bandwidth_decides_the_number_of_clusters(self):
        self.assertEqual(self.fit("--json").json()["clusters"], 3)
        summary = self.succeed("meanshift", "X.npy", "--bandwidth", "100", "--json").json()
        self.assertEqual(summary["clusters"], 1)

    def test_samples_far_from_all_modes_may_stay_alone(self):
        summary = self.succeed("meanshift", "X.npy", "--bandwidth", "0.8", "--cluster-all=false",
                               "--json").json()
        self.assertLess(sum(summary["sizes"]), 120)
        out = self.succeed("meanshift", "X.npy", "--bandwidth", "0.8", "--cluster-all",
                           "false").out
        self.assertIn("in no cluster", out)


if __name__ == "__main__":
    unittest.main()
