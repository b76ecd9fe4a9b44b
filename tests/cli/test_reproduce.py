# SPDX-License-Identifier: Apache-2.0
"""milieu reproduce: the list, unknown names, missing data, resumed runs."""

import json
import unittest

import numpy as np

from images import make_folder
from support import CliTest, environment


class ReproduceTest(CliTest):
    def test_without_arguments_the_experiments_are_listed(self):
        out = self.succeed("reproduce").out
        self.assertRegex(out, r"(?m)^  dcp kmeans +\S")

    def test_unknown_experiments_are_named(self):
        self.assertIn("no experiment 'tea'", self.fail_with(2, "reproduce", "tea"))
        self.assertIn("no experiment 'dcp tea'", self.fail_with(2, "reproduce", "dcp", "tea"))

    def test_missing_data_are_reported_and_fail(self):
        (self.folder / "none").mkdir()
        outcome = self.run_milieu("reproduce", "dcp", "kmeans", "--data", "none", "--quiet")
        self.assertEqual((outcome.code, outcome.out), (1, ""))
        self.assertIn("skipped dcp kmeans: none/usps_roweis/labels.npy does not exist", outcome.err)
        self.assertIn("--data", outcome.err)

    def test_finished_pieces_are_kept(self):
        """Two small digit classes replace USPS: a second run reads what the first one has kept."""
        (self.folder / "data/usps_roweis").mkdir(parents=True)
        random = np.random.RandomState(1)
        self.save("data/usps_roweis/X.npy", (255 * random.rand(100, 16)).astype(np.uint8))
        self.save("data/usps_roweis/labels.npy", np.repeat(np.arange(10), 10))
        command = ["reproduce", "dcp", "digits", "--data", "data", "--runs", "1", "--restarts", "1",
                   "--resume", "state.json", "--quiet"]
        first = self.succeed(*command).out
        state = json.loads((self.folder / "state.json").read_text())
        name = "digits 6 v 0, 1:1, context 7, run 0"
        self.assertEqual(len(state["pieces"][name]["figures"]), 1)
        self.assertEqual(self.succeed(*command).out, first)
        state["pieces"][name]["figures"] = [0.25]  # a kept figure is taken as it is
        self.write("state.json", json.dumps(state))
        self.assertIn("3.6 -> 25.0", self.succeed(*command).out)
        self.assertIn("was written with other options", self.fail_with(2, *command, "--seed", "2"))
        for text in ("tea", "{}", '{"key": 1}', "[]"):
            self.write("other.json", text)
            self.fail_with(2 if "key" in text else 1, *command[:-2], "other.json", "--quiet")
        self.write("state.json", "tea")
        self.assertIn("does not hold the results of an experiment", self.fail_with(1, *command))

    def test_figures_of_other_data_are_refused_issue20(self):
        """USPS replaced by data of the same shape: the figures of the old data must not come back."""
        (self.folder / "data/usps_roweis").mkdir(parents=True)
        random = np.random.RandomState(1)
        self.save("data/usps_roweis/labels.npy", np.repeat(np.arange(10), 10))
        command = ["reproduce", "dcp", "digits", "--data", "data", "--runs", "1", "--restarts", "1",
                   "--resume", "state.json", "--quiet"]
        self.save("data/usps_roweis/X.npy", (255 * random.rand(100, 16)).astype(np.uint8))
        self.succeed(*command)
        before = (self.folder / "state.json").read_bytes()
        self.save("data/usps_roweis/X.npy", (255 * random.rand(100, 16)).astype(np.uint8))
        self.assertIn("has figures of other data", self.fail_with(2, *command))
        self.assertEqual((self.folder / "state.json").read_bytes(), before)

    def test_tables_of_dlgmm_go_on_where_they_stopped(self):
        """Synthetic images replace 15-Scenes: finished cells are not computed again."""
        make_folder(self.folder / "data/scenes15", per_class=5, size=64)
        env = environment(MILIEU_CACHE=str(self.folder / "cache"))
        command = ["reproduce", "dlgmm", "gamma", "--data", "data", "--runs", "1", "--out", "tables"]

        def run():
            outcome = self.run_milieu(*command, env=env)
            self.assertEqual(outcome.code, 0, outcome.err)
            return outcome

        first = run()
        progress = self.folder / "tables/dlgmm_gamma.progress"
        state = json.loads(progress.read_text())
        pieces = dict(state["pieces"])
        self.assertEqual(len(pieces), 5)
        name = next(iter(pieces))
        del state["pieces"][name]  # one is lost
        progress.write_text(json.dumps(state))
        again = run()
        self.assertEqual(again.out, first.out)
        self.assertEqual(json.loads(progress.read_text())["pieces"], pieces)
        self.assertEqual(again.err.count("dlgmm_gamma "), 1)
        state["pieces"] = pieces
        state["pieces"][name]["figures"] = [0.25, 0.75]
        progress.write_text(json.dumps(state))
        self.assertIn("25.0", run().out)
        # Other restarts, another seed or other images: figures that are kept are not theirs.
        for option in (["--restarts", "3"], ["--seed", "9"]):
            message = self.fail_with(2, *command, *option, "--quiet", env=env)
            self.assertIn("was written with other options", message)
        image = sorted((self.folder / "data/scenes15").glob("*/*"))[0]
        image.write_bytes(sorted((self.folder / "data/scenes15").glob("*/*"))[-1].read_bytes())
        self.assertIn("has figures of other data",
                      self.fail_with(2, *command, "--quiet", env=env))

    def test_title_says_what_is_there_issue28(self):
        """It said "14 of 40" whatever the data."""
        make_folder(self.folder / "data/uiuc_textures", per_class=6, size=48)
        env = environment(MILIEU_CACHE=str(self.folder / "cache"))
        command = ["reproduce", "exemplar", "uiuc", "--data", "data", "--runs", "1", "--quiet"]
        outcome = self.run_milieu(*command, env=env)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("UIUC textures, 3 classes, 6 images per class [", outcome.out)
        (self.folder / "data/uiuc_textures/red/000.png").unlink()
        outcome = self.run_milieu(*command, env=env)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("UIUC textures, 3 classes, 5 to 6 images per class [", outcome.out)

    def test_learned_distances_held_out_resume(self):
        """Small sets in place of the real ones: kept figures are used, splits are there for the rivals."""
        random = np.random.RandomState(3)
        for name, labels, columns in (("usps_esl/X_train", "usps_esl/labels_train", 5),
                                      ("gas_drift/X", "gas_drift/labels", 4),
                                      ("vowel_deterding/X", "vowel_deterding/labels", 3),
                                      ("peterson_barney/X", "peterson_barney/labels", 3),
                                      ("hillenbrand/X15", "hillenbrand/labels", 3)):
            classes = np.arange(36) % 3
            (self.folder / f"data/{name}").parent.mkdir(parents=True, exist_ok=True)
            self.save(f"data/{name}.npy", (4 * random.normal(size=(3, columns))[classes]
                                           + random.normal(size=(36, columns))).astype(np.float32))
            self.save(f"data/{labels}.npy", classes)
        self.save("data/gas_drift/batch.npy", np.repeat([1, 2], 18))
        command = ["reproduce", "exemplar", "held-out", "--data", "data", "--runs", "1", "--out", "o"]
        first = self.run_milieu(*command)
        self.assertEqual(first.code, 0, first.err)
        row = [line.split() for line in first.out.splitlines() if line.startswith("  gas ")]
        self.assertEqual(len(row[0]), 12)
        split = self.folder / "o/exemplar_problems/gas split 1"
        self.assertEqual(np.load(split / "train.npy").shape, (9, 4))  # of batch 1, half of each class
        self.assertEqual(np.bincount(np.load(split / "test_classes.npy")).tolist(), [3, 3, 3])
        self.assertEqual(len(np.load(split / "figures.npy").ravel()), 11)
        again = self.run_milieu(*command)
        self.assertEqual(again.out, first.out)
        self.assertNotIn("split 1", again.err)

    def test_values_out_of_range_are_refused(self):
        self.assertEqual(self.fail_with(2, "reproduce", "dcp", "--runs", "-1"),
                         "num_runs is -1, must be at least 0")


if __name__ == "__main__":
    unittest.main()
