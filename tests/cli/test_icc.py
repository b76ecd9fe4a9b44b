# SPDX-License-Identifier: Apache-2.0
"""milieu icc and milieu icc classify: the shared cases, and what only ICC has."""

import json
import shutil
import signal
import time
import unittest

import numpy as np

from feature_case import FeatureCase
from images import make_folder
from method_cases import MethodCases
from support import CliTest


def crossing(n=600, seed=0):
    """A wide class cut in two by a narrow one."""
    random = np.random.RandomState(seed)
    wide = random.normal(size=(n, 2)) * [4, 1]
    narrow = random.normal(size=(n // 2, 2)) * [0.7, 4]
    points = np.concatenate([wide, narrow]).astype(np.float32)
    return points, np.repeat([0, 1], [n, n // 2])


class IccTest(MethodCases, CliTest):
    command = "icc"
    arguments = []
    takes_k = False
    truth_arguments = ["--truth", "y.npy"]  # its sub-classes are not compared with their own classes
    one_cluster = []
    slow_arguments = ["--bootstrap", "100000000"]

    def slow_points(self):
        return np.random.RandomState(0).rand(2000, 4).astype(np.float32)

    def save_crossing(self):
        points, classes = crossing()
        self.save("P.npy", points)
        self.save("c.npy", classes)
        return points, classes

    def test_context_splits_a_class(self):
        self.save_crossing()
        summary = self.succeed("icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08",
                               "--json").json()
        self.assertEqual(summary["subclasses"][0], 2)
        self.assertEqual(len(summary["subclasses"]), 2)
        self.assertEqual(sum(summary["subclasses"]), summary["clusters"])
        self.assertLess(summary["overlap_icc"], summary["overlap_before"])

    def test_one_set_is_split_by_one_context_issue30(self):
        """A file, classes of INPUT or rows of INPUT as context: the sub-classes of the first of two classes."""
        points, classes = self.save_crossing()
        self.succeed("icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08", "--out", "both")
        self.save("object.npy", points[classes == 0])
        self.save("context.npy", points[classes == 1])
        summary = self.succeed("icc", "object.npy", "--context", "context.npy", "--bandwidth", "0.08",
                               "--out", "file", "--json").json()
        self.assertEqual((summary["subclasses"], summary["n"]), ([2], 600))
        np.testing.assert_array_equal(self.labels("file"), self.labels("both")[:600])
        self.succeed("icc", "P.npy", "--labels", "c.npy", "--select", "0", "--context-select", "1",
                     "--bandwidth", "0.08", "--out", "classes")
        self.succeed("icc", "P.npy", "--labels", "c.npy", "--context-select", "1",
                     "--bandwidth", "0.08", "--out", "rest")
        np.savetxt(self.folder / "rows.txt", np.flatnonzero(classes), fmt="%d")
        self.succeed("icc", "P.npy", "--context-rows", "rows.txt", "--bandwidth", "0.08", "--out", "rows")
        for run in ("classes", "rest", "rows"):
            np.testing.assert_array_equal(self.labels(run), self.labels("file"), run)
        self.assertTrue((self.folder / "file/class_0.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(self.succeed("predict", "file", "object.npy", "--out", "again.csv").code, 0)

    def test_context_goes_with_one_set_issue30(self):
        points, classes = self.save_crossing()
        self.save("context.npy", points[classes == 1])
        refuse = lambda *more: self.fail_with(2, "icc", "P.npy", *more)
        self.assertIn("give only one of --context, --context-select and --context-rows",
                      refuse("--labels", "c.npy", "--context", "context.npy", "--context-select", "1"))
        self.assertIn("a context is for one set",
                      refuse("--labels", "c.npy", "--context", "context.npy", "--cv", "3"))
        self.save("places.npy", points)
        self.assertIn("coordinates have no rows for the context",
                      refuse("--context", "context.npy", "--coordinates", "places.npy"))

    def test_truth_is_shown_only_where_it_means_something_issue24(self):
        """Sub-classes compared with the classes that they are parts of say nothing; with true sub-classes they do."""
        points, classes = self.save_crossing()
        arguments = ["icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08"]
        text = self.succeed(*arguments, "--out", "run").out
        self.assertNotIn("against the truth", text)
        self.assertIn("accuracy", json.loads((self.folder / "run/summary.json").read_text())["metrics"])
        self.save("halves.npy", np.where(classes == 0, (points[:, 0] > 0).astype(int), 2))
        self.assertIn("against the truth", self.succeed(*arguments, "--truth", "halves.npy").out)

    def test_truth_of_one_class_is_not_shown_issue24(self):
        self.save("P.npy", crossing()[0])
        self.save("one.npy", np.zeros(900, int))
        self.save("two.npy", np.arange(900) % 2)
        self.assertNotIn("against the truth", self.succeed("kmeans", "P.npy", "-k", "2", "--truth", "one.npy").out)
        self.assertIn("against the truth", self.succeed("kmeans", "P.npy", "-k", "2", "--truth", "two.npy").out)

    def test_run_folder_has_pictures(self):
        self.save_crossing()
        self.succeed("icc", "P.npy", "--labels", "c.npy", "--out", "run")
        for name in ("class_0.png", "class_1.png", "projections.png"):
            content = (self.folder / "run" / name).read_bytes()
            self.assertEqual(content[:4], b"\x89PNG", name)

    def test_bootstrap_reports_every_subclass(self):
        self.save_crossing()
        summary = self.succeed("icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08",
                               "--bootstrap", "10", "--json").json()
        for name in ("survival", "noise", "persistence"):
            self.assertEqual(len(summary[name]), summary["clusters"], name)
        self.assertEqual(summary["resamples"], 10)
        self.assertLessEqual(summary["fewest_subclasses"][0], summary["most_subclasses"][0])
        text = self.succeed("icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08",
                            "--bootstrap", "10").out
        self.assertRegex(text, r"sub-class +samples +persistence +noise +survival")
        self.assertRegex(text, r"class 1: \d+ found; in resamples \d")

    def test_comparison_table(self):
        self.save_crossing()
        arguments = ["icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08", "--repeat", "3"]
        outcome = self.succeed(*arguments, "--cv", "4", "--out", "run")
        self.assertRegex(outcome.out, r"ICC \+ LDA +\d+\.\d")
        table = (self.folder / "run/comparison.csv").read_text().splitlines()
        self.assertEqual(table[0], "method,accuracy,std,p_value,subclasses,overlap,seconds")
        self.assertEqual([line.split(",")[0] for line in table[1:]],
                         ["PCA only", "LDA only", "EM + LDA", "ICC + LDA"])
        summary = self.succeed(*arguments, "--holdout", "0.2", "--json").json()
        self.assertEqual(summary["cv_trials"], 3)
        self.assertGreater(summary["cv_accuracy"][3], 0.5)
        np.save(self.folder / "g.npy", np.arange(900) // 10)
        self.succeed(*arguments, "--holdout", "0.2", "--groups", "g.npy", "--json")

    def test_interrupted_comparisons_say_so_issue20(self):
        """Stopped by time or by Ctrl-C: not Converged, a warning, no p-values."""
        self.save_crossing()
        icc = ["icc", "P.npy", "--labels", "c.npy", "--bandwidth", "0.08"]
        compare = ["icc", "compare", *icc[1:]]
        for command in (icc, compare):
            command += ["--cv", "4", "--repeat", "100000000", "--json"]
            summary = self.succeed(*command, "--time-limit", "2").json()
            self.assert_stopped(summary, "TimeLimit")
            process = self.start(*command)
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=100)
            self.assertEqual(process.returncode, 130, err)
            self.assert_stopped(json.loads(out), "Cancelled")

    def assert_stopped(self, summary, termination):
        self.assertEqual(summary["termination"], termination)
        self.assertNotIn("cv_p_value", summary)
        self.assertRegex(" ".join(summary["warnings"]), r"stopped after \d+ of 100000000 trials")

    def test_auto_says_what_it_chose(self):
        self.save_crossing()
        summary = self.succeed("icc", "P.npy", "--labels", "c.npy", "--auto", "--json").json()
        self.assertIn("chosen", summary)
        self.assertGreater(summary["cross_validated_accuracy"], 0.5)
        searched = self.succeed("icc", "P.npy", "--labels", "c.npy", "--auto", "--search-axes",
                                "--json").json()
        self.assertGreaterEqual(searched["cross_validated_accuracy"],
                                summary["cross_validated_accuracy"])

    def test_switches_of_the_classifier_have_their_own_commands(self):
        """Hidden from icc, where scripts may still have them; shown where they belong."""
        page = self.succeed("help", "icc").out
        for flag in ("--auto", "--groups", "--split", "--cv"):
            self.assertNotRegex(page, rf"(?m)^  {flag}\b")
            self.assertRegex(self.succeed("help", "icc", "compare").out, rf"(?m)^  {flag}\b")
        self.save_crossing()
        np.save(self.folder / "g.npy", np.arange(900) // 10)
        outcome = self.succeed("icc", "P.npy", "--labels", "c.npy", "--auto", "--groups", "g.npy",
                               "--json")
        self.assertIn("chosen", outcome.json())
        for flag in ("--auto", "--groups"):
            self.assertIn(f"{flag} is deprecated: use milieu icc compare", outcome.err)

    def test_projections_from_files(self):
        points, _ = self.save_crossing()
        plain = self.succeed("icc", "P.npy", "--labels", "c.npy", "--projection", "none", "--json")
        self.save("same.npy", points)
        self.save("axes.npy", np.eye(2))
        for flag, name in (("--coordinates", "same.npy"), ("--axes", "axes.npy")):
            given = self.succeed("icc", "P.npy", "--labels", "c.npy", flag, name, "--json")
            self.assertEqual(given.json()["sizes"], plain.json()["sizes"], flag)
        self.save("short.npy", points[:5])
        self.assertIn("short.npy has 5 rows, P.npy has 900: they must match",
                      self.fail_with(1, "icc", "P.npy", "--coordinates", "short.npy"))

    def test_preset_of_the_paper(self):
        self.save_crossing()
        self.succeed("icc", "P.npy", "--labels", "c.npy", "--preset", "paper", "--out", "run")
        options = json.loads((self.folder / "run/options.json").read_text())["options"]
        self.assertEqual((options["grid"], options["bandwidth"], options["climb"]),
                         ("600x200", "25c", "gradient"))

    def test_classes_may_be_words(self):
        self.save_crossing()
        self.write("words.txt", "\n".join(["wide"] * 600 + ["narrow"] * 300) + "\n")
        summary = self.succeed("icc", "P.npy", "--labels", "words.txt", "--bandwidth", "0.08",
                               "--json").json()
        self.assertEqual(summary["subclasses"][1], 2)  # narrow comes first

    def test_bad_values_are_refused(self):
        self.save_crossing()
        for arguments, code, words in (
                (["--grid", "2"], 2, "grid is '2'"),
                (["--grid", "100x1"], 2, "grid is '100x1'"),
                (["--bandwidth", "0"], 2, "bandwidth is '0', must be above 0"),
                (["--bandwidth", "wide"], 2, "bandwidth is 'wide'"),
                (["--dims", "4"], 2, "num_dims is 4"),
                (["--components", "1,9"], 2, "components is '1,9', but there are 2 axes"),
                (["--cv", "5"], 2, "give --labels"),
                (["--auto"], 2, "give --labels"),
                (["--projection", "lda"], 2, "lda, which needs two classes"),
                (["--labels", "c.npy", "--cv", "1"], 2, "cv is 1, must be at least 2"),
                (["--labels", "c.npy", "--split", "em", "--em-count", "x", "--cv", "3"], 2,
                 "em_count is 'x'")):
            self.assertIn(words, self.fail_with(code, "icc", "P.npy", *arguments))
        self.save("cube.npy", np.random.RandomState(0).rand(50, 3))
        message = self.fail_with(2, "icc", "cube.npy", "--dims", "3", "--grid", "2000")
        self.assertRegex(message, r"max_memory_gb is 4, a grid of 8000000000 cells .* takes about \d+ GB")

    def test_one_class_and_a_class_of_one_point(self):
        self.save_crossing()
        self.save("one.npy", np.zeros(900, dtype=int))
        self.assertEqual(len(self.succeed("icc", "P.npy", "--labels", "one.npy",
                                          "--json").json()["subclasses"]), 1)
        lonely = np.zeros(900, dtype=int)
        lonely[7] = 1
        self.save("lonely.npy", lonely)
        summary = self.succeed("icc", "P.npy", "--labels", "lonely.npy", "--json").json()
        self.assertEqual(summary["subclasses"][1], 1)
        self.assertTrue(any("class 1 has 1 sample" in w for w in summary["warnings"]))

    def test_constant_feature(self):
        points, _ = self.save_crossing()
        self.save("flat.npy", np.column_stack([points, np.ones(900)]))
        plain = self.succeed("icc", "P.npy", "--labels", "c.npy", "--json").json()
        flat = self.succeed("icc", "flat.npy", "--labels", "c.npy", "--json").json()
        self.assertEqual(flat["sizes"], plain["sizes"])


class ClassifyTest(CliTest):
    def setUp(self):
        super().setUp()
        for name, seed in (("train", 1), ("test", 2)):
            points, classes = crossing(seed=seed)
            self.save(f"{name}.npy", points)
            self.save(f"{name}_y.npy", classes + 3)

    def classify(self, *more):
        return self.succeed("icc", "classify", "train.npy", "test.npy", "--labels", "train_y.npy",
                            *more)

    def test_rows_without_a_label_are_not_errors(self):
        """TEST rows without a class count nowhere; classes that TRAIN lacks are always wrong."""
        points, classes = crossing(seed=2)
        full = self.classify("--test-labels", "test_y.npy", "--json").json()
        names = [str(c + 3) if i % 3 else "-1" for i, c in enumerate(classes)]
        predicted = self.classify("--print-classes").out.split()
        labelled = [(a, b) for a, b in zip(predicted, names) if b != "-1"]
        self.write("some.csv", "class\n" + "".join(f"{name}\n" for name in names))
        some = self.classify("--test-labels", "some.csv", "--json").json()
        self.assertEqual((full["test_labelled"], some["test_labelled"]), (len(names), len(labelled)))
        self.assertAlmostEqual(some["test_accuracy"],
                               sum(a == b for a, b in labelled) / len(labelled))
        self.write("other.csv", "class\n" + "99\n" * len(names))
        self.assertEqual(self.classify("--test-labels", "other.csv", "--json").json()["test_accuracy"],
                         0)

    def test_without_out_a_summary_is_printed_issue27(self):
        out = self.classify("--test-labels", "test_y.npy").out
        self.assertLess(len(out.splitlines()), 20)
        self.assertRegex(out, r"test accuracy: 0\.\d")
        self.assertIn("--print-classes", out)

    def test_classes_of_test_are_printed(self):
        outcome = self.classify("--bandwidth", "0.08", "--print-classes")
        predicted = np.array(outcome.out.split(), dtype=int)
        truth = np.load(self.folder / "test_y.npy")
        self.assertEqual(set(predicted), {3, 4})
        self.assertGreater((predicted == truth).mean(), 0.8)

    def test_folder_model_and_predict(self):
        outcome = self.classify("--test-labels", "test_y.npy", "--out", "run", "--bandwidth",
                                "0.08")
        self.assertIn("test accuracy", outcome.out)
        labels = self.labels("run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        truth = np.load(self.folder / "test_y.npy")
        self.assertAlmostEqual(summary["test_accuracy"], (labels == truth).mean())
        self.assertEqual(len(summary["subclasses"]), 2)
        again = self.succeed("predict", "run", "test.npy").out.split()
        np.testing.assert_array_equal(np.array(again, dtype=int) + 3, labels)
        self.assertEqual((self.folder / "run/classes.csv").read_text(), "class,name\n0,3\n1,4\n")

    def test_every_split_and_reduction(self):
        for split in ("icc", "em", "none"):
            for reduce in ("lda", "pca", "none"):
                summary = self.classify("--split", split, "--reduce", reduce, "--test-labels",
                                        "test_y.npy", "--json").json()
                self.assertGreater(summary["test_accuracy"], 0.6, (split, reduce))
        summary = self.classify("--split", "em", "--em-count", "icc", "--json").json()
        self.assertEqual(summary["method"], "icc_classifier")

    def test_auto_and_preset(self):
        chosen = self.classify("--auto", "--json").json()["chosen"]
        self.assertRegex(chosen, r"pca \d+")
        whole = self.classify("--split", "none", "--auto", "--json").json()
        self.assertIn("no split", whole["chosen"])
        self.classify("--preset", "paper", "--json")
        self.assertIn("preset is 'x'", self.fail_with(
            2, "icc", "classify", "train.npy", "test.npy", "--preset", "x"))

    def test_errors_name_the_thing(self):
        self.assertIn("give --labels", self.fail_with(2, "icc", "classify", "train.npy", "test.npy"))
        self.assertIn("TEST is missing", self.fail_with(2, "icc", "classify", "train.npy"))
        self.save("wide.npy", np.zeros((4, 5)))
        self.assertIn("5 columns", self.fail_with(2, "icc", "classify", "train.npy", "wide.npy",
                                                  "--labels", "train_y.npy"))
        outcome = self.run_milieu("icc", "classify", "--nonsense")
        self.assertIn("see `milieu help icc classify`", outcome.err)

    def test_an_existing_folder_is_kept_unless_forced(self):
        self.classify("--out", "run")
        self.assertIn("--force", self.fail_with(
            2, "icc", "classify", "train.npy", "test.npy", "--labels", "train_y.npy", "--out",
            "run"))
        self.classify("--out", "run", "--force")


class AdviseTest(CliTest):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        points = random.normal(size=(400, 5))
        points[:100, 0] += 9  # half of class 0
        points[200:, 1] += 6
        self.save("P.npy", points.astype(np.float32))
        self.write("c.csv", "class\n" + "union\n" * 200 + "one\n" * 150 + "few\n" * 20 + "-1\n" * 30)

    def advise(self, *more):
        return self.succeed("icc", "advise", "P.npy", "--labels", "c.csv", *more)

    def test_verdicts_with_evidence(self):
        summary = self.advise("--json").json()
        found = dict(zip(summary["classes"], zip(summary["verdicts"], summary["parts"],
                                                 summary["gap_p_values"])))
        self.assertEqual(found["union"][:2], ("split", 2))
        self.assertLess(found["union"][2], 0.01)
        self.assertEqual(found["one"][:2], ("keep", 1))
        self.assertEqual(found["few"][:2], ("too few samples", 1))
        self.assertEqual(summary["n"], 370)
        self.assertRegex(self.advise().out, r"union +200 +split +2 ")

    def test_folder_has_report_and_table(self):
        self.advise("--out", "run")
        report = (self.folder / "run/report.html").read_text()
        self.assertIn("<h1>Should a class be split?", report)
        self.assertRegex(report, r"\d of \d classes should be split: |No class should be split")
        self.assertLess(report.index("Verdicts"), report.index("Map of the samples"))
        self.assertNotIn("Objective", report)
        table = (self.folder / "run/advice.csv").read_text().splitlines()
        self.assertEqual(table[0].split(",")[:4], ["class", "samples", "verdict", "parts"])
        self.assertEqual(len(table), 4)
        labels = self.labels("run")
        self.assertEqual(len(labels), 370)
        options = json.loads((self.folder / "run/options.json").read_text())
        self.assertEqual((options["method"], options["options"]["level"]), ("icc advise", 0.05))

    def test_errors_name_the_thing(self):
        self.assertIn("INPUT is missing", self.fail_with(2, "icc", "advise"))
        self.assertIn("give --labels", self.fail_with(2, "icc", "advise", "P.npy"))
        self.assertIn("level", self.fail_with(
            2, "icc", "advise", "P.npy", "--labels", "c.csv", "--level", "0.9"))


class ClassifyImagesTest(FeatureCase):
    """TRAIN and TEST as every command reads its INPUT."""

    def setUp(self):
        super().setUp()
        make_folder(self.folder / "new", per_class=3, first=50)
        (self.folder / "loose").mkdir()  # no class folders
        for path in sorted((self.folder / "new").rglob("*.png")):
            shutil.copy(path, self.folder / "loose" / f"{path.parent.name}_{path.name}")
        self.truth = np.repeat(["blobs", "red", "stripes"], 3)

    def classify(self, *arguments):
        return self.succeed("icc", "classify", *arguments, "--grid", "50", "--min-size", "2")

    def test_image_folders(self):
        summary = self.classify("photos", "new", "--feature", "color", "--json").json()
        self.assertEqual((summary["n"], summary["test_n"], summary["test_labelled"]), (18, 9, 9))
        self.assertEqual(summary["test_accuracy"], 1)

    def test_test_images_without_classes(self):
        outcome = self.classify("photos", "loose", "--feature", "color", "--print-classes")
        np.testing.assert_array_equal(outcome.out.split(), self.truth)
        summary = self.classify("photos", "loose", "--feature", "color", "--json").json()
        self.assertNotIn("test_labelled", summary)

    def test_words_of_training_describe_test_and_later_images(self):
        feature = "dense-sift:words=8"
        self.classify("photos", "new", "--feature", feature, "--out", "run")
        self.assertTrue((self.folder / "run/dense-sift.codebook.npy").exists())
        labels = (self.folder / "run/labels.csv").read_text().splitlines()[1:]
        self.assertEqual([line.split(",")[0] for line in labels],
                         [f"{c}/{i:03}.png" for c in ("blobs", "red", "stripes") for i in range(50, 53)])
        again = self.succeed("predict", "run", "new").out.split()
        self.assertEqual(again, [line.split(",")[1] for line in labels])
        # Words that TEST learned by itself are others: refused, not compared.
        self.features(feature, source="photos", out="f")
        self.features(feature, source="new", out="g")
        self.assertIn("is not the dense-sift.codebook.npy of training",
                      self.fail_with(2, "icc", "classify", "f", "g"))
        same = self.classify("f", "new", "--json").json()
        self.assertEqual(same["test_accuracy"], json.loads(
            (self.folder / "run/summary.json").read_text())["test_accuracy"])

    def test_vectors_made_elsewhere(self):
        noise = np.random.RandomState(3)
        for name, count in (("v", 6), ("w", 3)):
            self.save(f"{name}.npy", (np.repeat(np.eye(3), count, axis=0)
                                      + noise.normal(size=(3 * count, 3)) / 10).astype(np.float32))
        summary = self.classify("photos", "new", "--vectors", "v.npy", "--test-vectors", "w.npy",
                                "--json").json()
        self.assertEqual((summary["d"], summary["test_accuracy"]), (3, 1))
        self.assertIn("give those of TEST with --test-vectors", self.fail_with(
            2, "icc", "classify", "photos", "new", "--vectors", "v.npy"))
        self.assertIn("--test-vectors is given without --vectors", self.fail_with(
            2, "icc", "classify", "photos", "new", "--feature", "color", "--test-vectors", "w.npy"))

    def test_unreadable_images_are_in_the_warnings(self):
        self.write("new/red/bad.png", "not an image")
        summary = self.classify("photos", "new", "--feature", "color", "--json").json()
        self.assertIn("1 of 10 images could not be read", " ".join(summary["warnings"]))

    def test_forms_that_do_not_fit_are_named(self):
        self.save("X.npy", np.eye(4))
        self.save("y.npy", np.array([0, 0, 1, 1]))
        self.assertIn("TEST is new, an image folder, but TRAIN is X.npy", self.fail_with(
            2, "icc", "classify", "X.npy", "new", "--labels", "y.npy"))
        self.assertIn("TRAIN has no classes", self.fail_with(
            2, "icc", "classify", "loose", "new", "--feature", "color"))


if __name__ == "__main__":
    unittest.main()
