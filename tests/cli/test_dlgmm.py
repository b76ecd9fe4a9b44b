# SPDX-License-Identifier: Apache-2.0
"""milieu dlgmm: patches with offsets, bands, coherence, checkpoints after kill -9, bad input."""

import json
import os
import re
import resource
import signal
import time
import unittest

import numpy as np

from images import make_folder
from support import METRIC_KEYS, SUMMARY_KEYS, CliTest, environment


def draw_images(num_images=60, side=5, seed=1):
    """Three clusters of images that use six well separated words differently."""
    random = np.random.RandomState(seed)
    frequencies = np.array([[.45, .45, .04, .02, .02, .02], [.02, .02, .45, .45, .04, .02],
                            [.02, .04, .02, .02, .45, .45]])
    words = random.randn(6, 4) * 5
    labels = np.arange(num_images) % 3
    drawn = np.concatenate([random.choice(6, side * side, p=frequencies[c]) for c in labels])
    patches = (words[drawn] + random.randn(len(drawn), 4)).astype(np.float32)
    offsets = np.arange(num_images + 1) * side * side
    return patches, offsets.astype(np.int64), labels, np.full((num_images, 2), side, np.int32)


class EndlessTest(CliTest):
    """Starts fits that end only when something happens to them."""

    def start_endless(self, *arguments):
        """A running fit that has made a pass."""
        state = self.folder / f"state{time.monotonic_ns()}"
        process = self.start("dlgmm", *arguments, "--rel-tolerance", "0", "--checkpoint", state.name,
                             "--max-iterations", "1000000", env=getattr(self, "env", None))
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 250
        while not state.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        return process

    def error_of(self, process):
        _, err = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 1)
        return str(err)


