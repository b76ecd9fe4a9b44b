# SPDX-License-Identifier: Apache-2.0
"""Run folders of version 0.1.0 (tests/compat/runs_0.1.0): described, exported and scored, their models
used, and their options run again with the same labels."""

import json
import shutil
import unittest

from support import HERE, CliTest

RUNS = HERE.parent / "compat" / "runs_0.1.0"
NO_PREDICTION = ("agglomerative", "ncut")


class CompatTest(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(RUNS, self.folder, dirs_exist_ok=True)
        self.runs = sorted(path.parent for path in self.folder.glob("*/model.safetensors"))
        self.assertEqual(len(self.runs), 16)

    def options(self, run):
        return json.loads((run / "options.json").read_text())

    def test_runs_are_described(self):
        for run in self.runs:
            self.assertEqual(self.options(run)["version"], "0.1.0")
            out = self.succeed("info", run.name).out
            self.assertTrue(out.startswith(f"{run.name}: run folder\n"), out)
            self.assertIn("written by: Milieu 0.1.0",
                          self.succeed("info", f"{run.name}/model.safetensors").out)

    def test_runs_are_exported_and_scored(self):
        for run in self.runs:
            labels = (run / "labels.csv").read_text().splitlines()
            rows = self.succeed("export", run.name).out.splitlines()
            self.assertEqual(len(rows), len(labels), run.name)
            self.assertEqual([row.split(",")[:2] for row in rows[1:]],
                             [row.split(",")[:2] for row in labels[1:]], run.name)
            self.assertRegex(self.succeed("score", run.name, f"{run.name}/labels.csv").out,
                             r"(?m)^  accuracy +1\.0000$")

    def test_models_label_new_samples(self):
        for run in self.runs:
            given = self.options(run)["input"]
            flags = [part for name in ("label_column", "offsets") if name in given
                     for part in ("--" + name.replace("_", "-"), given[name])]
            arguments = ("predict", run.name, given["path"], *flags)
            if run.name in NO_PREDICTION:
                self.assertIn("does not predict", self.run_milieu(*arguments).err)
                continue
            self.succeed(*arguments, "--out", "new.csv")
            self.assertEqual((self.folder / "new.csv").read_text().splitlines()[1:],
                             (run / "labels.csv").read_text().splitlines()[1:], run.name)
            (self.folder / "new.csv").unlink()

    def test_options_are_run_again(self):
        for run in self.runs:
            again = f"{run.name}_again"
            self.succeed(run.name, "--options", run.name, "--out", again, "--quiet")
            self.assertEqual((self.folder / again / "labels.csv").read_text(),
                             (run / "labels.csv").read_text(), run.name)


if __name__ == "__main__":
    unittest.main()
