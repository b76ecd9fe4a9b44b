# SPDX-License-Identifier: Apache-2.0
"""The cases that every clustering command passes. A command's test file derives from MethodCases
and CliTest and sets `command` and `arguments`; what only this method has, it tests itself."""

import json
import os
import resource
import signal
import time

import numpy as np

from support import METRIC_KEYS, RUN_FILES, SUMMARY_KEYS, blobs


def process_seconds(pid):
    """Processor time that a running process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """Processor time of all runs that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class MethodCases:
    command = ""
    arguments = []       # what finds the three balls
    truth_arguments = []
    takes_k = True
    one_cluster = ["-k", "1"]  # what makes one cluster of equal points
    slow_arguments = []  # with slow_points(): a run of many seconds
    extra_files = []     # that the method adds to its run folder
    extra_input = {}     # what its arguments add to the recorded input

    def points(self):
        """Three groups that every method separates, and their classes."""
        return blobs()

    def slow_points(self):
        """Data that keep the method busy for many seconds."""
        return np.random.RandomState(0).rand(20000, 32).astype(np.float32)

    def assert_run_files(self, run):
        """The files of every run; a method's own pictures may be beside them."""
        names = sorted(self.run_files(run))
        self.assertEqual([n for n in names if not n.endswith(".png")],
                         sorted(RUN_FILES + self.extra_files))

    def setUp(self):
        super().setUp()
        self.samples, self.classes = self.points()
        self.save("X.npy", self.samples)
        self.save("y.npy", self.classes)

    def fit(self, *more, source="X.npy"):
        return self.succeed(self.command, source, *self.arguments, *more)

    def test_result_for_people_names_input_clusters_and_next_step(self):
        out = self.fit("--labels", "y.npy", *self.truth_arguments).out
        n, d = self.samples.shape
        self.assertIn(f"read X.npy: {n} samples x {d}, 3 classes\n", out)
        self.assertIn(f"{self.command}: 3 clusters", out)
        self.assertRegex(out, r"cluster +0 +40  #+")
        self.assertIn("against the truth: accuracy 1.0000", out)
        self.assertIn("next: add --out DIR", out)
        self.assertNotIn("\x1b", out)

    def test_json_is_the_whole_output(self):
        outcome = self.fit("--json")
        summary = outcome.json()
        self.assertLessEqual(set(SUMMARY_KEYS), set(summary))
        self.assertEqual(summary["method"], self.command)
        self.assertEqual([summary["n"], summary["d"]], list(self.samples.shape))
        self.assertEqual(summary["clusters"], 3)
        self.assertEqual(sorted(summary["sizes"]), [40, 40, 40])
        self.assertNotIn("metrics", summary)
        self.assertEqual(outcome.err, "")

    def test_truth_adds_metrics(self):
        metrics = self.fit("--json", "--truth", "y.npy").json()["metrics"]
        self.assertLessEqual(set(METRIC_KEYS), set(metrics))
        self.assertEqual(metrics["accuracy"], 1)
        self.assertEqual(self.fit("--json", "--labels", "y.npy").json()["metrics"], metrics)

    def test_truth_overrides_labels(self):
        self.save("one.npy", np.zeros(len(self.classes), dtype=int))
        metrics = self.fit("--json", "--labels", "y.npy", "--truth", "one.npy").json()["metrics"]
        self.assertEqual(metrics["num_classes"], 1)

    def test_quiet_says_nothing(self):
        outcome = self.fit("--quiet", "--out", "run")
        self.assertEqual((outcome.out, outcome.err), ("", ""))
        self.assert_run_files("run")

    def test_run_folder_holds_the_result(self):
        out = self.fit("--out", "run", "--labels", "y.npy").out
        self.assertIn("wrote run: open run/report.html", out)
        files = self.run_files("run")
        self.assert_run_files("run")
        labels = self.labels("run")
        self.assertEqual(len(labels), len(self.samples))
        self.assertEqual(len(set(zip(labels, self.classes))), 3)
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        options = json.loads(files["options.json"])
        self.assertEqual(options["method"], self.command)
        self.assertEqual(options["input"],
                         {"path": "X.npy", "labels": "y.npy", **self.extra_input})
        self.assertIn("seed", options["options"])
        self.assertIn(b"<html", files["report.html"])

    def test_same_options_same_bytes(self):
        self.fit("--out", "a", "--labels", "y.npy")
        self.fit("--out", "b", "--labels", "y.npy")
        self.assertEqual(self.run_files("a"), self.run_files("b"))

    def test_threads_do_not_change_a_byte(self):
        self.fit("--out", "one", "--threads", "1")
        self.fit("--out", "two", "--threads", "2")
        one, two = self.run_files("one"), self.run_files("two")
        self.assertIn(b'"num_threads": 1', one["options.json"])
        two["options.json"] = two["options.json"].replace(b'"num_threads": 2', b'"num_threads": 1')
        self.assertEqual(one, two)

    def test_options_file_repeats_the_run(self):
        self.fit("--out", "a", "--labels", "y.npy", "--select", "2,0", "--seed", "5")
        self.succeed(self.command, "--options", "a/options.json", "--out", "b")
        self.assertEqual(self.run_files("a"), self.run_files("b"))
        self.succeed(self.command, "--options", "a", "--seed", "6", "--out", "c")
        options = json.loads((self.folder / "c/options.json").read_text())
        self.assertEqual(options["options"]["seed"], 6)
        self.assertEqual(options["input"]["select"], "2,0")

    def test_input_of_an_options_file_may_have_moved(self):
        self.fit("--out", "a")
        (self.folder / "X.npy").rename(self.folder / "moved.npy")
        self.assertIn("named in a: give INPUT if it has moved",
                      self.fail_with(1, self.command, "--options", "a"))
        self.succeed(self.command, "moved.npy", "--options", "a", "--out", "b")
        np.testing.assert_array_equal(self.labels("a"), self.labels("b"))

    def test_options_file_of_another_kind_is_refused(self):
        self.write("other.json", '{"method": "tea", "input": {}, "options": {}}')
        self.assertIn("other.json is of method tea",
                      self.fail_with(2, self.command, "X.npy", "--options", "other.json"))
        self.write("broken.json", "{")
        self.assertIn("broken.json is not JSON",
                      self.fail_with(1, self.command, "X.npy", "--options", "broken.json"))
        self.write("bare.json", "{}")
        self.assertIn('bare.json has no "method"',
                      self.fail_with(1, self.command, "X.npy", "--options", "bare.json"))
        self.assertIn("none.json", self.fail_with(1, self.command, "--options", "none.json"))

    def test_select_keeps_rows_and_their_numbers(self):
        arguments = self.arguments[:1] + ["2"] + self.arguments[2:] if self.takes_k else \
            self.arguments
        self.succeed(self.command, "X.npy", *arguments, "--labels", "y.npy", "--select", "2,0",
                     "--out", "run")
        lines = (self.folder / "run/labels.csv").read_text().splitlines()[1:]
        rows = [int(line.split(",")[0]) for line in lines]
        self.assertEqual(rows, list(np.flatnonzero(self.classes != 1)))

    def test_csv_with_a_label_column(self):
        header = [f"x{j}" for j in range(self.samples.shape[1])] + ["kind"]
        rows = [",".join([*map(str, row), "abc"[c]])
                for row, c in zip(self.samples, self.classes)]
        self.write("X.csv", "\n".join([",".join(header), *rows]) + "\n")
        summary = self.fit("--json", "--label-column", "kind", source="X.csv").json()
        self.assertEqual(summary["metrics"]["accuracy"], 1)

    def test_existing_run_folder_is_kept_unless_forced(self):
        self.fit("--out", "run", "--seed", "1")
        before = self.run_files("run")
        message = self.fail_with(2, self.command, "X.npy", "--seed", "2", "--out", "run")
        self.assertIn("run", message)
        self.assertIn("--force", message)
        self.assertEqual(self.run_files("run"), before)
        self.fit("--out", "run", "--seed", "2", "--force")
        self.assertNotEqual(self.run_files("run")["options.json"], before["options.json"])

    def test_a_folder_that_is_not_a_run_is_never_replaced(self):
        (self.folder / "thesis").mkdir()
        self.write("thesis/chapter.tex", "words")
        message = self.fail_with(2, self.command, "X.npy", "--out", "thesis", "--force")
        self.assertIn("thesis", message)
        self.assertEqual((self.folder / "thesis/chapter.tex").read_text(), "words")

    def test_missing_input_is_named(self):
        self.assertIn("none.npy", self.fail_with(1, self.command, "none.npy"))
        self.assertIn("none.npy", self.fail_with(1, self.command, "X.npy", "--labels", "none.npy"))
        self.assertIn("none.npy", self.fail_with(1, self.command, "X.npy", "--truth", "none.npy"))
        self.assertIn("INPUT is missing", self.fail_with(2, self.command))

    def test_nan_is_named_by_row_and_column(self):
        for value in (np.nan, np.inf):
            samples = self.samples.copy()
            samples[7, 2] = value
            self.save("bad.npy", samples)
            message = self.fail_with(1, self.command, "bad.npy", *self.arguments)
            self.assertRegex(message, r"bad.npy.*row 7.*column 2")

    def test_labels_of_another_length_are_refused(self):
        self.save("short.npy", self.classes[:7])
        n = len(self.classes)
        for flag in ("--labels", "--truth"):
            message = self.fail_with(1, self.command, "X.npy", flag, "short.npy")
            self.assertEqual(message, f"short.npy has 7 rows, X.npy has {n}: they must match")

    def test_unknown_class_in_select_is_named(self):
        self.assertEqual(
            self.fail_with(2, self.command, "X.npy", "--labels", "y.npy", "--select", "0,9"),
            'y.npy has no class "9"; its classes are 0, 1, 2')
        self.assertRegex(self.fail_with(2, self.command, "X.npy", "--select", "0"), "select.*label file")

    def test_number_of_clusters_is_checked(self):
        if not self.takes_k:
            self.skipTest("the method has no number of clusters")
        self.assertEqual(self.fail_with(2, self.command, "X.npy", "-k", "0"),
                         "num_clusters is 0, must be at least 1")
        n = len(self.samples)
        message = self.fail_with(2, self.command, "X.npy", "-k", str(n + 1))
        self.assertRegex(message, rf"num_clusters is {n + 1}\b.*{n}")

    def test_one_sample_and_equal_points_have_a_defined_result(self):
        self.save("one.npy", self.samples[:1])
        summary = self.succeed(self.command, "one.npy", *self.one_cluster, "--json").json()
        self.assertEqual((summary["clusters"], summary["sizes"]), (1, [1]))
        self.save("same.npy", np.repeat(self.samples[:1], 9, axis=0))
        summary = self.succeed(self.command, "same.npy", *self.one_cluster, "--json").json()
        self.assertEqual((summary["clusters"], summary["sizes"]), (1, [9]))

    def test_empty_input_is_refused(self):
        self.save("empty.npy", self.samples[:0])
        self.assertIn("empty.npy", self.fail_with(1, self.command, "empty.npy"))

    def test_mistyped_flag_suggests_the_nearest(self):
        self.assertEqual(self.fail_with(2, self.command, "X.npy", "--thread", "1"),
                         "unknown flag --thread: did you mean --threads?")

    def test_bad_values_name_the_option(self):
        self.assertEqual(self.fail_with(2, self.command, "X.npy", "--seed", "one"),
                         "seed is 'one', must be a whole number")
        self.assertRegex(self.fail_with(2, self.command, "X.npy", "--seed", "-1"),
                         "^seed is '-1', must be between 0 and ")
        self.assertEqual(self.fail_with(2, self.command, "X.npy", "--time-limit", "-2"),
                         "time_limit is -2, must be at least 0")
        self.assertEqual(self.fail_with(2, self.command, "X.npy", "--out"), "--out needs a value")

    def test_full_stdout_is_a_failure(self):
        with open("/dev/full", "w") as full:
            message = self.fail_with(1, self.command, "X.npy", *self.arguments, stdout=full)
        self.assertIn("standard output cannot be written", message)

    def test_disk_full_keeps_the_old_run(self):
        self.fit("--out", "run", "--seed", "1")
        before = self.run_files("run")
        names = sorted(path.name for path in self.folder.iterdir())

        def limit_file_size():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

        process = self.start(self.command, "X.npy", *self.arguments, "--out", "run", "--force",
                             "--seed", "2", prepare=limit_file_size)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("run", err)
        self.assertEqual(self.run_files("run"), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), names)

    def start_slow_run(self, *more):
        self.save("slow.npy", self.slow_points())
        return self.start(self.command, "slow.npy", *self.slow_arguments, *more)

    def test_interrupt_keeps_what_is_valid(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start_slow_run("--out", "run", "--force", "--json")
            used = self.wait_until_busy(process)
            before_end = children_seconds()
            process.send_signal(number)
            out, err = process.communicate(timeout=300)
            # Processor time, not the clock: the machine may be busy with other things.
            self.assertLess(children_seconds() - before_end - used, 3)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("interrupted", err)
            self.assertEqual(json.loads(out)["termination"], "Cancelled")
            self.assert_run_files("run")
            self.assertEqual(len(self.labels("run")), len(self.slow_points()))

    def wait_until_busy(self, process):
        """Returns once the run has used a second of processor time, and how much it has used."""
        while process.poll() is None:
            used = process_seconds(process.pid)
            if used >= 1:
                return used
            time.sleep(0.02)
        self.fail("the run ended before it could be interrupted")

    def test_time_limit_keeps_what_is_valid(self):
        process = self.start_slow_run("--json", "--time-limit", "0.5")
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["termination"], "TimeLimit")
