# SPDX-License-Identifier: Apache-2.0
"""docs/command_line.md shows what the program says: every `sh` block that a `text` block follows is
run, and its output compared. Running times are ignored, other numbers may differ in the last digits
(instruction sets round differently)."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import unittest

from support import HERE, PROGRAM, CliTest, environment

ROOT = HERE.parent.parent
EXAMPLE = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)
NUMBER = re.compile(r"(-?\d+\.\d+(?:e[-+]?\d+)?)")
SECONDS = re.compile(r'\(\d+\.\d\d s\)|"seconds": [^,\n]*')


def load_check_docs():
    """scripts/check_docs has the files that the examples read."""
    loader = importlib.machinery.SourceFileLoader("check_docs", str(ROOT / "scripts/check_docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
    loader.exec_module(module)
    return module


class DocsTest(CliTest):
    def assert_same(self, shown, expected, command):
        pieces = NUMBER.split(SECONDS.sub("", shown))
        expected_pieces = NUMBER.split(SECONDS.sub("", expected))
        self.assertEqual(pieces[::2], expected_pieces[::2], command)
        for number, wanted in zip(pieces[1::2], expected_pieces[1::2]):
            self.assertAlmostEqual(float(number), float(wanted),
                                   delta=1e-4 * max(abs(float(wanted)), 1e-6), msg=command)

    def test_examples_show_what_the_program_says(self):
        load_check_docs().make_data(self.folder)
        page = (ROOT / "docs/command_line.md").read_text(encoding="utf-8")
        path = f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"
        num_compared = 0
        for command, expected in EXAMPLE.findall(page):
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command], cwd=self.folder, text=True,
                env={**environment(), "PATH": path, "MILIEU_CACHE": str(self.folder / "cache")}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, f"{command}{done.stdout}")
            if expected:
                self.assert_same(done.stdout, expected, command)
                num_compared += 1
        self.assertGreater(num_compared, 10)


if __name__ == "__main__":
    unittest.main()
