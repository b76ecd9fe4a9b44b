#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A method that is in the table is everywhere. Environment: MILIEU_TOY, the program with the toy."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.request

TOY = os.environ["MILIEU_TOY"]


class Toy(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="milieu-toy-")
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "X.csv").write_text("".join(f"{i},0\n" for i in (0, 1, 2, 50, 51, 52)))
        (self.folder / "offsets.csv").write_text("0\n" * 6)
        self.environment = {**os.environ, "MILIEU_CACHE": str(self.folder / "cache")}

    def tearDown(self):
        self.temporary.cleanup()

    def run_toy(self, *arguments):
        done = subprocess.run([TOY, *arguments], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_help_overview_docs_and_completion_know_it(self):
        self.assertIn("  toy             slices of the first column", self.run_toy("help"))
        page = self.run_toy("help", "toy")
        self.assertIn("--offsets FILE", page)
        self.assertIn("-k, --num-clusters N", page)
        self.assertIn("| `--num-clusters`, `-k` |", self.run_toy("info", "--options", "toy"))
        self.assertIn("| `offsets` |", self.run_toy("info", "--inputs", "toy"))
        self.assertIn('"toy")', self.run_toy("completion", "bash"))

    def test_run_folder_report_options_and_prediction(self):
        self.run_toy("toy", "X.csv", "-k", "2", "--offsets", "offsets.csv", "--out", "run")
        labels = (self.folder / "run" / "labels.csv").read_text().split()[1:]
        self.assertEqual([line.split(",")[1] for line in labels], list("000111"))
        self.assertIn("Slices on X.csv", (self.folder / "run" / "report.html").read_text())
        self.run_toy("toy", "--options", "run", "--out", "again")
        for name in ("labels.csv", "options.json", "model.safetensors"):
            self.assertEqual((self.folder / "run" / name).read_bytes(),
                             (self.folder / "again" / name).read_bytes(), name)
        self.assertEqual(self.run_toy("predict", "run", "X.csv").split(), list("000111"))

    def test_explorer_offers_it(self):
        server = subprocess.Popen([TOY, "explore", "X.csv", "--no-browser"], cwd=self.folder,
                                  env=self.environment, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().strip()
            base, token = address.split("/?token=")
            with urllib.request.urlopen(f"{base}/api/methods?token={token}", timeout=20) as reply:
                methods = {method["name"]: method for method in json.load(reply)}
            self.assertEqual(methods["toy"]["title"], "Slices")
            self.assertIn("num_clusters", [field["name"] for field in methods["toy"]["fields"]])
        finally:
            server.terminate()
            server.wait(timeout=20)
            server.stdout.close()


if __name__ == "__main__":
    unittest.main()
