# SPDX-License-Identifier: Apache-2.0
"""milieu reproduce: the list, unknown names, absent data."""

import unittest

from support import CliTest


class ReproduceTest(CliTest):
    def test_without_arguments_the_experiments_are_listed(self):
        out = self.succeed("reproduce").out
        self.assertRegex(out, r"(?m)^  dcp kmeans +\S")

    def test_unknown_experiments_are_named(self):
        self.assertIn("no experiment 'tea'", self.fail_with(2, "reproduce", "tea"))
        self.assertIn("no experiment 'dcp tea'", self.fail_with(2, "reproduce", "dcp", "tea"))

    def test_absent_data_are_said_and_fail(self):
        (self.folder / "none").mkdir()
        outcome = self.run_milieu("reproduce", "dcp", "kmeans", "--data", "none", "--quiet")
        self.assertEqual((outcome.code, outcome.out), (1, ""))
        self.assertIn("skipped dcp kmeans: none/usps_roweis/labels.npy is not there", outcome.err)
        self.assertIn("--data", outcome.err)

    def test_values_out_of_range_are_refused(self):
        self.assertEqual(self.fail_with(2, "reproduce", "dcp", "--runs", "-1"),
                         "num_runs is -1, must be at least 0")


if __name__ == "__main__":
    unittest.main()
