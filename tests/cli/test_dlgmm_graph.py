# SPDX-License-Identifier: Apache-2.0
"""milieu dlgmm: full covariances of words, and the random field on any neighbours."""

import unittest

import numpy as np

from images import make_folder
from support import CliTest
from test_dlgmm import draw_images


class DlgmmGraphTest(CliTest):
    arguments = ["P.npy", "--offsets", "offsets.npy", "--words", "6", "--clusters", "3", "--labels", "y.npy", "--json"]

    def setUp(self):
        super().setUp()
        self.patches, self.offsets, labels, self.grid = draw_images()
        self.save("P.npy", self.patches)
        self.save("offsets.npy", self.offsets)
        self.save("y.npy", labels.astype(np.int64))
        self.save("grid.npy", self.grid)
        row, column = np.divmod(np.arange(25), 5)
        self.save("positions.npy", np.tile(np.stack([column, row], axis=1), (60, 1)).astype(np.float32))

    def edges(self):
        """The four neighbours on the grid of 5 x 5 of every image."""
        cell = np.arange(25)
        one = np.concatenate([np.stack([cell[cell % 5 < 4], cell[cell % 5 < 4] + 1], axis=1),
                              np.stack([cell[:20], cell[:20] + 5], axis=1)])
        return np.concatenate([one + 25 * d for d in range(60)])

    def test_full_word_covariances_are_fitted_kept_and_used_issue30(self):
        for tied in ("true", "false"):
            summary = self.succeed("dlgmm", *self.arguments, "--word-covariance", "full", "--tie-words", tied,
                                   "--out", tied).json()
            self.assertEqual(summary["metrics"]["accuracy"], 1)
            found = self.succeed("predict", tied, "P.npy", "--offsets", "offsets.npy").out.split()
            np.testing.assert_array_equal(np.array(found, int), self.labels(tied))
        self.assertIn("word_moves needs", self.fail_with(
            2, "dlgmm", *self.arguments, "--word-covariance", "full", "--word-moves", "3"))

    def test_edges_of_the_grid_are_the_grid_issue30(self):
        self.save("edges.npy", self.edges())
        gamma = [*self.arguments, "--gamma", "0.4"]
        grid = self.succeed("dlgmm", *gamma, "--grid", "grid.npy", "--out", "grid").json()
        edges = self.succeed("dlgmm", *gamma, "--edges", "edges.npy", "--out", "edges").json()
        self.assertAlmostEqual(edges["objective"], grid["objective"], delta=1e-6 * abs(grid["objective"]))
        np.testing.assert_array_equal(self.labels("edges"), self.labels("grid"))
        found = self.succeed("predict", "edges", "P.npy", "--offsets", "offsets.npy", "--edges", "edges.npy")
        np.testing.assert_array_equal(np.array(found.out.split(), int), self.labels("edges"))
        # Some images only, with the edges among them.
        kept = self.succeed("dlgmm", *gamma, "--edges", "edges.npy", "--select", "0,1", "-k", "2").json()
        self.assertEqual(kept["n"], 40)

    def test_neighbours_by_position_issue30(self):
        gamma = [*self.arguments, "--gamma", "0.4", "--position-neighbors", "4"]
        summary = self.succeed("dlgmm", *gamma, "--positions", "positions.npy", "--out", "run").json()
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        found = self.succeed("predict", "run", "P.npy", "--offsets", "offsets.npy", "--positions", "positions.npy")
        np.testing.assert_array_equal(np.array(found.out.split(), int), self.labels("run"))
        self.assertIn("the positions of the patches are unknown", self.fail_with(2, "dlgmm", *gamma))
        make_folder(self.folder / "photos", per_class=3, size=64)
        self.succeed("dlgmm", "photos", "--feature", "sparse-sift", "--words", "4", "-k", "2", "--gamma", "0.3",
                     "--position-neighbors", "5", "--bands", "1", "--out", "keypoints")
        self.succeed("predict", "keypoints", "photos")

    def test_bad_edges_are_named_issue30(self):
        gamma = ["dlgmm", *self.arguments, "--gamma", "0.4", "--edges", "e.npy"]
        for edge, message in (([24, 25], "patch 24 of image 0 with patch 25 of image 1"),
                              ([3, 3], "must join two different ones"), ([0, 1500], "between 0 and 1499")):
            self.save("e.npy", np.array([edge]))
            self.assertIn(message, self.fail_with(1, *gamma))
        self.save("e.npy", np.zeros((2, 3)))
        self.assertIn("must have 2", self.fail_with(1, *gamma))


if __name__ == "__main__":
    unittest.main()
