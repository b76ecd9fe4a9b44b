# SPDX-License-Identifier: Apache-2.0
"""Images as INPUT of commands: classes, selections, the cache, predictions, reports."""

import base64
import io
import json
import re
import shutil
import unittest

import numpy as np
from PIL import Image

from feature_case import FeatureCase
from images import CLASSES, make_folder


class ImageInputTest(FeatureCase):

    def test_clustering_a_folder_knows_the_classes(self):
        summary = self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--json",
                               "--out", "run").json()
        self.assertEqual(summary["n"], 18)
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        lines = (self.folder / "run/labels.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines[1:]], self.paths)
        report = (self.folder / "run/report.html").read_text()
        self.assertIn("Images of each cluster", report)
        self.assertEqual(json.loads((self.folder / "run/options.json").read_text())["input"],
                         {"path": "photos", "feature": "color"})

    def test_folder_of_features_gives_the_same(self):
        self.features("color,tiny")
        direct = self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--json").json()
        stored = self.succeed("kmeans", "f", "--feature", "color", "-k", "3", "--json").json()
        for summary in (direct, stored):
            summary.pop("seconds")
        self.assertEqual(direct, stored)
        both = self.succeed("kmeans", "f", "--feature", "color,tiny", "-k", "3", "--json").json()
        self.assertEqual(both["d"], 128 + 256)
        self.assertIn("f has the features color, tiny: choose one with --feature",
                      self.fail_with(2, "kmeans", "f", "-k", "3"))
        self.assertIn("f has no feature 'dense-sift': it has color, tiny",
                      self.fail_with(2, "kmeans", "f", "-k", "3", "--feature", "dense-sift"))
        self.assertIn("f has tiny, not tiny:size=3",
                      self.fail_with(2, "kmeans", "f", "-k", "3", "--feature", "tiny:size=3"))

    def test_select_and_truth_work_on_folders(self):
        summary = self.succeed("kmeans", "photos", "--feature", "color", "-k", "2", "--select",
                               "red,blobs", "--json").json()
        self.assertEqual((summary["n"], summary["metrics"]["accuracy"]), (12, 1))
        self.write("truth.txt", "x\n" * 18)
        summary = self.succeed("kmeans", "photos", "--feature", "color", "-k", "2", "--select", "red",
                               "--truth", "truth.txt", "--json").json()
        self.assertEqual(summary["metrics"]["num_classes"], 1)

    def test_folder_without_a_feature_gets_the_default_and_says_so(self):
        """issue 24: dcp, icc, exemplar and the baselines refused what explore took."""
        done = self.succeed("kmeans", "photos", "-k", "3", "--out", "by_default")
        self.assertIn("3 classes, described by gist", done.out)
        self.succeed("kmeans", "photos", "-k", "3", "--feature", "gist", "--out", "by_gist", "--quiet")
        self.assertEqual(list(self.labels("by_default")), list(self.labels("by_gist")))
        for command in (["dcp", "photos", "--select", "red", "--context-select", "blobs"],
                        ["icc", "photos"], ["exemplar", "photos"], ["ncut", "photos", "-k", "2"],
                        ["bags", "photos", "-k", "2"]):
            self.succeed(*command, "--quiet")

    def test_tables_of_a_run_name_the_images_alike_issue24(self):
        """decisions.csv had row numbers under the heading where labels.csv had names."""
        self.succeed("dcp", "photos", "--select", "red", "--context-select", "blobs", "--out", "split", "--quiet")
        first = [[line.split(",")[0] for line in (self.folder / "split" / name).read_text().splitlines()]
                 for name in ("labels.csv", "decisions.csv")]
        self.assertEqual(first[0], first[1])
        self.assertTrue(first[0][1].startswith("red/"), first[0])

    def test_report_of_dcp_has_its_context_issue24(self):
        """It said "everything, dcp" and nothing of the context."""
        self.succeed("dcp", "photos", "--select", "red", "--context-select", "blobs", "--out", "split", "--quiet")
        data, run = self.report_data("split")
        self.assertEqual((run["request"]["set"], run["request"]["context"]),
                         ({"classes": ["red"]}, {"classes": ["blobs"]}))
        rows = np.frombuffer(base64.b64decode(data["columns"][run["id"]]["context_rows"]), "<i4")
        self.assertTrue(rows.size and all(data["names"][row].startswith("blobs/") for row in rows))
        self.succeed("dcp", "photos", "--select", "red", "--rank-contexts", "--out", "ranked", "--quiet")
        contexts = self.report_data("ranked")[1]["extras"]["contexts"]
        self.assertEqual({one["name"] for one in contexts}, {"blobs", "stripes", "all contexts"})

    def test_another_folder_is_a_context_issue24(self):
        make_folder(self.folder / "others", classes=["stripes"])
        self.succeed("dcp", "photos", "--select", "red,blobs", "--context", "others", "--out", "split", "--quiet")
        data, run = self.report_data("split")
        self.assertEqual(run["n"], 12)
        self.assertEqual(len(base64.b64decode(data["columns"][run["id"]]["context_rows"])), 4 * 6)

    def test_predict_doubts_numbers_for_a_model_of_images(self):
        """issue 24: a gist model took any array of its width without a word."""
        self.succeed("kmeans", "photos", "-k", "2", "--feature", "gist", "--out", "run", "--quiet")
        self.save("any.npy", np.random.RandomState(0).normal(size=(4, 512)).astype(np.float32))
        done = self.succeed("predict", "run", "any.npy")
        self.assertIn("run was trained on images described by gist", done.err)
        self.assertNotIn("was trained on", self.succeed("predict", "run", "photos").err)

    def test_feature_without_images_is_refused(self):
        self.save("X.npy", np.zeros((3, 2), np.float32))
        self.assertIn("X.npy is not an image folder",
                      self.fail_with(2, "kmeans", "X.npy", "-k", "2", "--feature", "tiny"))
        self.assertIn("max_side is -3",
                      self.fail_with(2, "kmeans", "photos", "-k", "2", "--feature", "tiny",
                                     "--max-side", "-3"))

    def test_commands_share_the_cache(self):
        arguments = ("kmeans", "photos", "--feature", "dense-sift:words=7", "-k", "3", "--quiet")
        processes = [self.start(*arguments, env=self.env) for _ in range(3)]
        for process in processes:
            _, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, err), (0, ""))

    def test_skipped_images_are_in_the_warnings(self):
        self.write("photos/red/bad.png", "not an image")
        outcome = self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--json")
        self.assertIn("1 of 19 images could not be read", outcome.json()["warnings"][0])
        self.assertIn("skipped red/bad.png", outcome.err)

    def test_methods_of_counts_count_the_words(self):
        for command in ("bags", "multinomials"):
            summary = self.succeed(command, "photos", "--feature", "dense-sift:words=8", "-k", "3", "--out", command,
                                   "--json").json()
            self.assertEqual(summary["warnings"], [])
            options = json.loads((self.folder / command / "options.json").read_text())
            self.assertEqual(options["input"]["feature"], "dense-sift:num_words=8:norm=none")
            lines = self.succeed("predict", command, "photos").out.split()
            np.testing.assert_array_equal(np.array(lines, int), self.labels(command))
            shares = self.succeed(command, "photos", "--feature", "dense-sift:words=8:norm=l1", "-k", "3", "--json")
            self.assertIn("norm=none", " ".join(shares.json()["warnings"]))

    def test_new_images_are_predicted_as_in_training(self):
        self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--out", "run")
        make_folder(self.folder / "new", per_class=2)
        out = self.succeed("predict", "run", "new", "--json").json()
        self.assertEqual((out["n"], out["metrics"]["accuracy"]), (6, 1))

    def test_prediction_uses_the_words_of_training(self):
        spec = "dense-sift:words=6:weight=tf-idf:norm=l2"
        self.succeed("kmeans", "photos", "--feature", spec, "-k", "3", "--out", "run")
        names = sorted(p.name for p in (self.folder / "run").glob("dense-sift*"))
        self.assertEqual(names, ["dense-sift.codebook.npy", "dense-sift.idf.npy"])
        again = self.succeed("predict", "run", "photos", "--out", "again.csv")
        self.assertIn("18 labels", again.out)
        self.assertEqual((self.folder / "again.csv").read_text(),
                         (self.folder / "run/labels.csv").read_text())
        make_folder(self.folder / "new", per_class=2, classes=CLASSES[2:])
        subset = self.succeed("predict", "run", "new").out.split()
        labels = dict(line.split(",") for line in
                      (self.folder / "run/labels.csv").read_text().splitlines())
        self.assertEqual(subset, [labels["stripes/000.png"], labels["stripes/001.png"]])

    def test_models_carry_the_words_of_training(self):
        self.succeed("kmeans", "photos", "--feature", "dense-sift:words=6", "-k", "3", "--out", "run")
        (self.folder / "run/dense-sift.codebook.npy").rename(self.folder / "words.npy")
        self.succeed("predict", "run", "photos", "--out", "alone.csv")
        self.assertEqual((self.folder / "alone.csv").read_text(),
                         (self.folder / "run/labels.csv").read_text())
        self.succeed("predict", "run", "photos", "--codebook", "words.npy", "--out", "p.csv")
        self.assertEqual((self.folder / "p.csv").read_text(),
                         (self.folder / "run/labels.csv").read_text())
        self.features("dense-sift:words=6:seed=9", out="other")
        (self.folder / "words.npy").rename(self.folder / "run/dense-sift.codebook.npy")
        self.assertIn("is not the dense-sift.codebook.npy of training",
                      self.fail_with(2, "predict", "run", "other", "--feature", "dense-sift"))
        shutil.copy(self.folder / "run/model.safetensors", self.folder / "bare.safetensors")
        self.succeed("predict", "bare.safetensors", "photos", "--out", "bare.csv")
        self.assertEqual((self.folder / "bare.csv").read_text(),
                         (self.folder / "run/labels.csv").read_text())

    def test_report_shows_the_middle_of_long_images_and_skips_unreadable_ones(self):
        (self.folder / "long").mkdir()
        for name, shape in (("wide", (40, 120, 3)), ("tall", (120, 40, 3))):
            Image.fromarray(np.full(shape, 200, np.uint8)).save(self.folder / f"long/{name}.png")
        (self.folder / "long/z.png").symlink_to(self.folder / "photos" / self.paths[0])
        self.succeed("kmeans", "long", "--feature", "tiny", "-k", "2", "--out", "run")
        page = (self.folder / "run/report.html").read_text()
        thumbs = json.loads(re.search(r'"thumbs":(\{.*?\})', page).group(1))
        self.assertEqual(thumbs["rows_shown"], [0, 1])
        sheet = Image.open(io.BytesIO(base64.b64decode(thumbs["sheet"].split(",")[1])))
        self.assertEqual((sheet.size, thumbs["side"]), ((80, 40), 40))
        self.assertGreater(np.asarray(sheet).min(), 190)


if __name__ == "__main__":
    unittest.main()
