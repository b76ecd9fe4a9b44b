# SPDX-License-Identifier: Apache-2.0
"""milieu predict: labels of new samples, everywhere they may go, and models that are not right."""

import json
import resource
import struct
import unittest

import numpy as np

from support import CliTest, blobs


class PredictTest(CliTest):
    def setUp(self):
        super().setUp()
        self.samples, self.classes = blobs()
        self.save("X.npy", self.samples)
        self.save("y.npy", self.classes)
        self.succeed("kmeans", "X.npy", "-k", "3", "--out", "run", "--quiet")

    def test_labels_of_the_training_data_come_back(self):
        lines = self.succeed("predict", "run", "X.npy").out.splitlines()
        np.testing.assert_array_equal(np.array(lines, dtype=int), self.labels("run"))

    def test_model_file_and_run_folder_are_the_same(self):
        self.assertEqual(self.succeed("predict", "run/model.safetensors", "X.npy").out,
                         self.succeed("predict", "run", "X.npy").out)

    def test_csv_is_what_a_run_folder_has(self):
        out = self.succeed("predict", "run", "X.npy", "--out", "new.csv").out
        self.assertIn("wrote new.csv: 120 labels by kmeans", out)
        self.assertEqual((self.folder / "new.csv").read_bytes(),
                         (self.folder / "run/labels.csv").read_bytes())

    def test_npy_holds_the_labels(self):
        outcome = self.succeed("predict", "run", "X.npy", "--out", "new.npy", "--quiet")
        self.assertEqual((outcome.out, outcome.err), ("", ""))
        np.testing.assert_array_equal(np.load(self.folder / "new.npy"), self.labels("run"))

    def test_json_is_the_whole_output(self):
        summary = self.succeed("predict", "run", "X.npy", "--json", "--truth", "y.npy").json()
        self.assertEqual(summary["method"], "kmeans")
        self.assertEqual((summary["n"], summary["d"], summary["clusters"]), (120, 4, 3))
        self.assertEqual(summary["sizes"], [40, 40, 40])
        self.assertEqual(summary["metrics"]["accuracy"], 1)

    def test_truth_is_reported_beside_the_labels(self):
        outcome = self.succeed("predict", "run", "X.npy", "--labels", "y.npy")
        self.assertEqual(len(outcome.out.splitlines()), 120)
        self.assertIn("accuracy 1.0000", outcome.err)

    def test_every_predicting_method_repeats_its_training_labels(self):
        for command, *arguments in (["gmm", "-k", "3"], ["meanshift", "--bandwidth", "4"]):
            self.succeed(command, "X.npy", *arguments, "--out", command, "--quiet")
            lines = self.succeed("predict", command, "X.npy").out.split()
            np.testing.assert_array_equal(np.array(lines, dtype=int), self.labels(command))

    def test_probabilities_of_new_samples_issue30(self):
        """Methods that define shares of clusters give them for the fit and for new rows; others say so."""
        counts = np.random.RandomState(1).poisson(1.5 + 4 * np.eye(3)[self.classes].repeat(3, axis=1))
        self.save("counts.npy", counts.astype(np.float32))
        for command, source in (("gmm", "X.npy"), ("multinomials", "counts.npy"),
                                ("topics", "counts.npy"), ("jsom", "counts.npy")):
            with self.subTest(command):
                self.succeed(command, source, "-k", "3", "--probabilities", "--out", command, "--quiet")
                fitted = np.load(self.folder / command / "probabilities.npy")
                self.assertEqual(fitted.shape, (120, 3))
                np.testing.assert_allclose(fitted.sum(1), 1, rtol=1e-5)
                np.testing.assert_array_equal(fitted.argmax(1), self.labels(command))
                text = self.succeed("predict", command, source, "--out", "again.csv", "--probabilities", "p.npy").out
                self.assertIn("wrote p.npy: probabilities of 3 clusters", text)
                np.testing.assert_allclose(np.load(self.folder / "p.npy"), fitted, atol=1e-6)
        self.succeed("gmm", "X.npy", "-k", "3", "--out", "without", "--quiet")
        self.assertFalse((self.folder / "without/probabilities.npy").exists())
        self.assertIn("holds a model of kind kmeans, which has no probabilities; these have: dlgmm, gmm",
                      self.fail_with(2, "predict", "run", "X.npy", "--probabilities", "p.npy"))

    def test_threads_do_not_change_a_label(self):
        self.assertEqual(self.succeed("predict", "run", "X.npy", "--threads", "1").out,
                         self.succeed("predict", "run", "X.npy", "--threads", "2").out)

    def test_other_width_is_refused(self):
        self.save("narrow.npy", self.samples[:, :3])
        message = self.fail_with(2, "predict", "run", "narrow.npy")
        self.assertIn("3", message)
        self.assertIn("4", message)

    def test_nan_is_named_by_row_and_column(self):
        self.samples[5, 1] = np.nan
        self.save("bad.npy", self.samples)
        self.assertRegex(self.fail_with(1, "predict", "run", "bad.npy"),
                         "bad.npy.*row 5.*column 1")

    def test_missing_and_foreign_models(self):
        self.assertIn("none", self.fail_with(1, "predict", "none", "X.npy"))
        self.assertIn("X.npy", self.fail_with(1, "predict", "X.npy", "X.npy"))
        (self.folder / "empty").mkdir()
        self.assertIn("empty has no model.safetensors",
                      self.fail_with(2, "predict", "empty", "X.npy"))

    def broken_model(self, change):
        """The model file with `change` applied to its header (a dict) or its bytes."""
        content = (self.folder / "run/model.safetensors").read_bytes()
        size = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8:8 + size])
        changed = change(header)
        text = json.dumps(header).encode()
        body = content[8 + size:]
        self.write("broken.safetensors",
                   changed or struct.pack("<Q", len(text)) + text + body)
        return self.fail_with(1, "predict", "broken.safetensors", "X.npy")

    def test_broken_models_each_have_their_message(self):
        content = (self.folder / "run/model.safetensors").read_bytes()
        messages = {
            "truncated": self.broken_model(lambda h: content[:-5]),
            "flipped": self.broken_model(lambda h: content[:20] + b"\xff" + content[21:]),
            "huge header": self.broken_model(lambda h: b"\xff" * 7 + b"\x7f" + content[8:]),
            "kind": self.broken_model(lambda h: h["__metadata__"].update(kind="tea")),
            "newer": self.broken_model(lambda h: h["__metadata__"].update(format_version="99")),
            "overflow": self.broken_model(
                lambda h: h["centers"].update(shape=[2 ** 62, 2 ** 62])),
        }
        for what, message in messages.items():
            self.assertIn("broken.safetensors", message, what)
        self.assertEqual(len(set(messages.values())), len(messages), messages)

    def test_out_must_name_a_known_format(self):
        self.assertEqual(self.fail_with(2, "predict", "run", "X.npy", "--out", "new.txt"),
                         "--out is new.txt, must end in .csv or .npy")

    def test_disk_full_keeps_the_old_file(self):
        for name in ("new.csv", "new.npy"):
            self.write(name, "old")

            def limit_file_size():
                resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

            message = self.fail_with(1, "predict", "run", "X.npy", "--out", name,
                                     prepare=limit_file_size)
            self.assertIn(name, message)
            self.assertEqual((self.folder / name).read_text(), "old")
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(names, ["X.npy", "new.csv", "new.npy", "run", "y.npy"])

    def test_full_stdout_is_a_failure(self):
        with open("/dev/full", "w") as full:
            self.assertIn("standard output cannot be written",
                          self.fail_with(1, "predict", "run", "X.npy", stdout=full))

    def test_a_reader_that_leaves_early_causes_no_message(self):
        self.save("many.npy", np.tile(self.samples, (5000, 1)))
        process = self.start("predict", "run", "many.npy")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()
        self.assertEqual(process.wait(timeout=300), 1)


if __name__ == "__main__":
    unittest.main()
