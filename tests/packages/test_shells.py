#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion in real shells, and manual pages by man's own tools.

Environment: MILIEU_PROGRAM. A shell that is not installed fails the test: `scripts/setup package` has
them all."""

import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ["MILIEU_PROGRAM"]).resolve()
CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[=>]|\][^\x07]*\x07)|\r|\x07")


class Shells(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="milieu-shells-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "points.npy").write_bytes(b"")

    def script(self, shell):
        return subprocess.run([PROGRAM, "completion", shell], capture_output=True, text=True, check=True).stdout


class Terminal:
    """An interactive zsh with nothing of the user's, typed at."""

    def __init__(self, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8", HOME=str(folder), ZDOTDIR=str(folder), COLUMNS="200")
            os.execvp("zsh", ["zsh", "-f", "-i"])

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, pattern, seconds=20):
        """All output up to a match of `pattern`."""
        seen, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                seen += os.read(self.fd, 65536).decode("utf-8", "replace")
                if re.search(pattern, CONTROL.sub("", seen)):
                    return CONTROL.sub("", seen)
        raise AssertionError(f"no {pattern!r} in {CONTROL.sub('', seen)!r}")

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Zsh(Shells):
    def setUp(self):
        super().setUp()
        functions = self.folder / "functions"
        functions.mkdir()
        (functions / "_milieu").write_text(self.script("zsh"))
        self.terminal = Terminal(self.folder)
        self.addCleanup(self.terminal.close)
        self.terminal.send(f"stty rows 100 cols 200; PS1='ready> '; fpath=({functions} $fpath); autoload -U compinit; "
                           "compinit -D -u; LISTMAX=0; setopt no_beep; echo be''gin\n")
        self.terminal.read_until(r"begin[\s#%]+ready> ")

    def complete(self, line, expected):
        """Types `line` and Tab and waits for `expected` on the screen; the line is thrown away."""
        self.terminal.send(line + "\t\t")
        seen = self.terminal.read_until(expected)
        self.terminal.send("\x15\x0c")
        self.terminal.read_until(r"ready> ")
        return seen

    def test_a_file_of_functions_is_enough(self):
        self.complete("milieu kmo", r"milieu kmodes ")
        self.complete("milieu ", r"dcp +-- split a set into parts")
        self.complete("milieu help sco", r"milieu help score ")
        self.complete("milieu icc cl", r"milieu icc classify ")
        self.complete("milieu icc classify --print-cl", r"--print-classes")

    def test_flags_and_values(self):
        self.complete("milieu kmeans --num-cl", r"--num-clusters=?")
        self.complete("milieu kmeans --init=kme", r"--init=kmeans\+\+")
        self.complete("milieu gmm --covariance ", r"spherical.*diagonal|diagonal.*spherical")
        self.complete("milieu kmeans --num-", r"--num-clusters +-- number of clusters")
        self.complete("milieu completion f", r"milieu completion fish")

    def test_files_are_offered(self):
        self.complete("milieu kmeans poi", r"milieu kmeans points\.npy")
        self.complete("milieu kmeans --labels poi", r"--labels points\.npy")

    def test_the_script_can_be_sourced(self):
        (self.folder / "script").write_text(self.script("zsh"))
        self.terminal.send("fpath=(${fpath:1}); unfunction _milieu 2>/dev/null; source ./script; echo sour''ced\n")
        self.terminal.read_until(r"sourced[\s#%]+ready> ")
        self.complete("milieu meansh", r"milieu meanshift ")


class Fish(Shells):
    def complete(self, line):
        """What fish offers: names without their descriptions."""
        (self.folder / "milieu.fish").write_text(self.script("fish"))
        done = subprocess.run(
            ["fish", "--no-config", "-c", "source milieu.fish; complete -C $argv[1]", line], cwd=self.folder,
            capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.stderr, "")
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    def test_commands(self):
        self.assertEqual(self.complete("milieu kmo"), ["kmodes"])
        self.assertIn("score", self.complete("milieu "))
        self.assertNotIn("points.npy", self.complete("milieu "))
        self.assertEqual(self.complete("milieu --ver"), ["--version"])
        self.assertEqual(self.complete("milieu help sco"), ["score"])

    def test_flags(self):
        self.assertEqual(self.complete("milieu kmeans points.npy --num-c"), ["--num-clusters"])
        self.assertEqual(self.complete("milieu score --num"), [])
        self.assertIn("-k", self.complete("milieu kmeans -"))
        self.assertEqual(self.complete("milieu icc cl"), ["classify"])
        self.assertEqual(self.complete("milieu icc classify --print-cl"), ["--print-classes"])

    def test_values(self):
        self.assertEqual(self.complete("milieu kmeans --init "), ["kmeans++", "random"])
        self.assertEqual(self.complete("milieu gmm --covariance=f"), ["--covariance=full"])
        self.assertEqual(self.complete("milieu completion "), ["bash", "fish", "zsh"])
        self.assertEqual(self.complete("milieu kmeans --num-clusters "), [])
        self.assertEqual(self.complete("milieu kmeans --labels poi"), ["points.npy"])
        self.assertEqual(self.complete("milieu kmeans poi"), ["points.npy"])


class Bash(Shells):
    def test_the_script_is_found_by_its_place(self):
        """bash-completion is not needed: `complete` alone registers the function."""
        (self.folder / "milieu").write_text(self.script("bash"))
        out = subprocess.run(["bash", "--norc", "-c", "source ./milieu; complete -p milieu"], cwd=self.folder,
                             capture_output=True, text=True, check=True).stdout
        self.assertRegex(out, r"complete .*-F _milieu milieu")


class Manual(Shells):
    def pages(self):
        subprocess.run([PROGRAM, "manual", "--out", self.folder / "man1"], capture_output=True, check=True)
        found = sorted((self.folder / "man1").glob("*.1"))
        self.assertGreater(len(found), 25)
        return found

    def test_man_has_no_warning(self):
        env = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
        for page in self.pages():
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], text=True,
                                  capture_output=True, check=True, env=env)
            self.assertEqual(done.stderr, "", page.name)

    def test_lexgrog_reads_every_name(self):
        for page in self.pages():
            out = subprocess.run(["lexgrog", page], text=True, capture_output=True, check=True).stdout
            self.assertRegex(out, rf'"{re.escape(page.stem)} - \S')

    def test_man_shows_a_flag_as_it_is_typed(self):
        self.pages()
        env = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": ""}
        out = subprocess.run(["man", "-l", str(self.folder / "man1" / "milieu-dcp.1")], text=True,
                             capture_output=True, check=True, env=env).stdout
        self.assertIn("-k, --num-clusters N", re.sub(r".\x08", "", out))
        self.assertIn("--context-select 7", re.sub(r".\x08", "", out))


if __name__ == "__main__":
    unittest.main(verbosity=2)
