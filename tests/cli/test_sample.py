# SPDX-License-Identifier: Apache-2.0
"""milieu sample dlgmm: files that fit together, a fit that finds the clusters, and wrong uses."""

import json
import unittest

import numpy as np

from support import CliTest


class SampleTest(CliTest):
    def draw(self, *more, out="made"):
        return self.succeed("sample", "dlgmm", "--images", "40", "--out", out, *more)

    def load(self, name, folder="made"):
        return np.load(self.folder / folder / name)

    def test_files_fit_together(self):
        text = self.draw("--clusters", "3", "--words", "7", "--dims", "5", "--bands", "2",
                         "--grid-rows", "4", "--grid-columns", "6").out
        self.assertIn("wrote made: 40 images of 4 x 6 patches, 5 numbers each, in 3 clusters", text)
        self.assertEqual(self.load("patches.npy").shape, (960, 5))
        np.testing.assert_array_equal(self.load("offsets.npy"), np.arange(41) * 24)
        np.testing.assert_array_equal(self.load("grid.npy"), np.tile([4, 6], (40, 1)))
        self.assertEqual(self.load("theta.npy").shape, (40, 14))
        self.assertEqual(self.load("codebook.npy").shape, (7, 5))
        words = self.load("patch_words.npy")
        self.assertEqual((words.shape, set(words) <= set(range(7))), ((960,), True))
        self.assertEqual(len(self.labels("made")), 40)
        # Patches lie about their words, with variances between 0.5 and 1.5.
        away = self.load("patches.npy") - self.load("codebook.npy")[words]
        self.assertLess(abs(float(away.mean())), 0.1)
        self.assertGreater(float(away.var()), 0.5)
        self.assertLess(float(away.var()), 1.5)

    def test_a_fit_finds_the_clusters(self):
        self.draw("--images", "120", "-k", "3", "--words", "6", "--spread", "1.5", "--deviation", "0.4")
        summary = self.succeed("dlgmm", "made/patches.npy", "--offsets", "made/offsets.npy", "-k", "3",
                               "--words", "6", "--truth", "made/labels.csv", "--out", "run", "--json").json()
        self.assertGreater(summary["metrics"]["accuracy"], 0.95)
        fixed = self.succeed("dlgmm", "made/patches.npy", "--offsets", "made/offsets.npy", "-k", "3",
                             "--codebook", "made/codebook.npy", "--fix", "codebook",
                             "--truth", "made/labels.csv", "--json").json()
        self.assertGreater(fixed["metrics"]["accuracy"], 0.95)
        # Images like those of a run, and its own model labels them.
        self.succeed("sample", "dlgmm", "--model", "run", "--images", "60", "--out", "like")
        self.assertEqual(self.load("patches.npy", "like").shape, (60 * 64, 8))
        self.succeed("predict", "run", "like/patches.npy", "--offsets", "like/offsets.npy", "--out", "found.csv")
        metrics = self.succeed("score", "found.csv", "like/labels.csv", "--json").json()
        self.assertGreater(metrics["accuracy"], 0.95)

    def test_same_seed_same_bytes_for_any_number_of_threads(self):
        self.draw("--gamma", "0.5", "--threads", "1")
        self.draw("--gamma", "0.5", "--threads", "3", out="again")
        self.draw("--gamma", "0.5", "--seed", "2", out="other")
        one, two, other = (self.load("patches.npy", f) for f in ("made", "again", "other"))
        np.testing.assert_array_equal(one, two)
        self.assertFalse(np.array_equal(one, other))

    def test_neighbours_agree_with_gamma(self):
        def agreement(folder):
            words = self.load("patch_words.npy", folder).reshape(40, 8, 8)
            return (words[:, :, 1:] == words[:, :, :-1]).mean()
        self.draw("--seed", "3")
        self.draw("--seed", "3", "--gamma", "1", out="coherent")
        self.assertGreater(agreement("coherent"), agreement("made") + 0.1)

    def test_summary(self):
        summary = self.draw("--json").json()
        self.assertEqual([summary[name] for name in ("method", "n", "d", "patches", "num_words", "clusters")],
                         ["sample dlgmm", 40, 8, 2560, 12, 4])
        saved = json.loads((self.folder / "made/options.json").read_text())
        self.assertEqual(saved["options"]["num_images"], 40)

    def test_wrong_uses_are_named(self):
        self.assertIn("METHOD is 'kmeans', must be dlgmm", self.fail_with(2, "sample", "kmeans", "--out", "made"))
        self.assertIn("--out is missing", self.fail_with(2, "sample", "dlgmm"))
        self.assertIn("num_images is 0, must be at least 1",
                      self.fail_with(2, "sample", "dlgmm", "--images", "0", "--out", "made"))
        self.draw()
        self.assertIn("made", self.fail_with(2, "sample", "dlgmm", "--out", "made"))
        self.draw("--force")
        self.assertIn("num_words is 5, but --model made has its own: leave --num-words out",
                      self.fail_with(2, "sample", "dlgmm", "--model", "made", "--words", "5", "--out", "b"))
        self.save("X.npy", np.random.RandomState(0).rand(30, 2))
        self.succeed("kmeans", "X.npy", "-k", "2", "--out", "km")
        self.assertIn("kmeans", self.fail_with(1, "sample", "dlgmm", "--model", "km", "--out", "b"))


if __name__ == "__main__":
    unittest.main()
