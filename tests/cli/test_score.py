# SPDX-License-Identifier: Apache-2.0
"""milieu score: figures by hand, all label formats, and labels that do not fit."""

import json
import unittest

import numpy as np

from images import make_folder
from support import METRIC_KEYS, CliTest


class ScoreTest(CliTest):
    def setUp(self):
        super().setUp()
        # Clusters {a a a}, {a b b}, {b c}: the best matching keeps 3 + 2 + 1 of 8.
        self.write("labels.csv", "sample,label\n" +
                   "".join(f"{i},{c}\n" for i, c in enumerate([0, 0, 0, 1, 1, 1, 2, 2])))
        self.write("truth.txt", "\n".join("aaaabbbc") + "\n")

    def test_figures_by_hand(self):
        metrics = self.succeed("score", "labels.csv", "truth.txt", "--json").json()
        self.assertLessEqual(set(METRIC_KEYS), set(metrics))
        self.assertEqual(metrics["accuracy"], 6 / 8)
        self.assertEqual(metrics["error"], 2 / 8)
        self.assertEqual(metrics["purity"], 6 / 8)
        # Pairs together: 7 in clusters, 9 in classes, 3 + 1 in both.
        self.assertAlmostEqual(metrics["precision_pairwise"], 4 / 7, 12)
        self.assertAlmostEqual(metrics["recall_pairwise"], 4 / 9, 12)

    def test_class_folders_are_the_truth(self):
        make_folder(self.folder / "photos")
        self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--out", "run", "--quiet")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        metrics = self.succeed("score", "run", "photos", "--json").json()
        self.assertEqual(metrics["accuracy"], summary["metrics"]["accuracy"])
        (self.folder / "photos" / "red" / "000.png").unlink()
        self.assertIn("names the sample red/000.png, which is not an image below photos",
                      self.fail_with(1, "score", "run", "photos"))
        make_folder(self.folder / "photos", first=0)
        (self.folder / "flat").mkdir()
        (self.folder / "photos" / "red" / "000.png").rename(self.folder / "flat" / "1.png")
        self.assertIn("no sub-folders", self.fail_with(1, "score", "run", "flat"))

    def test_table_for_people(self):
        out = self.succeed("score", "labels.csv", "truth.txt").out
        self.assertIn("8 samples, 3 clusters, 3 classes\n", out)
        for name in METRIC_KEYS:
            self.assertRegex(out, rf"(?m)^  {name} +-?[0-9.]+$")
        self.assertRegex(out, r"accuracy +0\.7500")

    def test_all_formats_say_the_same(self):
        expected = self.succeed("score", "labels.csv", "truth.txt", "--json").out
        self.save("labels.npy", np.array([0, 0, 0, 1, 1, 1, 2, 2]))
        self.save("truth.npy", np.array([5, 5, 5, 5, 7, 7, 7, 9], dtype=np.uint8))
        self.assertEqual(self.succeed("score", "labels.npy", "truth.npy", "--json").out, expected)

    def test_run_folder_is_taken_as_its_labels(self):
        points = np.arange(8, dtype=np.float32).reshape(-1, 1) // 4 * 10
        self.save("X.npy", points)
        self.save("y.npy", np.arange(8) // 4)
        self.succeed("kmeans", "X.npy", "-k", "2", "--out", "run")
        self.assertEqual(self.succeed("score", "run", "y.npy", "--json").json()["accuracy"], 1)

    def test_other_lengths_are_named(self):
        self.write("short.csv", "label\n" + "0\n" * 7)
        self.save("truth9.npy", np.zeros(9, dtype=int))
        self.assertEqual(self.fail_with(1, "score", "short.csv", "truth9.npy"),
                         "short.csv has 7 rows, truth9.npy has 9: they must match")

    def test_missing_files_and_arguments(self):
        self.assertIn("none.csv", self.fail_with(1, "score", "none.csv", "truth.txt"))
        self.assertIn("none.npy", self.fail_with(1, "score", "labels.csv", "none.npy"))
        self.assertIn("TRUTH is missing", self.fail_with(2, "score", "labels.csv"))
        self.assertEqual(self.fail_with(2, "score", "labels.csv", "truth.txt", "more"),
                         "unexpected argument 'more'")

    def test_fractions_are_no_labels(self):
        self.write("heights.csv", "1.5\n2.25\n")
        self.assertIn("heights.csv", self.fail_with(1, "score", "heights.csv", "heights.csv"))

    def test_empty_label_file_is_refused(self):
        self.write("empty.csv", "")
        self.assertIn("empty.csv", self.fail_with(1, "score", "empty.csv", "truth.txt"))


if __name__ == "__main__":
    unittest.main()
