# SPDX-License-Identifier: Apache-2.0
"""What holds for the program as a whole: overview, version, help, wrong commands, terminals,
signals before there is anything to keep."""

import errno
import os
import pty
import resource
import select
import signal
import subprocess
import time
import unittest

import numpy as np

from support import HERE, PROGRAM, CliTest, blobs, default_signals, environment

# One help text per command; the program must list the same ones.
GOLDEN = sorted(path.stem for path in (HERE / "golden").glob("*.txt") if path.stem != "overview")
COMMANDS = [name for name in GOLDEN if "-" not in name]
# `milieu icc classify` has its text in icc-classify.txt.
SUBCOMMANDS = [name for name in GOLDEN if "-" in name]


class ProgramTest(CliTest):
    def test_overview_lists_every_command(self):
        out = self.succeed().out
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command} ")
        self.assertEqual(out, self.succeed("help").out)
        self.assertEqual(out, self.succeed("--help").out)

    def test_version(self):
        version = (HERE.parent.parent / "VERSION").read_text().strip()
        first, *facts = self.succeed("--version").out.splitlines()
        self.assertEqual(first, f"milieu {version}")
        self.assertRegex(facts[0], r"^commit  ([0-9a-f]{12}(-modified)?|unknown)$")
        self.assertRegex(facts[1], r"^built   \w+ by (gcc|clang) \d+\.")
        self.assertRegex(facts[2], r"^with    (no )?explorer, (no )?networks, static library, (no )?assertions$")
        self.assertEqual(len(facts), 3)

    def test_help_texts_are_the_golden_ones(self):
        for command in ["overview", *GOLDEN]:
            arguments = [] if command == "overview" else command.split("-")
            out = self.succeed("help", *arguments).out
            golden = (HERE / "golden" / f"{command}.txt").read_text()
            self.assertEqual(out, golden, "changed on purpose? run tests/cli/update_golden")
            if command != "overview":
                self.assertEqual(out, self.succeed(*arguments, "--help").out)
                self.assertIn("\nExample\n", out)

    def test_every_command_of_the_overview_has_its_golden_text_and_test(self):
        commands = [line for line in self.succeed().out.split("Context methods\n")[1]
                    .split("To begin")[0].splitlines() if line.startswith("  ")]
        self.assertEqual(sorted(line.split()[0] for line in commands), COMMANDS)
        for command in COMMANDS:
            self.assertTrue((HERE / f"test_{command}.py").exists(), command)

    def test_mistyped_command_suggests_the_nearest(self):
        self.assertEqual(self.fail_with(2, "kmeens", "X.npy"),
                         "unknown command 'kmeens': did you mean kmeans?")
        self.assertEqual(self.fail_with(2, "agglo"),
                         "unknown command 'agglo': did you mean agglomerative?")
        self.assertEqual(self.fail_with(2, "zebra"), "unknown command 'zebra'")
        self.assertEqual(self.fail_with(2, "help", "scor"),
                         "unknown command 'scor': did you mean score?")
        self.assertIn("--fast", self.fail_with(2, "--fast"))

    def test_subcommands_are_listed_by_their_command(self):
        for name in SUBCOMMANDS:
            command, word = name.split("-")
            self.assertRegex(self.succeed("help", command).out, rf"(?m)^  {command} {word} ")

    def test_usage_errors_point_to_the_help(self):
        outcome = self.run_milieu("kmeans", "--nonsense")
        self.assertIn("see `milieu help kmeans`", outcome.err)

    def test_counts_agree_with_their_nouns_issue19(self):
        self.save("X.npy", np.zeros((1, 2), np.float32))
        self.save("y.npy", np.zeros(1, np.int32))
        out = self.succeed("kmeans", "X.npy", "-k", "1", "--labels", "y.npy", "--out", "run").out
        self.assertIn("read X.npy: 1 sample x 2, 1 class\n", out)
        self.assertIn("kmeans: 1 cluster of 1 x 2, ", out)
        self.assertIn("after 1 iteration ", self.succeed("kmodes", "X.npy", "-k", "1").out)
        self.assertIn("1 sample, 1 cluster, 1 class\n", self.succeed("score", "run", "y.npy").out)
        self.assertIn("wrote p.csv: 1 label by kmeans\n",
                      self.succeed("predict", "run", "X.npy", "--out", "p.csv").out)
        self.save("w.npy", np.ones(2, np.float32))
        self.assertEqual(self.fail_with(1, "score", "y.npy", "w.npy"),
                         "y.npy has 1 row, w.npy has 2: they must match")

    def test_full_stdout_is_a_failure(self):
        with open("/dev/full", "w") as full:
            self.assertIn("standard output cannot be written", self.fail_with(1, stdout=full))

    def test_a_file_without_permission_is_named(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.save("X.npy", blobs()[0])
        os.chmod(self.folder / "X.npy", 0)
        self.assertIn("X.npy", self.fail_with(1, "kmeans", "X.npy"))

    def test_a_folder_that_cannot_be_written_is_refused_before_the_work(self):
        self.save("X.npy", blobs()[0])
        self.write("file", "")
        self.assertIn("file/run", self.fail_with(1, "kmeans", "X.npy", "--out", "file/run"))


class BadInputTest(CliTest):
    """The reader's own tests have every case; here each kind once, through the program."""

    def refuse(self, name, *patterns):
        message = self.fail_with(1, "kmeans", name, "-k", "2")
        for pattern in (name, *patterns):
            self.assertRegex(message, pattern)

    def test_broken_npy(self):
        self.save("good.npy", blobs()[0])
        content = (self.folder / "good.npy").read_bytes()
        self.write("cut.npy", content[:-10])
        self.refuse("cut.npy")
        self.write("header.npy", content[:8] + b"\xff\xff" + content[10:])
        self.refuse("header.npy")
        self.save("complex.npy", np.ones((3, 3), dtype=complex))
        self.refuse("complex.npy", "c16|complex")

    def test_broken_csv(self):
        self.write("ragged.csv", "a,b\n1,2\n3,4,5\n")
        self.refuse("ragged.csv", "line 3")
        self.write("words.csv", "a,b\n1,2\n3,tea\n")
        self.refuse("words.csv", "line 3", "tea")
        self.write("nan.csv", "a,b\n1,2\n3,nan\n")
        self.refuse("nan.csv", "3|row 1")
        self.write("empty.csv", "")
        self.refuse("empty.csv")

    def test_a_folder_without_a_readable_image_is_refused(self):
        (self.folder / "images").mkdir()
        self.write("images/a.png", b"\x89PNG\r\n\x1a\n")
        self.assertIn("no image in images could be read; the first: a.png",
                      self.fail_with(1, "kmeans", "images"))

    def test_a_folder_in_place_of_a_command_leads_to_the_explorer(self):
        (self.folder / "my photos").mkdir()
        error = self.fail_with(2, "my photos")
        self.assertIn("'my photos' is a folder, not a command: see it with milieu explore 'my photos'",
                      error)

    def test_a_file_that_is_not_data_is_refused(self):
        self.write("photo.jpg", b"\xff\xd8\xff\xe0 not really")
        self.refuse("photo.jpg")


    def test_devices_without_an_end_are_refused_issue20(self):
        self.save("X.npy", np.random.RandomState(0).rand(20, 3).astype(np.float32))
        for arguments in (["/dev/zero"], ["X.npy", "--labels", "/dev/urandom"],
                          ["X.npy", "--options", "/dev/zero"]):
            self.assertRegex(self.fail_with(1, "kmeans", "-k", "2", *arguments),
                             "never ends|does not end")

    def test_memory_is_estimated_before_it_is_taken_issue20(self):
        """Refused within the first second, with the number needed and the way out."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        self.save("X.npy", np.random.RandomState(0).rand(16000, 2).astype(np.float32))
        self.save("counts.npy", np.ones((2000, 100), np.float32))
        self.save("offsets.npy", np.arange(0, 16001, 16))
        for arguments in (["kmedoids", "X.npy", "-k", "2"],
                          ["ncut", "X.npy", "-k", "2", "--num-neighbors", "0"],
                          ["exemplar", "X.npy", "--max-memory-gb", "9"],
                          ["jsom", "counts.npy", "-k", "2", "--topics", "100000"],
                          ["dlgmm", "X.npy", "--offsets", "offsets.npy", "--words", "100000",
                           "--clusters", "2"],
                          ["icc", "X.npy", "--grid", "6000x6000"]):
            message = self.fail_with(2, *arguments, prepare=limit)
            self.assertRegex(message, r"take about [\d.]+ GB, but only [\d.]+ GB are left "
                                      r"\(the limit of the address space \(ulimit -v\)\): \w")

    def test_little_memory_is_a_message_issue20(self):
        """Threads that the system refuses, and oneDNN without room for its code."""
        self.save("X.npy", np.random.RandomState(0).rand(300, 6).astype(np.float32))
        for kind, least, most in ((resource.RLIMIT_DATA, 12, 60), (resource.RLIMIT_AS, 80, 160)):
            for megabytes in range(least, most, 6):
                def limit(kind=kind, size=megabytes << 20):
                    resource.setrlimit(kind, (size, size))

                # OpenBLAS, where OpenCV's LAPACK is OpenBLAS, waits for ever for the 128 MB that
                # each thread of its own should get: no business of ours.
                outcome = self.run_milieu("kmeans", "X.npy", "-k", "2", prepare=limit,
                                          env=environment(OPENBLAS_NUM_THREADS="1"))
                if "loading shared libraries" in outcome.err:
                    continue
                self.assertIn(outcome.code, (0, 1), f"{megabytes} MB: {outcome.err}")
                if outcome.code:
                    self.assertRegex(outcome.err, "out of memory|refuses to start a thread|GB")

    def test_unknown_instruction_sets_are_refused_issue20(self):
        self.save("X.npy", np.random.RandomState(0).rand(20, 3).astype(np.float32))
        message = self.fail_with(2, "kmeans", "X.npy", "-k", "2",
                                 env=environment(MILIEU_ISA="quark"))
        self.assertEqual(message, "MILIEU_ISA is quark, must be baseline, v3 or v4")
        baseline = self.run_milieu("kmeans", "X.npy", "-k", "2",
                                   env=environment(MILIEU_ISA="baseline"))
        self.assertEqual(baseline.code, 0)


class TerminalTest(CliTest):
    """The program on a terminal (a pseudo one)."""

    def setUp(self):
        super().setUp()
        points = np.random.RandomState(0).rand(20000, 32).astype(np.float32)
        self.save("X.npy", points)
        self.save("small.npy", blobs()[0])

    def on_terminal(self, *arguments, interrupt_at=None, **more):
        """Runs with stdout and stderr on a terminal: returns the exit code and all that it showed.
        Ctrl-C comes once `interrupt_at` has been shown."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, *arguments], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave,
            env=environment(TERM="xterm", **more), preexec_fn=default_signals)
        os.close(slave)
        shown = b""
        while True:
            if interrupt_at and interrupt_at in shown:
                process.send_signal(signal.SIGINT)
                interrupt_at = None
            if select.select([master], [], [], 0.05)[0]:
                try:
                    chunk = os.read(master, 65536)
                except OSError:
                    break
                if not chunk:
                    break
                shown += chunk
        os.close(master)
        return process.wait(timeout=300), shown.decode()

    def test_progress_is_one_line_that_disappears(self):
        code, shown = self.on_terminal("kmeans", "X.npy", "-k", "50", "--restarts", "5",
                                       "--time-limit", "60")
        self.assertEqual(code, 0)
        self.assertRegex(shown, r"\rkmeans  \[[#-]{20}\]  restart \d/5  iteration \d+  objective ")
        before_result = shown.split("read X.npy")[0]
        self.assertTrue(before_result.endswith("\r\x1b[K"), repr(before_result[-40:]))
        self.assertNotIn("\n", before_result)

    def test_time_left_fits_on_the_line_and_is_never_zero(self):
        """Cut off on 80 columns; once "about 0:00 left" for ten seconds."""
        code, shown = self.on_terminal("kmeans", "X.npy", "-k", "50", "--restarts", "40", "--threads", "1")
        self.assertEqual(code, 0)
        lines = [line.split("\x1b")[0] for line in shown.split("read X.npy")[0].split("\r")]
        self.assertTrue(any(" left" in line for line in lines), lines)
        for line in lines:
            self.assertLess(len(line), 80)
            self.assertNotIn("about 0:00", line)

    def test_colours_only_where_they_are_wanted(self):
        _, shown = self.on_terminal("kmeans", "small.npy", "-k", "3")
        self.assertIn("\x1b[1mkmeans: 3 clusters", shown)
        _, shown = self.on_terminal("kmeans", "small.npy", "-k", "3", NO_COLOR="1")
        self.assertNotIn("\x1b[1m", shown)

    def test_quiet_shows_nothing(self):
        self.assertEqual(self.on_terminal("kmeans", "small.npy", "-k", "3", "--quiet"), (0, ""))

    def test_interrupt_says_what_was_kept(self):
        code, shown = self.on_terminal("kmeans", "X.npy", "-k", "200", "--restarts", "1000",
                                       interrupt_at=b"iteration")
        self.assertEqual(code, 130)
        self.assertIn("stopping; Ctrl-C again quits at once", shown)
        self.assertIn("interrupted: this is the result so far", shown)

    def test_locale_decides_about_block_characters(self):
        _, shown = self.on_terminal("kmeans", "small.npy", "-k", "3", LC_ALL="C.UTF-8")
        self.assertIn("█", shown)
        self.assertNotIn("#", shown)