class DlgmmTest(EndlessTest):
    arguments = ["P.npy", "--offsets", "offsets.npy", "--words", "6", "--clusters", "3"]

    def setUp(self):
        super().setUp()
        self.patches, self.offsets, self.labels_true, self.grid = draw_images()
        self.save("P.npy", self.patches)
        self.save("offsets.npy", self.offsets)
        self.save("y.npy", self.labels_true.astype(np.int64))
        self.save("grid.npy", self.grid)

    def test_clusters_of_images_are_found(self):
        summary = self.succeed("dlgmm", *self.arguments, "--truth", "y.npy", "--json").json()
        self.assertLessEqual(set(SUMMARY_KEYS), set(summary))
        self.assertLessEqual(set(METRIC_KEYS), set(summary["metrics"]))
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        self.assertEqual([summary["n"], summary["d"], summary["clusters"]], [60, 4, 3])
        self.assertEqual(len(summary["bound_terms"]), 8)
        self.assertAlmostEqual(sum(summary["bound_terms"]) / summary["objective"], 1, 9)
        self.assertGreaterEqual(np.diff(summary["trace"]).min(),
                                -1e-9 * abs(summary["objective"]))

    def test_run_folder_has_one_label_an_image(self):
        self.succeed("dlgmm", *self.arguments, "--grid", "grid.npy", "--bands", "2", "--gamma", "0.2",
                     "--out", "run")
        lines = (self.folder / "run/labels.csv").read_text().splitlines()
        self.assertEqual(len(lines), 61)
        bound = np.genfromtxt(self.folder / "run/bound.csv", delimiter=",", names=True)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        np.testing.assert_array_equal(bound["bound"], summary["trace"])
        np.testing.assert_allclose(sum(bound[f"T{i}"] for i in range(1, 9)), bound["bound"], 1e-9)
        options = json.loads((self.folder / "run/options.json").read_text())
        self.assertIn("0.2", json.dumps(options))
        self.succeed("dlgmm", "--options", "run", "--out", "again")
        for name in ("labels.csv", "model.safetensors"):
            self.assertEqual((self.folder / "run" / name).read_bytes(),
                             (self.folder / "again" / name).read_bytes())

    def test_selected_classes_are_selected_images(self):
        summary = self.succeed("dlgmm", "P.npy", "--offsets", "offsets.npy", "--words", "6",
                               "--clusters", "2", "--labels", "y.npy", "--select", "0,2",
                               "--json").json()
        self.assertEqual(summary["n"], 40)
        self.assertEqual(summary["metrics"]["accuracy"], 1)

    def test_starts_from_outside_stay_where_they_are_fixed_issue30(self):
        arguments = ["P.npy", "--offsets", "offsets.npy", "--clusters", "3"]
        words = np.random.RandomState(7).randn(4, 4).astype(np.float32)
        self.save("words.npy", words)
        summary = self.succeed("dlgmm", *arguments, "--codebook", "words.npy", "--fix", "codebook",
                               "--out", "words", "--json").json()
        self.assertEqual(summary["words"], 4)
        self.succeed("dlgmm", "--options", "words", "--out", "again")
        for name in ("labels.csv", "model.safetensors"):
            self.assertEqual((self.folder / "words" / name).read_bytes(),
                             (self.folder / "again" / name).read_bytes())
        for turn in (1, 2):  # clusters keep the numbers that they start with
            turned = (self.labels_true + turn) % 3
            self.save("turned.npy", turned)
            self.succeed("dlgmm", *arguments, "--initial-labels", "turned.npy", "--fix", "clusters",
                         "--words", "6", "--out", f"turned{turn}")
            np.testing.assert_array_equal(self.labels(f"turned{turn}"), turned)
        self.succeed("dlgmm", *arguments, "--initial-labels", "turned2/labels.csv", "--words", "6",
                     "--labels", "y.npy", "--select", "0,1", "--out", "some")
        np.testing.assert_array_equal(self.labels("some"), turned[self.labels_true < 2])
        self.save("five.npy", np.full(60, 5))
        self.assertIn("initial_labels holds 5, must be between 0 and 2", self.fail_with(
            2, "dlgmm", *arguments, "--words", "6", "--initial-labels", "five.npy"))
        self.assertIn("words.npy has words of 4 numbers, the patches of Q.npy have 3", self.fail_with(
            1, "dlgmm", self.save("Q.npy", self.patches[:, :3]), *arguments[1:], "--codebook", "words.npy"))

    def test_preset_of_the_paper(self):
        self.succeed("dlgmm", *self.arguments, "--preset", "paper", "--out", "run")
        options = (self.folder / "run/options.json").read_text()
        self.assertIn('"mean-field"', options)
        self.assertIn('"lda"', options)

    def test_killed_run_resumes_with_the_same_bits(self):
        # Killed at any moment after the first checkpoint; how fast the machine is does not matter.
        common = [*self.arguments, "--rel-tolerance", "0", "--checkpoint", "state"]
        process = self.start("dlgmm", *common, "--max-iterations", "1000000")
        state = self.folder / "state"
        deadline = time.monotonic() + 250
        while not state.exists() and time.monotonic() < deadline:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        content = state.read_bytes()
        header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
        passes = int(json.loads(header["__metadata__"]["scalars"])["iteration"]) + 3
        limit = ["--max-iterations", str(passes)]
        resumed = self.succeed("dlgmm", *common, *limit, "--out", "resumed", "--json").json()
        self.assertFalse(state.exists())
        whole = self.succeed("dlgmm", *self.arguments, "--rel-tolerance", "0", *limit, "--out",
                             "whole", "--json").json()
        self.assertEqual(resumed["trace"], whole["trace"])
        self.assertEqual((self.folder / "resumed/labels.csv").read_bytes(),
                         (self.folder / "whole/labels.csv").read_bytes())

    def test_patches_that_change_under_a_run_end_it(self):
        for change in ("P.npy", "offsets.npy"):
            process = self.start_endless(*self.arguments)
            content = np.load(self.folder / change)
            self.save("next.npy", content[::-1].copy())
            (self.folder / "next.npy").replace(self.folder / change)
            self.assertIn("P.npy changed while it was in use", self.error_of(process))
            self.save(change, content)

    def test_patches_that_are_cut_off_under_a_run_end_it(self):
        process = self.start_endless(*self.arguments)
        os.truncate(self.folder / "P.npy", 1000)
        self.assertRegex(self.error_of(process), "milieu: (an input file was truncated|P.npy changed)")

    def test_checkpoint_stays_until_the_result_is_written(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        flags = [*self.arguments, "--checkpoint", "state", "--out", "run"]
        self.assertIn("cannot be written", self.fail_with(1, "dlgmm", *flags, prepare=small_files))
        self.assertFalse((self.folder / "run").exists())
        self.assertTrue((self.folder / "state").exists())
        self.succeed("dlgmm", *flags)
        self.assertFalse((self.folder / "state").exists())

    def test_checkpoint_that_cannot_be_written_does_not_end_the_run_issue20(self):
        outcome = self.run_milieu("dlgmm", *self.arguments, "--checkpoint", "missing/state",
                                  "--max-iterations", "3", "--out", "run")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("the run continues and tries again later", outcome.err)
        self.assertTrue((self.folder / "run/labels.csv").exists())

    def test_state_of_another_run_is_refused(self):
        process = self.start("dlgmm", *self.arguments, "--rel-tolerance", "0", "--checkpoint",
                             "state", "--max-iterations", "1000000")
        deadline = time.monotonic() + 250
        while not (self.folder / "state").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        message = self.fail_with(1, "dlgmm", *self.arguments, "--seed", "5", "--checkpoint",
                                 "state")
        self.assertIn("the state to resume belongs to another run", message)

    def test_number_of_clusters_gamma_and_batches(self):
        arguments = ["P.npy", "--offsets", "offsets.npy", "--grid", "grid.npy", "--words", "6",
                     "--truth", "y.npy", "--json"]
        summary = self.succeed("dlgmm", *arguments, "--clusters", "auto").json()
        self.assertEqual(summary["clusters"], 3)
        self.assertEqual(len(summary["clusters_tried"]), len(summary["penalised_bounds"]))
        best = int(np.argmax(summary["penalised_bounds"]))
        self.assertEqual(summary["clusters_tried"][best], 3)
        summary = self.succeed("dlgmm", *arguments, "--clusters", "3", "--gamma", "learn").json()
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        self.assertLess(summary["gamma"], 0.2)  # words are drawn independently of their neighbours
        summary = self.succeed("dlgmm", *arguments, "--clusters", "3", "--batch-images", "20",
                               "--max-iterations", "1").json()
        self.assertEqual(summary["metrics"]["accuracy"], 1)

    def test_bad_input_is_named(self):
        def refused(code, *arguments):
            return self.fail_with(code, "dlgmm", *arguments)

        self.assertIn("give --offsets FILE with the row where each image begins",
                      refused(2, "P.npy", "--words", "6", "--clusters", "3"))
        self.save("short.npy", self.offsets[:-1])
        self.assertIn("short.npy ends with 1475, there are 1500 patches: they must match",
                      refused(1, "P.npy", "--offsets", "short.npy"))
        self.assertIn("gamma is 1, but the patches have no grid",
                      refused(2, *self.arguments, "--gamma", "1"))
        self.assertIn("num_bands is 3, but the positions of the patches are unknown",
                      refused(2, *self.arguments, "--bands", "3"))
        self.assertIn("gamma is -2, must be",
                      refused(2, *self.arguments, "--gamma", "-2"))
        self.assertIn("gamma is '-1', must be between 0 and 1000 or learn",
                      refused(2, *self.arguments, "--grid", "grid.npy", "--gamma", "-1"))
        self.assertIn("nowhere.npy does not exist", refused(1, "nowhere.npy"))
        self.assertIn("feature is gist, but P.npy is not an image folder",
                      refused(2, *self.arguments, "--feature", "gist"))
        self.assertIn("num_clusters is 61, there are only 60 images",
                      refused(2, "P.npy", "--offsets", "offsets.npy", "--clusters", "61"))
        self.save("wide.npy", np.full((60, 2), 4, np.int32))
        self.assertIn("grid of image 0 is 4 x 4, but it has 25 patches",
                      refused(1, *self.arguments, "--grid", "wide.npy"))
        self.save("half.npy", np.full((60, 2), 4.5))
        self.assertIn("half.npy: row 0, column 0 (counted from 0) is 4.5, must be a whole number",
                      refused(1, *self.arguments, "--grid", "half.npy"))
        self.save("falls.npy", np.array([0, 50, 25, 1500]))
        self.assertIn("falls.npy decreases from 50 to 25 at entry 2 (counted from 0), must never decrease",
                      refused(1, "P.npy", "--offsets", "falls.npy"))
        self.save("y59.npy", self.labels_true[:-1].astype(np.int64))
        self.assertIn("y59.npy has 59 rows, there are 60 images: they must match",
                      refused(1, *self.arguments, "--labels", "y59.npy"))

    def test_soft_results_and_counts_issue30(self):
        """counts.npy is always there, the rest with --probabilities; they fit together."""
        flags = ["P.npy", "--offsets", "offsets.npy", "--grid", "grid.npy", "--words", "6", "--clusters", "3",
                 "--bands", "2"]
        self.succeed("dlgmm", *flags, "--out", "plain")
        load = lambda name, run="run": np.load(self.folder / run / name)
        self.assertFalse((self.folder / "plain/theta.npy").exists())
        self.succeed("dlgmm", *flags, "--probabilities", "--out", "run")
        np.testing.assert_array_equal(load("counts.npy"), load("counts.npy", "plain"))
        shares, phi = load("probabilities.npy"), load("word_shares.npy")
        np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
        np.testing.assert_array_equal(shares.argmax(1), self.labels("run"))
        self.assertEqual((load("theta.npy").shape, phi.shape), ((60, 12), (1500, 6)))
        np.testing.assert_allclose(phi.sum(1), 1, rtol=1e-4)
        counts = load("counts.npy").reshape(60, 2, 6)
        np.testing.assert_allclose(counts.sum(1), phi.reshape(60, 25, 6).sum(1), atol=1e-2)
        # bags takes the counts as they are.
        self.succeed("bags", "run/counts.npy", "-k", "3", "--json")

    def test_word_correlations_issue30(self):
        flags = ["P.npy", "--offsets", "offsets.npy", "--words", "6", "--clusters", "3"]
        self.succeed("dlgmm", *flags, "--out", "diagonal")
        self.assertFalse((self.folder / "diagonal/word_correlations.csv").exists())
        for covariance, names in (("tied", {"all"}), ("full", {"0", "1", "2"})):
            self.succeed("dlgmm", *flags, "--covariance", covariance, "--out", covariance)
            lines = (self.folder / covariance / "word_correlations.csv").read_text().splitlines()
            self.assertEqual(lines[0], "cluster,band,word,other_word,correlation")
            rows = [line.split(",") for line in lines[1:]]
            self.assertEqual({row[0] for row in rows}, names)
            self.assertEqual(len(rows), 15 * len(names))
            strength = [abs(float(row[4])) for row in rows]
            self.assertEqual(strength, sorted(strength, reverse=True))
            self.assertLessEqual(strength[0], 1)
            picture = (self.folder / covariance / "word_correlations.png").read_bytes()
            self.assertEqual(picture[:4], b"\x89PNG")
            self.assertIn("word_correlations.png", (self.folder / covariance / "report.html").read_text())

    def test_new_images_get_cluster_probabilities_and_words(self):
        flags = ["--offsets", "offsets.npy", "--grid", "grid.npy"]
        self.succeed("dlgmm", "P.npy", *flags, "--words", "6", "--clusters", "3", "--bands", "2",
                     "--gamma", "0.2", "--out", "run")
        text = self.succeed("predict", "run", "P.npy", *flags, "--out", "again.csv",
                            "--probabilities", "p.npy", "--word-map", "w.npy").out
        self.assertIn("wrote p.npy: probabilities of 3 clusters", text)
        self.assertEqual((self.folder / "again.csv").read_bytes(),
                         (self.folder / "run/labels.csv").read_bytes())
        shares = np.load(self.folder / "p.npy")
        np.testing.assert_allclose(shares.sum(1), 1)
        np.testing.assert_array_equal(shares.argmax(1), self.labels("run"))
        words = np.load(self.folder / "w.npy")
        self.assertEqual(words.shape, (1500,))
        # Well separated words: patches of one word are near each other.
        for word in np.unique(words):
            self.assertLess(self.patches[words == word].std(0).max(), 2)
        # Other images, without the first 30.
        self.save("P2.npy", self.patches[750:])
        self.save("o2.npy", self.offsets[30:] - 750)
        self.save("g2.npy", self.grid[30:])
        new = self.succeed("predict", "run", "P2.npy", "--offsets", "o2.npy", "--grid",
                           "g2.npy").out.split()
        np.testing.assert_array_equal(np.array(new, int), self.labels("run")[30:])

    def test_prediction_names_what_is_wrong(self):
        self.succeed("dlgmm", *self.arguments, "--grid", "grid.npy", "--bands", "2", "--out", "run")

        def refused(code, *arguments):
            return self.fail_with(code, "predict", "run", *arguments)

        self.assertIn("give --offsets FILE", refused(2, "P.npy"))
        self.assertIn("num_bands is 2, but the positions of the patches are unknown",
                      refused(2, "P.npy", "--offsets", "offsets.npy"))
        self.save("thin.npy", self.patches[:, :3])
        self.assertIn("patches have 3 columns, the model was fitted on 4",
                      refused(2, "thin.npy", "--offsets", "offsets.npy", "--grid", "grid.npy"))
        self.assertIn("--word-map is words.csv, must end in .npy or .png",
                      refused(2, "P.npy", "--word-map", "words.csv"))
        self.assertIn("has no images with a grid of patches to draw on",
                      refused(2, "P.npy", "--offsets", "offsets.npy", "--grid", "grid.npy",
                              "--word-map", "words.png"))
        self.succeed("kmeans", "P.npy", "-k", "2", "--out", "other", "--quiet")
        self.assertIn("are for models of images",
                      self.fail_with(2, "predict", "other", "P.npy", "--offsets", "offsets.npy"))


class PicturesTest(EndlessTest):
    def setUp(self):
        super().setUp()
        make_folder(self.folder / "photos", per_class=5, size=64)
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"))
        self.succeed("dlgmm", "photos", "--words", "8", "--clusters", "3", "--pca", "16", "--out",
                     "run")

    def run_milieu(self, *arguments, **more):
        return super().run_milieu(*arguments, **{"env": self.env, **more})

    def model_array(self, name, run="run"):
        content = (self.folder / run / "model.safetensors").read_bytes()
        size = int.from_bytes(content[:8], "little")
        entry = json.loads(content[8:8 + size])[name]
        begin, end = entry["data_offsets"]
        return np.frombuffer(content[8 + size + begin:8 + size + end],
                             {"F32": np.float32, "F64": np.float64}[entry["dtype"]]).reshape(entry["shape"])

    def test_new_images_are_described_as_in_training(self):
        self.assertEqual(self.model_array("projection").shape, (17, 128))
        text = self.succeed("predict", "run", "photos", "--out", "again.csv", "--word-map",
                            "maps.png").out
        self.assertIn("accuracy", text)
        self.assertEqual((self.folder / "again.csv").read_bytes(),
                         (self.folder / "run/labels.csv").read_bytes())
        self.assertEqual((self.folder / "maps.png").read_bytes()[:4], b"\x89PNG")
        make_folder(self.folder / "new", per_class=2, size=64)
        self.assertEqual(len(self.succeed("predict", "run", "new").out.split()),
                         len(list((self.folder / "new").rglob("*.png"))))

    def test_features_that_change_under_a_run_end_it(self):
        self.succeed("features", "photos", "--feature", "dense-sift", "--patches", "--out", "f")
        kept = [path for path in (self.folder / "cache").glob("pca-*.npy")
                if "projection" not in path.name]
        for source, flags, path in (("photos", ["--pca", "16"], kept[0]),
                                    ("f", ["--pca", "0"], self.folder / "f/dense-sift.descriptors.npy")):
            process = self.start_endless(source, "--words", "8", "--clusters", "3", *flags)
            with open(path, "r+b") as file:
                file.seek(4000)
                file.write(bytes(400))
            self.assertIn(f"{source} changed while it was in use", self.error_of(process))

    def test_new_images_get_the_feature_of_training(self):
        for i, flags in enumerate((["--feature", "dense-sift:root=true"], ["--max-side", "48"],
                                   ["--feature", "sparse-sift"])):
            run, features = f"run{i}", f"f{i}"
            feature = flags if "--feature" in flags else ["--feature", "dense-sift", *flags]
            self.succeed("features", "photos", *feature, "--patches", "--out", features)
            self.succeed("dlgmm", features, "--words", "6", "--clusters", "3", "--out", run)
            self.succeed("predict", run, "photos", "--out", "again.csv")
            self.assertEqual((self.folder / "again.csv").read_bytes(),
                             (self.folder / run / "labels.csv").read_bytes(), flags)
        self.assertIn("f0 has patches of dense-sift:root=true, not of dense-sift",
                      self.fail_with(2, "predict", "run", "f0"))
        self.assertIn("max_side is 48, but f0 was made with 1024",
                      self.fail_with(2, "predict", "run1", "f0"))

    def test_runs_on_the_same_new_images_wait_for_one_cache_issue29(self):
        make_folder(self.folder / "more", per_class=40, size=160)
        runs = [self.start("dlgmm", "more", "--words", "8", "--clusters", "3", "--max-iterations",
                           "2", "--json", env=self.env) for _ in range(3)]
        texts = []
        for run in runs:
            out, err = run.communicate(timeout=300)
            self.assertEqual(run.returncode, 0, err)
            texts.append(json.loads(out)["objective"])
        self.assertEqual(len(set(texts)), 1)

    def test_image_flags_are_used_or_refused(self):
        flags = ["photos", "--words", "8", "--clusters", "3", "--pca", "16"]
        for more in (["--max-side", "48"], ["--feature", "dense-sift:step=12"]):
            self.succeed("dlgmm", *flags, *more, "--out", "other", "--force")
            self.assertNotEqual((self.folder / "other/model.safetensors").read_bytes(),
                                (self.folder / "run/model.safetensors").read_bytes(), more)
        self.assertIn("feature is 'gist', must be one local feature",
                      self.fail_with(2, "dlgmm", *flags, "--feature", "gist"))

    def test_unreadable_images_are_reported(self):
        (self.folder / "photos/red/bad.png").write_bytes(b"not an image")
        summary = self.succeed("dlgmm", "photos", "--words", "8", "--clusters", "3", "--json").json()
        self.assertIn("1 of 16 images could not be read", " ".join(summary["warnings"]))

    def test_images_that_vanish_give_a_warning(self):
        self.succeed("features", "photos", "--feature", "dense-sift", "--patches", "--out", "f")
        for path in (self.folder / "photos").rglob("*.png"):
            if path.name != "000.png":  # the first one shows where the images are
                path.unlink()
        summary = self.succeed("dlgmm", "f", "--words", "8", "--clusters", "3", "--out", "lost", "--json").json()
        self.assertIn("words and clusters could not be drawn", " ".join(summary["warnings"]))
        self.assertTrue((self.folder / "lost/labels.csv").exists())

    def test_report_shows_the_images_of_the_clusters(self):
        page = (self.folder / "run" / "report.html").read_text()
        data = json.loads(re.search(r'"thumbs":(\{.*?\})', page).group(1))
        self.assertEqual(len(data["rows_shown"]), len(list((self.folder / "photos").rglob("*.png"))))

    def test_copied_model_labels_images_by_itself(self):
        (self.folder / "alone").mkdir()
        (self.folder / "run/model.safetensors").rename(self.folder / "alone/model.safetensors")
        self.succeed("predict", "alone/model.safetensors", "photos", "--out", "alone.csv")
        self.assertEqual((self.folder / "alone.csv").read_bytes(),
                         (self.folder / "run/labels.csv").read_bytes())

    def test_model_holds_what_describes_whole_images_issue29(self):
        self.assertEqual(self.model_array("image_projection").shape[1], 512)  # gist
        make_folder(self.folder / "new", per_class=3, size=64, first=50)
        labels = self.succeed("predict", "run/model.safetensors", "new", "--quiet").out
        (self.folder / "alone").mkdir()
        (self.folder / "run/model.safetensors").rename(self.folder / "alone/model.safetensors")
        self.assertEqual(self.succeed("predict", "alone/model.safetensors", "new", "--quiet").out, labels)
        self.succeed("dlgmm", "photos", "--words", "8", "--clusters", "3", "--image-feature", "none", "--out", "plain")
        with self.assertRaises(KeyError):
            self.model_array("image_projection", "plain")

    def test_preset_sets_the_grid_of_a_given_feature_issue19(self):
        for feature, step in [("dense-sift", 16), ("dense-sift:step=12", 12)]:
            self.succeed("dlgmm", "photos", "--words", "8", "--clusters", "3", "--preset", "paper",
                         "--feature", feature, "--out", f"paper{step}")
            options = json.loads((self.folder / f"paper{step}/options.json").read_text())
            self.assertEqual(options["input"]["feature"], f"dense-sift:step={step}")

    def test_step_belongs_to_the_feature(self):
        old = self.run_milieu("dlgmm", "photos", "--words", "8", "--clusters", "3", "--pca", "16",
                              "--step", "12", "--out", "old")
        self.assertIn("--step is deprecated: use --feature dense-sift:step=N", old.err)
        self.succeed("dlgmm", "photos", "--words", "8", "--clusters", "3", "--pca", "16",
                     "--feature", "dense-sift:step=12", "--out", "new")
        self.assertEqual((self.folder / "old/labels.csv").read_bytes(),
                         (self.folder / "new/labels.csv").read_bytes())
        self.assertIn("step is 12, but feature is dense-sift:step=4",
                      self.fail_with(2, "dlgmm", "photos", "--step", "12", "--feature",
                                     "dense-sift:step=4"))

    def test_codebook_of_another_run_is_projected_issue30(self):
        """Words of a run on 128 numbers start a run on 16 components, and stay with --fix codebook."""
        self.succeed("dlgmm", "photos", "--words", "5", "--clusters", "3", "--pca", "0", "--out", "whole")
        self.succeed("dlgmm", "photos", "--clusters", "3", "--pca", "16", "--codebook", "whole",
                     "--fix", "codebook", "--out", "fixed")
        words = self.model_array("words", "whole").astype(float)
        projection = self.model_array("projection", "fixed").astype(float)
        np.testing.assert_allclose(self.model_array("words", "fixed"),
                                   (words - projection[0]) @ projection[1:].T, rtol=1e-3, atol=1e-2)
        self.save("narrow.npy", np.zeros((4, 7), np.float32))
        self.assertIn("narrow.npy has words of 7 numbers, the patches of photos have 16", self.fail_with(
            1, "dlgmm", "photos", "--pca", "16", "--clusters", "3", "--codebook", "narrow.npy"))

    def test_learned_words_are_a_codebook_of_features(self):
        self.succeed("features", "photos", "--feature", "dense-sift:step=8", "--codebook", "run",
                     "--patches", "--out", "f")
        codebook = np.load(self.folder / "f/dense-sift.codebook.npy")
        self.assertEqual(codebook.shape[1], 128)
        # The words of the projected patches are those of the whole descriptors.
        projection = self.model_array("projection").astype(float)
        descriptors = np.load(self.folder / "f/dense-sift.descriptors.npy").astype(float)
        small = (descriptors - projection[0]) @ projection[1:].T
        words = (codebook - projection[0]) @ projection[1:].T
        distance = lambda a, b: ((a[:, None] - b[None]) ** 2).sum(2)
        np.testing.assert_array_equal(distance(descriptors, codebook).argmin(1),
                                      distance(small, words).argmin(1))


if __name__ == "__main__":
    unittest.main()
