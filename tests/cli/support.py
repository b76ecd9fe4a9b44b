# SPDX-License-Identifier: Apache-2.0
"""What the command line tests share: running the program, small data, and the cases that every
clustering command must pass (MethodCases)."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import numpy as np

PROGRAM = os.environ.get("MILIEU_PROGRAM", "milieu")
HERE = pathlib.Path(__file__).resolve().parent


def environment(**more):
    """A bare environment: no locale, no colours asked for or refused, no instruction set chosen, no
    configuration of the user."""
    keep = ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
    env = {name: os.environ[name] for name in keep if name in os.environ}
    return {**env, "LC_ALL": "C", "XDG_CONFIG_HOME": os.devnull, **more}


def default_signals():
    """SIGINT may be ignored where tests run in the background; the program gets its default back."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Outcome:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def json(self):
        return json.loads(self.out)


def blobs(num_per_class=40, num_classes=3, dims=4, seed=0):
    """Well separated balls: any method finds them. Returns points and classes, in mixed order."""
    random = np.random.RandomState(seed)
    centers = np.eye(num_classes, dims) * 10
    classes = np.repeat(np.arange(num_classes), num_per_class)
    points = centers[classes] + random.uniform(-1, 1, (len(classes), dims))
    order = random.permutation(len(classes))
    return points[order].astype(np.float32), classes[order].astype(np.int64)


class CliTest(unittest.TestCase):
    """Every test runs in its own folder, so that paths in messages are short."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="milieu-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments, stdout=subprocess.PIPE, env=None, prepare=None):
        """Starts the program; `prepare` runs in the child just before it."""
        def before():
            default_signals()
            if prepare:
                prepare()

        return subprocess.Popen(
            [PROGRAM, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=subprocess.PIPE, text=True, env=env or environment(),
            preexec_fn=before)

    def run_milieu(self, *arguments, **more):
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=300)
        return Outcome(process.returncode, out, err)

    def succeed(self, *arguments):
        outcome = self.run_milieu(*arguments)
        self.assertEqual(outcome.code, 0, f"{arguments}: {outcome.err}")
        return outcome

    def fail_with(self, code, *arguments, **more):
        """Runs a command that must fail: returns its first line on stderr, without `milieu: `."""
        outcome = self.run_milieu(*arguments, **more)
        self.assertEqual(outcome.code, code, f"{arguments}: {outcome.out}{outcome.err}")
        if more.get("stdout", subprocess.PIPE) == subprocess.PIPE:
            self.assertEqual(outcome.out, "", "a failing command says nothing on stdout")
        self.assertTrue(outcome.err.startswith("milieu: "), outcome.err)
        return outcome.err.splitlines()[0].removeprefix("milieu: ")

    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.folder / name, mode) as file:
            file.write(content)
        return name

    def labels(self, run):
        """The label column of a run folder's labels.csv."""
        lines = (self.folder / run / "labels.csv").read_text().splitlines()
        self.assertEqual(lines[0], "sample,label")
        return np.array([int(line.rsplit(",", 1)[1]) for line in lines[1:]])

    def report_data(self, run):
        """What the interactive report.html of a run folder holds, and its one run."""
        page = (self.folder / run / "report.html").read_text()
        data = json.loads(re.search(r'json" id="milieu-report">(.*?)</script>', page)[1])
        return data, data["runs"][0]

    def run_files(self, run):
        """Name to bytes of a run folder, the running time taken out."""
        files = {}
        for path in sorted((self.folder / run).iterdir()):
            content = path.read_bytes()
            if path.name == "summary.json":
                content = re.sub(rb'"seconds": [^,\n]*', b"", content)
            if path.name == "report.html":
                content = re.sub(rb"[0-9.]+(e-?[0-9]+)?\s*(&nbsp;)?m?s\b", b"", content)
                content = re.sub(rb'"seconds":[^,}]*', b"", content)
            files[path.name] = content
        return files


RUN_FILES = ["labels.csv", "model.safetensors", "options.json", "report.html", "summary.json"]

SUMMARY_KEYS = ["method", "version", "seed", "termination", "objective", "iterations", "seconds",
                "n", "d", "clusters", "sizes", "warnings"]
METRIC_KEYS = ["accuracy", "error", "balanced_error", "nmi", "nmi_max", "nmi_sqrt", "ari", "f",
               "f_pairwise"]