class InterruptTest(CliTest):
    def test_while_reading_nothing_is_written(self):
        # The reader waits for a pipe without a writer; SIGINT finds nothing worth keeping.
        os.mkfifo(self.folder / "X.csv")
        process = self.start("kmeans", "X.csv", "--out", "run")
        writer = self.open_for_reader(self.folder / "X.csv", process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        os.close(writer)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted, nothing was written", err)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["X.csv"])

    def open_for_reader(self, path, process):
        """The writing end of a pipe, once the program has opened it for reading."""
        while process.poll() is None:
            try:
                return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                self.assertEqual(error.errno, errno.ENXIO)
                time.sleep(0.01)
        self.fail("the program ended before it opened the pipe")

    def test_plain_lines_every_few_seconds(self):
        self.save("X.npy", np.random.RandomState(0).rand(1000, 4).astype(np.float32))
        process = self.start("kmeans", "X.npy", "-k", "10", "--restarts", "100000000",
                             "--time-limit", "8", "--json")
        _, err = process.communicate(timeout=300)
        lines = err.splitlines()
        self.assertGreaterEqual(len(lines), 1)
        self.assertLess(len(lines), 4, err)
        for line in lines:
            self.assertRegex(line, r"^kmeans  .*restart \d+/100000000  iteration \d+  objective ")


if __name__ == "__main__":
    unittest.main()
