#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workflows for a public forge and the container file: well formed, and they name commands that exist.

Environment: MILIEU_SOURCE_DIR."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"])
WORKFLOWS = sorted((SOURCE / ".github/workflows").glob("*.yml"))
VALIDATOR = SOURCE / "build/action-validator/node_modules/.bin/action-validator"


def run(*command, **more):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)


class Workflows(unittest.TestCase):
    def test_yamllint_finds_nothing(self):
        done = run("yamllint", "--strict", "-c", SOURCE / ".yamllint.yaml", SOURCE / ".github")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_validator_accepts_them_and_refuses_a_wrong_one(self):
        if not VALIDATOR.exists():
            self.skipTest("action-validator is not in build/: run scripts/setup package")
        self.assertEqual(len(WORKFLOWS), 3)
        for path in WORKFLOWS:
            done = run("node", VALIDATOR, path)
            self.assertNotIn("errors", done.stdout, path.name)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "wrong.yml"
            wrong.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on:", "runs-where:"))
            self.assertIn("errors", run("node", VALIDATOR, wrong).stdout)

    def test_commands_and_stages_exist(self):
        targets = set(re.findall(r"(?m)^([a-z-]+):", (SOURCE / "Makefile").read_text(encoding="utf-8")))
        stages = set(run(SOURCE / "scripts/check_all", "--list").stdout.split())
        for path in [*WORKFLOWS, SOURCE / "packaging/Containerfile"]:
            text = path.read_text(encoding="utf-8")
            for target in re.findall(r"(?:run:|&&) make ([a-z-]+)", text):
                self.assertIn(target, targets, path.name)
            for listed in re.findall(r"stage: \[(.*)\]", text):
                self.assertLessEqual(set(listed.split(", ")), stages, path.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
