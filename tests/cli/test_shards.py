# SPDX-License-Identifier: Apache-2.0
"""--shard and --merge: work in parts gives the bytes of the work as a whole, also after a kill."""

import pathlib
import re
import signal
import subprocess
import time
import unittest

import numpy as np

from feature_case import FeatureCase
from images import make_folder
from support import PROGRAM, CliTest, environment

SLURM = pathlib.Path(__file__).resolve().parents[2] / "examples/slurm/shards.sh"


def files_of(folder):
    """Every file below a folder, hidden ones too, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class ShardCase(CliTest):
    def same_run(self, merged, whole):
        """Two run folders that differ in nothing but times."""
        merged, whole = self.run_files(merged), self.run_files(whole)
        self.assertEqual(sorted(merged), sorted(whole))
        for name, content in whole.items():
            self.assertTrue(merged[name] == content, name)


class FeatureShardsTest(FeatureCase):
    arguments = ["photos", "--feature", "gist,dense-sift:words=5", "--patches"]

    def shard(self, index, count, out="f"):
        return self.succeed("features", *self.arguments, "--out", out, "--shard", f"{index}/{count}")

    def test_merged_folder_is_that_of_one_run(self):
        self.succeed("features", *self.arguments, "--out", "whole")
        for index in (3, 1, 2):
            text = self.shard(index, 3).out
            self.assertIn(f"shard {index}/3: ", text)
            self.assertIn("milieu features --merge f", text)
            self.assertIn("f is not complete", self.fail_with(1, "kmeans", "f", "-k", "2"))
        text = self.succeed("features", "--merge", "f").out
        self.assertIn("all shards merged", text)
        self.assertIn("milieu kmeans f", text)
        self.assertEqual(files_of(self.folder / "f"), files_of(self.folder / "whole"))

    def test_killed_shards_continue(self):
        make_folder(self.folder / "photos", per_class=12)
        self.succeed("features", *self.arguments, "--out", "whole")
        for delay in (0.02, 0.1, 0.3):
            process = self.start("features", *self.arguments, "--out", "f", "--shard", "1/2",
                                 "--threads", "1", env=self.env)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        machines = [self.start("features", *self.arguments, "--out", "f", "--shard", f"{i}/2",
                               env=self.env) for i in (1, 2)]
        for process in machines:
            self.assertEqual((process.communicate()[1], process.returncode), ("", 0))
        self.succeed("features", "--merge", "f", "-q")
        for name, content in files_of(self.folder / "whole").items():
            if name != ".milieu/files":  # a kill leaves an empty line
                self.assertEqual((self.folder / "f" / name).read_bytes(), content, name)

    def test_json_and_errors(self):
        done = self.succeed("features", *self.arguments, "--out", "f", "--shard", "2/2", "--json").json()
        self.assertEqual((done["shard"], done["n"], done["computed"]), ("2/2", 9, 9))
        self.assertEqual(self.fail_with(2, "features", "--merge", "f"),
                         "1 shard is not complete in f: 1/2; run it again, then merge")
        self.assertIn("f holds shards of another job: shards is 2 there and 3 here", self.fail_with(
            2, "features", *self.arguments, "--out", "f", "--shard", "1/3"))
        self.assertIn("empty holds no shards to merge", self.fail_with(2, "features", "--merge", "empty"))
        self.assertIn("--merge takes images and features from the shards",
                      self.fail_with(2, "features", "photos", "--merge", "f"))
        self.assertIn("shard is '2', must be i/n", self.fail_with(
            2, "features", *self.arguments, "--out", "f", "--shard", "2"))
        self.assertIn("DIR is missing", self.fail_with(2, "features", "--feature", "gist", "--out", "f"))
        self.assertIn("holds shards that are not merged", self.fail_with(
            2, "features", *self.arguments, "--out", "f"))

    def test_slurm_script(self):
        self.succeed("features", *self.arguments, "--out", "whole")
        command = [SLURM, PROGRAM, "features", *self.arguments, "--out", "f"]
        for task in (5, 6, 7):
            slurm = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "3",
                     "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_MAX": "7", "SLURM_CPUS_PER_TASK": "2"}
            done = subprocess.run(command, cwd=self.folder, env=environment(**slurm), capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"shard {task - 4}/3: ", done.stdout)
        self.succeed("features", "--merge", "f")
        self.assertEqual(files_of(self.folder / "f"), files_of(self.folder / "whole"))
        alone = subprocess.run(command, cwd=self.folder, env=environment(), capture_output=True, text=True,
                               check=False)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("SLURM_ARRAY_TASK_ID is not set", alone.stderr)
        empty = subprocess.run([SLURM], capture_output=True, text=True, check=False)
        self.assertEqual(empty.returncode, 2)


class RankingShardsTest(ShardCase):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        points = [(x, 0, y) + (.3, 5, 1) * random.randn(30, 3) for x in range(4) for y in range(3)]
        points[0] = np.repeat([[-5, -5, 0], [5, 5, 0]], 15, 0) + random.randn(30, 3)
        self.save("X.npy", np.concatenate(points).astype(np.float32))
        self.save("y.npy", np.repeat(np.arange(12), 30))

    arguments = ["dcp", "X.npy", "--labels", "y.npy", "--select", "0", "--rank-contexts"]

    def test_merged_ranking_is_that_of_one_run(self):
        self.succeed(*self.arguments, "--out", "whole")
        for count in (1, 3, 14):  # the last has shards without contexts
            for index in range(count, 0, -1):
                text = self.succeed(*self.arguments, "--out", f"run{count}", "--shard", f"{index}/{count}").out
            self.assertIn("the same command with --merge", text)
            self.succeed(*self.arguments, "--out", f"run{count}", "--merge")
            self.same_run(f"run{count}", "whole")

    def test_vote_of_merged_shards(self):
        self.succeed(*self.arguments, "--vote", "--out", "whole")
        for index in (1, 2):
            self.succeed(*self.arguments, "--out", "run", "--shard", f"{index}/2")
        self.succeed(*self.arguments, "--vote", "--out", "run", "--merge")
        self.same_run("run", "whole")

    def test_killed_shard_continues(self):
        self.succeed(*self.arguments, "--out", "whole")
        command = [*self.arguments, "--out", "run", "--shard", "1/2", "--threads", "1"]
        process = self.start(*command)
        journal = self.folder / "run.shards/1-of-2"
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if journal.exists() and journal.read_bytes().count(b"\n") > 2:
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = journal.read_bytes()
        self.assertEqual(self.succeed(*command, "--json").json(), {"shard": "1/2", "done": 6, "total": 6})
        whole_lines = before[:before.rfind(b"\n") + 1]
        self.assertTrue(journal.read_bytes().startswith(whole_lines), "kept contexts were run again")
        self.succeed(*self.arguments, "--out", "run", "--shard", "2/2")
        self.succeed(*self.arguments, "--out", "run", "--merge")
        self.same_run("run", "whole")

    def test_shards_of_another_job_are_refused(self):
        shard = [*self.arguments, "--out", "run", "--shard"]
        self.succeed(*shard, "1/2")
        self.assertIn("run.shards holds shards of 2, this is one of 3", self.fail_with(2, *shard, "3/3"))
        self.assertEqual(self.fail_with(2, *self.arguments, "--out", "run", "--merge"),
                         "1 shard is not complete in run.shards: 2/2; run it again, then merge")
        self.succeed(*shard, "2/2", "--cost", "7")
        self.assertIn("run.shards/2-of-2 belongs to a ranking of other data or options",
                      self.fail_with(2, *self.arguments, "--out", "run", "--merge"))
        self.save("X.npy", np.load(self.folder / "X.npy")[::-1].copy())
        self.assertIn("run.shards/1-of-2 belongs to a ranking of other data", self.fail_with(2, *shard, "1/2"))

    def test_wrong_flags(self):
        self.assertIn("--out is missing", self.fail_with(2, *self.arguments, "--shard", "1/2"))
        self.assertIn("--out is missing", self.fail_with(2, *self.arguments, "--merge"))
        self.assertIn("give only one of --shard and --merge", self.fail_with(
            2, *self.arguments, "--out", "run", "--shard", "1/2", "--merge"))
        self.assertIn("add --rank-contexts", self.fail_with(
            2, *self.arguments[:-1], "--context-select", "1", "--out", "run", "--shard", "1/2"))
        self.assertIn("give only one of resume and shards", self.fail_with(
            2, *self.arguments, "--resume", "state", "--out", "run", "--shard", "1/2"))
        self.assertIn("run.shards holds no shards to merge", self.fail_with(
            2, *self.arguments, "--out", "run", "--merge"))


class RestartShardsTest(ShardCase):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.save("X.npy", random.randint(0, 2, (60, 12)).astype(np.float32))

    def test_merged_restarts_are_those_of_one_run(self):
        for method, *more in (("kmodes",), ("topics",), ("topics", "--inference", "gibbs"), ("multinomials",),
                              ("jsom", "--topics", "4")):
            with self.subTest(method=[method, *more]):
                command = [method, "X.npy", "-k", "3", "--restarts", "7", *more]
                name = "-".join([method, *more])
                self.succeed(*command, "--out", f"whole-{name}")
                for index in (2, 3, 1):
                    self.assertEqual(self.succeed(*command, "--out", name, "--shard", f"{index}/3",
                                                  "--json").json()["total"], 3 if index == 3 else 2)
                self.succeed(*command, "--out", name, "--merge")
                self.same_run(name, f"whole-{name}")

    def test_lowest_of_equal_restarts_wins(self):
        """All samples are the same: every restart has the same objective."""
        self.save("X.npy", np.ones((10, 4), np.float32))
        command = ["kmodes", "X.npy", "-k", "1", "--restarts", "4", "--out", "run"]
        for index in (2, 1):
            self.succeed(*command, "--shard", f"{index}/2")
        self.assertEqual(self.succeed(*command, "--merge", "--json").json()["restart"], 0)

    def test_other_data_and_given_starts_are_refused(self):
        command = ["kmodes", "X.npy", "-k", "2", "--out", "run"]
        self.succeed(*command, "--shard", "1/2")
        self.save("w.npy", np.ones(60))
        self.assertIn("belongs to a list of restarts of other data",
                      self.fail_with(2, *command, "--weights", "w.npy", "--shard", "1/2"))
        self.save("modes.npy", np.load(self.folder / "X.npy")[:2])
        self.assertIn("initial_modes makes it a single start", self.fail_with(
            2, *command, "--initial-modes", "modes.npy", "--shard", "1/2"))


class ReproduceShardsTest(CliTest):
    def test_experiments_are_divided(self):
        """Without data every experiment is skipped, and says so."""
        names = [line.split()[1] for line in self.succeed("reproduce").out.splitlines()
                 if line.startswith("  dlgmm ")]
        skipped = []
        for index in range(1, 4):
            outcome = self.run_milieu("reproduce", "dlgmm", "--data", "none", "--out", "figures", "--shard",
                                      f"{index}/3")
            skipped.append(re.findall(r"skipped dlgmm ([\w-]+)", outcome.err))
        self.assertEqual(sum(skipped, []), names)
        self.assertTrue(all(skipped), skipped)
        self.assertIn("give only one of --shard and --resume", self.fail_with(
            2, "reproduce", "dlgmm", "--shard", "1/2", "--resume", "kept"))


if __name__ == "__main__":
    unittest.main()
