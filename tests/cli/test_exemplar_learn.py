# SPDX-License-Identifier: Apache-2.0
"""milieu exemplar learn, and milieu exemplar --model: points, views, matrices, images."""

import json
import os
import signal
import unittest

import numpy as np

import images
from support import CliTest, environment


def make_groups(n, seed, noise=2.0):
    """Four groups in the first two columns; four columns of noise."""
    random = np.random.RandomState(seed)
    labels = np.arange(n) % 4
    points = random.normal(0, noise, (n, 6))
    points[:, 0] = 4 * (labels % 2) + random.normal(0, 0.4, n)
    points[:, 1] = 4 * (labels // 2) + random.normal(0, 0.4, n)
    return points.astype(np.float32), labels


class ExemplarLearnTest(CliTest):
    def setUp(self):
        super().setUp()
        for name, n, seed in (("a", 60, 1), ("b", 80, 2), ("new", 72, 3)):
            points, labels = make_groups(n, seed)
            self.save(f"{name}.npy", points)
            self.save(f"{name}_y.npy", labels)

    def learn(self, *arguments):
        return self.succeed("exemplar", "learn", *arguments)

    def learned(self):
        return self.learn("a.npy:a_y.npy", "b.npy:b_y.npy", "--out", "d")

    def test_run_folder_says_what_was_learned(self):
        text = self.learned().out
        self.assertIn("read a.npy:a_y.npy: 60 samples, 4 clusters", text)
        self.assertIn("switched off", text)
        self.assertIn("next: milieu exemplar NEW.npy --model d", text)
        self.assertEqual(sorted(os.listdir(self.folder / "d")),
                         ["model.safetensors", "options.json", "report.html", "summary.json",
                          "weights.csv"])
        summary = json.loads((self.folder / "d/summary.json").read_text())
        self.assertEqual(summary["features"], [f"column {t}" for t in range(6)])
        shares = np.array(summary["shares"])
        self.assertGreater(shares[:2].sum(), 0.6 * shares.sum())  # a third before learning
        self.assertAlmostEqual(np.abs(shares).sum() + summary["metric_share"], 1, 9)
        self.assertIn(summary["grouping"], ("exemplars", "cut"))
        self.assertFalse(summary["uses_average"])
        self.assertAlmostEqual(summary["objective"], summary["trace"][-1], 12)
        self.assertAlmostEqual(summary["loss_energy"] - summary["loss_bound"] +
                               summary["loss_price"], summary["objective"], 9)
        lines = (self.folder / "d/weights.csv").read_text().splitlines()
        self.assertEqual(lines[0], "candidate,weight,share")
        self.assertEqual(float(lines[1].split(",")[1]), summary["weights"][0])
        page = (self.folder / "d/report.html").read_text()
        for part in ("Weights", "Objective", "candidates", "column 0"):
            self.assertIn(part, page)

    def test_new_data_fall_into_their_clusters(self):
        self.learned()
        summary = self.succeed("exemplar", "new.npy", "--labels", "new_y.npy", "--model", "d",
                               "--out", "run", "--json").json()
        self.assertEqual(summary["clusters"], 4)
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        plain = self.succeed("exemplar", "new.npy", "--labels", "new_y.npy", "-k", "4", "--json")
        self.assertLess(plain.json()["metrics"]["accuracy"], 0.9)
        self.assertIn("without clusters to compare", self.fail_with(1, "predict", "run", "new.npy"))

    def test_clusters_are_formed_as_asked(self):
        self.learned()
        given = ["exemplar", "new.npy", "--labels", "new_y.npy", "--model", "d", "--json"]
        cut = self.succeed(*given, "--grouping", "cut").json()
        self.assertEqual((cut["grouping"], cut["clusters"], cut["metrics"]["accuracy"]),
                         ("cut", 4, 1))
        self.assertEqual(len(cut["exemplars"]), 4)
        self.assertGreaterEqual(cut["energy"], cut["lower_bound"])
        self.assertEqual(self.succeed(*given, "--grouping", "cut", "-k", "6").json()["clusters"], 6)
        plain = self.succeed(*given, "--grouping", "exemplars").json()
        self.assertEqual((plain["grouping"], plain["clusters"]), ("exemplars", 4))
        self.assertIn("which has no penalty", self.fail_with(
            2, *given, "--grouping", "cut", "--penalty", "3"))
        self.assertIn("needs a learned distance", self.fail_with(
            2, "exemplar", "new.npy", "--grouping", "cut"))

    def test_classes_of_the_nearest_training_samples(self):
        self.learned()
        self.write("names.csv", "label\n" + "".join(f"{'abcd'[i % 4]}\n" for i in range(72)))
        summary = self.succeed("exemplar", "new.npy", "--labels", "new_y.npy", "--model", "d",
                               "--classify", "--json", "--out", "run").json()
        self.assertEqual(summary["class_accuracy"], 1)
        self.assertEqual(summary["classes"], ["0", "1", "2", "3"])
        np.testing.assert_array_equal(self.labels("run"), np.arange(72) % 4)
        self.assertEqual((self.folder / "run/classes.csv").read_text().splitlines()[1], "0,0")
        # Other names are other classes.
        summary = self.succeed("exemplar", "new.npy", "--labels", "names.csv", "--model", "d",
                               "--classify", "--json").json()
        self.assertEqual(summary["class_accuracy"], 0)
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        predicted = self.succeed("predict", "d", "new.npy").out.split()
        self.assertEqual(predicted, [str(i % 4) for i in range(72)])

    def test_classes_from_distances_to_the_training_samples_issue30(self):
        """A matrix per candidate, new samples x training samples of all sets: the classes that points give."""
        sets = {name: np.load(self.folder / f"{name}.npy") for name in ("a", "b", "new")}
        parts = lambda rows: (rows[:, :2], rows[:, 2:])
        squares = lambda x, y: ((x[:, None] - y[None]) ** 2).sum(axis=2).astype(np.float32)
        for name in ("a", "b"):
            self.save(f"{name}_stack.npy", np.array([squares(p, p) for p in parts(sets[name])]))
        self.learn("a_stack.npy:a_y.npy", "b_stack.npy:b_y.npy", "--distance", "precomputed", "--out", "stack")
        old = np.concatenate([sets["a"], sets["b"]])
        cross = np.array([squares(p, q) for p, q in zip(parts(sets["new"]), parts(old))])
        self.save("cross.npy", cross)
        summary = self.succeed("exemplar", "cross.npy", "--model", "stack", "--classify",
                               "--labels", "new_y.npy", "--out", "run", "--json").json()
        self.assertEqual((summary["n"], summary["class_accuracy"]), (72, 1))
        weights = self.succeed("exemplar", "cross.npy", "--model", "stack", "--classify", "--json").json()
        self.assertEqual(weights["classes"], ["0", "1", "2", "3"])
        self.save("d0.npy", cross[0])
        self.save("d1.npy", cross[1])
        self.succeed("exemplar", "d0.npy,d1.npy", "--model", "stack", "--classify", "--out", "files")
        np.testing.assert_array_equal(self.labels("files"), self.labels("run"))
        self.save("short.npy", cross[:, :, :-1])
        self.assertIn("the matrices have 139 columns, the distance was learned on 140 samples",
                      self.fail_with(2, "exemplar", "short.npy", "--model", "stack", "--classify"))
        self.assertIn("must be square", self.fail_with(1, "exemplar", "cross.npy", "--model", "stack"))

    def test_same_bytes_for_any_number_of_threads(self):
        for threads in ("1", "3"):
            self.learn("a.npy:a_y.npy", "b.npy:b_y.npy", "--rounds", "20", "--threads", threads,
                       "--out", "t" + threads)
        one, three = (self.folder / f"t{t}/model.safetensors" for t in "13")
        self.assertEqual(one.read_bytes(), three.read_bytes())

    def test_views_and_matrices_are_candidates(self):
        for name, n in (("a", 60), ("new", 72)):
            points = np.load(self.folder / f"{name}.npy")
            self.save(f"{name}_good.npy", points[:, :2])
            self.save(f"{name}_noise.npy", points[:, 2:])
            stack = []
            for part in (points[:, :2], points[:, 2:]):
                stack.append(((part[:, None] - part[None]) ** 2).sum(axis=2))
            self.save(f"{name}_stack.npy", np.array(stack, np.float32))
            self.save(f"{name}_d0.npy", stack[0].astype(np.float32))
            self.save(f"{name}_d1.npy", stack[1].astype(np.float32))
        views = self.learn("a_good.npy,a_noise.npy:a_y.npy", "--distance", "squared-euclidean",
                           "--metric=false", "--out", "views", "--json").json()  # as of matrices
        self.assertEqual(views["features"],
                         ["a_good squared-euclidean", "a_noise squared-euclidean"])
        stack = self.learn("a_stack.npy:a_y.npy", "--distance", "precomputed", "--out", "stack",
                           "--json").json()
        files = self.learn("a_d0.npy,a_d1.npy:a_y.npy", "--distance", "precomputed", "--out",
                           "files", "--json").json()
        np.testing.assert_allclose(stack["weights"], views["weights"], rtol=2e-3)
        self.assertEqual(stack["weights"], files["weights"])
        for model, given in (("views", "new_good.npy,new_noise.npy"), ("stack", "new_stack.npy"),
                             ("files", "new_d0.npy,new_d1.npy")):
            summary = self.succeed("exemplar", given, "--model", model, "--truth", "new_y.npy",
                                   "--json").json()
            self.assertEqual((summary["clusters"], summary["metrics"]["accuracy"]), (4, 1))
        for value in (-1, np.nan):
            bad = np.load(self.folder / "new_stack.npy")
            bad[1, 3, 4] = value
            self.save("bad_stack.npy", bad)
            self.assertIn(f"matrix 1 has {value} at row 3, column 4",
                          self.fail_with(1, "exemplar", "bad_stack.npy", "--model", "stack"))
            bad = np.load(self.folder / "a_stack.npy")
            bad[1, 3, 4] = value
            self.save("bad_stack.npy", bad)
            self.assertIn(f"matrix 1 of set 0 has {value} at row 3, column 4",
                          self.fail_with(1, "exemplar", "learn", "bad_stack.npy:a_y.npy",
                                         "--distance", "precomputed"))
        self.assertIn("1 matrix given, the distance was learned on 2",
                      self.fail_with(2, "exemplar", "new_d0.npy", "--model", "files"))

    def test_models_of_images_keep_features_and_words(self):
        images.make_folder(self.folder / "old", per_class=6)
        images.make_folder(self.folder / "older", per_class=4)
        cache = environment(MILIEU_CACHE=str(self.folder / "cache"))
        features = ["--feature", "color,lbp,dense-sift:words=10"]
        done = self.run_milieu("exemplar", "learn", "old", "older", *features, "--out", "d",
                               "--json", env=cache)
        self.assertEqual(done.code, 0, done.err)
        summary = done.json()
        self.assertEqual(len(summary["features"]), 12)
        self.assertIn("dense-sift rbf", summary["features"])
        self.assertTrue((self.folder / "d/dense-sift.codebook.npy").exists())
        images.make_folder(self.folder / "new", per_class=5)
        found = self.run_milieu("exemplar", "new", "--model", "d", "--json", env=cache).json()
        self.assertEqual((found["clusters"], found["metrics"]["accuracy"]), (3, 1))
        found = self.run_milieu("exemplar", "new", "--model", "d", "--classify", "--json",
                                env=cache).json()
        self.assertEqual(found["class_accuracy"], 1)
        other = self.run_milieu("exemplar", "new", "--model", "d", "--feature", "color", env=cache)
        self.assertEqual(other.code, 2)
        self.assertIn("the model was trained on color,lbp,dense-sift", other.err)

    def test_interrupt_keeps_the_weights_so_far(self):
        process = self.start("exemplar", "learn", "a.npy:a_y.npy", "--rounds", "2000000000", "--out",
                             "d")
        for line in process.stderr:  # the first line of progress: rounds have been done
            if "iteration" in line or "round" in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read(), process.stderr.read()
        self.assertEqual(process.wait(), 130)
        process.stdout.close(), process.stderr.close()
        summary = json.loads((self.folder / "d/summary.json").read_text())
        self.assertEqual(summary["termination"], "Cancelled")
        self.succeed("exemplar", "new.npy", "--model", "d")

    def test_bad_training_sets_are_named(self):
        self.save("one.npy", np.zeros(60, int))
        self.save("alone.npy", np.arange(60))
        self.save("short.npy", np.zeros(7, int))
        self.save("single.npy", np.zeros((1, 6), np.float32))
        self.save("flat.npy", np.ones((60, 6), np.float32))
        broken = np.load(self.folder / "a.npy")
        broken[3, 2] = np.nan
        self.save("broken.npy", broken)
        self.save("narrow.npy", np.random.RandomState(0).rand(60, 3).astype(np.float32))
        negative = np.ones((60, 60), np.float32)
        negative[1, 2] = -1
        self.save("negative.npy", negative)
        for code, trains, part in (
                (2, ["a.npy:one.npy"], "1 cluster for 60 samples"),
                (2, ["a.npy:alone.npy"], "60 clusters for 60 samples"),
                (1, ["a.npy:short.npy"], "short.npy has 7 rows, a.npy:short.npy has 60"),
                (2, ["flat.npy:a_y.npy"], "every candidate distance is the same for all pairs"),
                (1, ["broken.npy:a_y.npy"], "broken.npy: row 3, column 2"),
                (2, ["a.npy:a_y.npy", "narrow.npy:a_y.npy"], "set 1 has 3 columns, set 0 has 6"),
                (1, ["negative.npy:a_y.npy", "--distance", "precomputed"], "has -1 at row 1, column 2"),
                (2, ["a.npy"], "a.npy:labels.npy"),
                (1, ["missing.npy:a_y.npy"], "missing.npy"),
                (2, ["a.npy:a_y.npy", "--distance", "euclid"], "distance is 'euclid'"),
                (2, ["a.npy:a_y.npy", "--penalty", "0.5"], "clusters of one sample would always be best"),
                (2, ["a.npy:a_y.npy", "--alpha", "-1"], "alpha is -1"),
                (2, ["a.npy:a_y.npy", "--feature", "gist"], "is not an image folder"),
                (2, ["a.npy:a_y.npy", "--max-memory-gb", "1e-6"], "max_memory_gb")):
            with self.subTest(part):
                self.assertIn(part, self.fail_with(code, "exemplar", "learn", *trains))
        self.save("first.npy", np.zeros(1, int))
        self.assertIn("one sample", self.fail_with(2, "exemplar", "learn", "single.npy:first.npy"))

    def test_constant_columns_are_warned_of(self):
        points = np.load(self.folder / "a.npy")
        points[:, 4] = 3
        self.save("constant.npy", points)
        summary = self.learn("constant.npy:a_y.npy", "--json", "--rounds", "20").json()
        self.assertEqual(summary["weights"][4], 0)
        self.assertIn("the same for all pairs, so they get no weight: column 4",
                      "\n".join(summary["warnings"]))

    def test_wrong_uses_of_a_model_are_named(self):
        self.learned()
        self.save("narrow.npy", np.zeros((5, 3), np.float32))
        for code, arguments, part in (
                (2, ["narrow.npy", "--model", "d"], "3 columns, the distance was learned on 6"),
                (2, ["new.npy", "--model", "d", "--distance", "l1"], "brings its own"),
                (2, ["new.npy", "--classify"], "--classify needs --model"),
                (1, ["new.npy", "--model", "nowhere"], "nowhere"),
                (1, ["new.npy", "--model", "."], "model.safetensors")):
            with self.subTest(part):
                outcome = self.run_milieu("exemplar", *arguments)
                self.assertNotEqual(outcome.code, 0)
                self.assertIn(part, outcome.err)
        self.succeed("kmeans", "new.npy", "-k", "2", "--out", "k")
        self.assertIn("kmeans", self.fail_with(1, "exemplar", "new.npy", "--model", "k"))

    def test_options_of_the_trainer_are_flags(self):
        for flags in (["--preset", "paper"], ["--stochastic"], ["--inner-rounds", "5"],
                      ["--regularizer", "elastic"], ["--learn-penalty"], ["--calibrate=false"],
                      ["--metric=false"], ["--validations", "0"],
                      ["--precision", "double", "--rounds", "10"], ["--alpha", "0.5", "--beta", "2"]):
            with self.subTest(flags):
                summary = self.learn("a.npy:a_y.npy", "--json", *flags).json()
                self.assertLess(summary["trace"][-1], summary["trace"][0])
        for flags, is_calibrated in ((["--penalty", "5"], False), (["--calibrate=false"], False),
                                     (["--preset", "paper"], False), ([], True)):
            summary = self.learn("a.npy:a_y.npy", "--json", "--rounds", "20", *flags).json()
            self.assertEqual("calibration_factor" in summary, is_calibrated, flags)

    def test_sets_of_known_and_of_other_clusters_issue28(self):
        random = np.random.RandomState(5)
        centers, wide = 1.2 * random.normal(size=(12, 30)), 1.5 * random.normal(size=(3, 30))
        for name, first in (("train", 0), ("same", 0), ("other", 6)):
            labels = np.arange(144) % 6
            points = centers[first + labels] + random.normal(size=(144, 30))
            self.save(f"{name}.npy", (points + random.normal(size=(144, 3)) @ wide).astype(np.float32))
            self.save(f"{name}_y.npy", labels)
        text = self.learn("train.npy:train_y.npy", "--out", "d", "--rounds", "30").out
        self.assertIn("used for new sets that hold the same clusters", text)

        def run(name, *flags):
            return self.succeed("exemplar", f"{name}.npy", "--model", "d", "-k", "6", "--truth",
                                f"{name}_y.npy", "--json", *flags).json()

        known, any_clusters = run("same"), run("same", "--known-clusters", "no")
        self.assertTrue(known["known_clusters"])
        self.assertLessEqual(known["distance_to_known"], known["limit_of_known"])
        self.assertNotIn("known_clusters", any_clusters)
        self.assertGreaterEqual(known["metrics"]["accuracy"], any_clusters["metrics"]["accuracy"])
        self.assertFalse(run("other")["known_clusters"])
        self.assertTrue(run("other", "--known-clusters", "yes")["known_clusters"])


if __name__ == "__main__":
    unittest.main()
