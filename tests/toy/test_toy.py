#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A method that is in the table is everywhere, one that is not (cac) is nowhere. Environment:
MILIEU_TOY, the program with the toy in place of cac."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
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

    def explorer(self, *arguments):
        """The methods that the explorer offers, by name, and a run of the toy."""
        server = subprocess.Popen([TOY, "explore", "X.csv", "--no-browser", *arguments],
                                  cwd=self.folder, env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            base, token = server.stdout.readline().strip().split("/?token=")

            def call(path, body=None):
                request = urllib.request.Request(
                    f"{base}/api/{path}?token={token}",
                    None if body is None else json.dumps(body).encode(),
                    {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=20) as reply:
                    return json.load(reply)

            methods = {method["name"]: method for method in call("methods")}
            run = call("runs", {"method": "toy", "set": {"rest": True}, "options": {}})["id"]
            deadline = time.monotonic() + 60
            while call(f"runs/{run}")["state"] in ("queued", "running"):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            return methods, call(f"runs/{run}")
        finally:
            server.terminate()
            server.wait(timeout=20)
            server.stdout.close()

    def test_explorer_offers_and_runs_it(self):
        methods, run = self.explorer()
        self.assertEqual(methods["toy"]["title"], "Slices")
        self.assertEqual(methods["toy"]["needs"], [])
        self.assertIn("num_clusters", [field["name"] for field in methods["toy"]["fields"]])
        self.assertEqual([part["size"] for part in run["parts"]], [3, 3])

    def test_explorer_passes_its_shared_file_to_every_run(self):
        self.assertIn("--offsets FILE", self.run_toy("help", "explore"))
        (self.folder / "offsets.csv").write_text("0\n" * 5 + "200\n")
        _, run = self.explorer("--offsets", "offsets.csv")
        self.assertIn("--offsets offsets.csv", run["command"])
        self.assertEqual([part["size"] for part in run["parts"]], [6])

    def test_a_method_that_is_not_in_the_table_is_nowhere(self):
        for page in ("help", "help explore", "completion bash"):
            self.assertNotRegex(self.run_toy(*page.split()), r"\bcac\b", page)
        for command in (["cac", "X.csv"], ["cac", "predict", "run", "X.csv"], ["help", "cac"]):
            done = subprocess.run([TOY, *command], cwd=self.folder, env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 2, command)
        methods, _ = self.explorer()
        self.assertNotIn("cac", methods)


if __name__ == "__main__":
    unittest.main()
