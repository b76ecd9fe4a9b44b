# SPDX-License-Identifier: Apache-2.0
"""milieu exemplar: the shared cases, penalties, costs given as a matrix."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class ExemplarTest(MethodCases, CliTest):
    command = "exemplar"
    arguments = ["--penalty", "20"]
    takes_k = False  # -k is a target here, and 0 means none
    one_cluster = ["--penalty", "1"]
    # rel-gap 0 runs to the last step, and a million of them take minutes on any machine: the gap
    # of these data does not close.
    slow_arguments = ["--penalty", "2", "--rel-gap", "0", "--max-iterations", "1000000"]

    def slow_points(self):
        return np.random.RandomState(0).rand(3000, 16).astype(np.float32)

    def test_bound_is_below_the_energy(self):
        summary = self.fit("--json").json()
        self.assertEqual(summary["energy"], summary["objective"])
        self.assertLessEqual(summary["lower_bound"], summary["energy"])
        self.assertEqual(len(summary["exemplars"]), 3)

    def test_target_number_is_met(self):
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
        self.assertIn("120 x 4, must be square",
                      self.fail_with(2, "exemplar", "X.npy", "--distance", "precomputed"))

    def test_costs_need_be_neither_symmetric_nor_positive(self):
        costs = np.array([[0, -3, 9], [9, 0, 9], [9, 1, 0]], float)
        self.save("costs.npy", costs)
        summary = self.succeed("exemplar", "costs.npy", "--distance", "precomputed", "--penalty",
                               "4", "--json").json()
        self.assertEqual((summary["exemplars"], summary["energy"]), ([1], 4 - 3 + 1))
        self.assertLess(summary["gap"], 1e-9)

    def test_no_prediction_from_costs_alone(self):
        self.save("costs.npy", np.ones((5, 5)))
        self.succeed("exemplar", "costs.npy", "--distance", "precomputed", "--out", "run")
        self.assertIn("without clusters to compare new samples with",
                      self.fail_with(1, "predict", "run", "X.npy"))

    def lists(self, *pairs):
        self.write("pairs.csv", "row,server,cost\n" + "".join(f"{p},{q},{c}\n" for p, q, c in pairs))
        return ["--lists", "pairs.csv", "--penalty", "2", "--json"]

    def test_lists_say_who_may_serve_whom(self):
        self.save("four.npy", np.arange(4.0)[:, None])
        flags = self.lists((0, 1, 0.5), (2, 1, 0.25), (1, 0, 1.5))
        summary = self.succeed("exemplar", "four.npy", *flags).json()
        # Row 3 is on no list: only it can serve itself. The lists need not be symmetric.
        self.assertEqual(summary["exemplars"], [1, 3])
        self.assertEqual(summary["energy"], 2 + 0.5 + 0.25 + 2)
        self.assertAlmostEqual(summary["lower_bound"], summary["energy"], 9)

    def test_lists_follow_the_selection(self):
        self.save("four.npy", np.arange(4.0)[:, None])
        self.save("classes.npy", np.array([0, 1, 1, 1]))
        flags = self.lists((0, 1, 0.5), (2, 1, 0.25), (3, 2, 0.5))
        summary = self.succeed("exemplar", "four.npy", *flags, "--labels", "classes.npy",
                               "--select", "1").json()
        self.assertEqual((summary["n"], summary["exemplars"]), (3, [0, 2]))

    def test_bad_lists_are_named(self):
        self.save("four.npy", np.arange(4.0)[:, None])
        for pair, part in (((0, 4, 1), "names row 4 in entry 0"), ((-1, 0, 1), "names row -1"),
                           ((0.5, 1, 1), "names row 0.5")):
            self.assertIn(part, self.fail_with(1, "exemplar", "four.npy", *self.lists(pair)))
        self.save("two.npy", np.zeros((3, 2)))
        self.assertIn("two.npy has 2 columns, must have three",
                      self.fail_with(1, "exemplar", "four.npy", "--lists", "two.npy"))
        self.save("nan.npy", np.array([[0, 1, np.nan]]))
        self.assertIn("nan.npy", self.fail_with(1, "exemplar", "four.npy", "--lists", "nan.npy"))
        self.assertIn("give either it, or penalties or lists",
                      self.fail_with(2, "exemplar", "four.npy", *self.lists((0, 1, 1)), "-k", "2"))

    def test_penalty_decides_between_one_and_all(self):
        for penalty in ("0", "-1", "1e-9"):
            summary = self.succeed("exemplar", "X.npy", "--penalty", penalty, "--json").json()
            self.assertEqual(summary["clusters"], 120)
            self.assertIn("every sample is its own exemplar", summary["warnings"][0])
        summary = self.succeed("exemplar", "X.npy", "--penalty", "1e9", "--json").json()
        self.assertEqual(summary["clusters"], 1)
        self.assertIn("one exemplar serves all", summary["warnings"][0])

    def test_bad_penalties_are_named(self):
        self.assertEqual(self.fail_with(2, "exemplar", "X.npy", "--penalty", "cheap"),
                         "penalty is 'cheap', must be a number, median or stable")
        self.assertIn("finite", self.fail_with(2, "exemplar", "X.npy", "--penalty", "inf"))
        self.save("p.npy", np.ones(7))
        self.assertEqual(self.fail_with(1, "exemplar", "X.npy", "--penalties", "p.npy"),
                         "p.npy has 7 rows, X.npy has 120: they must match")

    def test_more_exemplars_than_samples_are_refused(self):
        self.assertEqual(self.fail_with(2, "exemplar", "X.npy", "-k", "121"),
                         "num_clusters is 121, there are only 120 samples: use at most 120")

    def test_target_number_reports_the_curve(self):
        summary = self.succeed("exemplar", "X.npy", "-k", "7", "--json").json()
        self.assertEqual(summary["clusters"], 7)
        self.assertEqual(len(summary["curve_penalties"]), len(summary["curve_num_exemplars"]))
        self.assertEqual(summary["curve_penalties"], sorted(summary["curve_penalties"]))
        self.assertLessEqual(summary["lower_bound"], summary["energy"])

    def test_memory_is_estimated_before_it_is_taken(self):
        flags = ["--neighbors", "40", "--max-memory-gb", "0.00001"]
        message = self.fail_with(2, "exemplar", "X.npy", *flags)
        self.assertRegex(message, "lists of 40 candidates for each of 120 samples take about .* GB")
        summary = self.succeed("exemplar", "X.npy", "--max-memory-gb", "0.0001", "--penalty", "1e6",
                               "--json").json()
        self.assertIn("keeps its 40 nearest", summary["warnings"][0])

    def test_both_starts_end_close(self):
        greedy = self.fit("--json").json()
        stable = self.fit("--json", "--start", "stabilities").json()
        self.assertLessEqual(greedy["lower_bound"], stable["energy"] * (1 + 1e-9))
        self.assertLessEqual(stable["lower_bound"], greedy["energy"] * (1 + 1e-9))


if __name__ == "__main__":
    unittest.main()
