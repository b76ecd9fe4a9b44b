# SPDX-License-Identifier: Apache-2.0
"""milieu exemplar: the shared cases, penalties, costs given as a matrix."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class ExemplarTest(MethodCases, CliTest):
    command = "exemplar"
    arguments = ["--penalty", "20"]
    takes_k = False  # -k is a wish here, and 0 means none
    one_cluster = ["--penalty", "1"]
    slow_arguments = ["--penalty", "2", "--rel-gap", "0", "--max-iterations", "1000000"]

    def slow_points(self):
        return np.random.RandomState(0).rand(3000, 16).astype(np.float32)

    def test_bound_is_below_the_energy(self):
        summary = self.fit("--json").json()
        self.assertEqual(summary["energy"], summary["objective"])
        self.assertLessEqual(summary["lower_bound"], summary["energy"])
        self.assertEqual(len(summary["exemplars"]), 3)

    def test_wished_number_is_met(self):
        self.assertEqual(self.succeed("exemplar", "X.npy", "-k", "3", "--json").json()["clusters"],
                         3)

    def test_penalties_of_rows_decide_who_may_serve(self):
        penalties = np.full(120, 1e6)
        chosen = [np.flatnonzero(self.classes == c)[0] for c in range(3)]
        penalties[chosen] = 1
        self.save("p.npy", penalties)
        summary = self.succeed("exemplar", "X.npy", "--penalties", "p.npy", "--json").json()
        self.assertEqual(sorted(summary["exemplars"]), sorted(map(int, chosen)))

    def test_costs_may_be_given(self):
        gaps = self.samples[:, None] - self.samples[None]
        self.save("costs.npy", np.sqrt((gaps ** 2).sum(axis=2)))
        given = self.succeed("exemplar", "costs.npy", "--distance", "precomputed", "--penalty",
                             "20", "--json").json()
        self.assertAlmostEqual(given["objective"] / self.fit("--json").json()["objective"], 1, 4)
        self.fail_with(2, "exemplar", "X.npy", "--distance", "precomputed")


if __name__ == "__main__":
    unittest.main()
