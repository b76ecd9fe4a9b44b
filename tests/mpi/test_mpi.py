#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""milieu-mpi against milieu: the same run folder for any number of ranks, one message for an error,
nothing left behind by a rank that dies.

    test_mpi.py few    2 and 3 ranks, one case per method
    test_mpi.py all    1, 2, 3 and 5 ranks, sizes around the borders of shards, deaths at random moments
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

MILIEU = os.environ["MILIEU_PROGRAM"]
MILIEU_MPI = os.environ["MILIEU_MPI"]
MPIRUN = os.environ["MILIEU_MPIRUN"]
ALL = len(sys.argv) > 1 and sys.argv[1] == "all"
RANKS = [1, 2, 3, 5] if ALL else [2, 3]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}


def points(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) + 5 * np.eye(d)[rng.integers(0, d, n)]).astype(np.float32)


def counts(n, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(20, 0.2), size=3)
    return np.stack([rng.multinomial(40, shares[i % 3]) for i in range(n)]).astype(np.float32)


def mpirun(ranks, words, folder, program=None, **more):
    command = [MPIRUN, "--oversubscribe", "-n", str(ranks), *(program or [MILIEU_MPI]), *words]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=300, check=False, **more)


def content(run):
    """Every file of a run folder; what a clock says is left out."""
    files = {}
    for path in sorted(run.rglob("*")):
        if path.is_file() and path.name != "report.html":  # it holds the summary and its seconds
            files[path.name] = path.read_bytes()
    summary = json.loads(files["summary.json"])
    summary.pop("seconds")
    files["summary.json"] = summary
    return files


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def save(self, name, array):
        np.save(self.folder / name, array)
        return name


class SameFolder(Folder):
    def check(self, words):
        for run in [*self.folder.glob("alone"), *self.folder.glob("ranks*")]:
            shutil.rmtree(run)
        alone = subprocess.run([MILIEU, *words, "--out", "alone"], cwd=self.folder, text=True,
                               capture_output=True, check=False)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        expected = content(self.folder / "alone")
        for ranks in RANKS:
            with self.subTest(words=words, ranks=ranks):
                out = f"ranks{ranks}"
                shared = mpirun(ranks, [*words, "--out", out], self.folder)
                self.assertEqual(shared.returncode, 0, shared.stderr)
                found = content(self.folder / out)
                self.assertEqual(sorted(found), sorted(expected))
                for name, data in expected.items():
                    self.assertEqual(found[name], data, name)

    def sizes(self, block):
        """Fewer rows than ranks, a shard of one row, a last shard that is short, many shards."""
        return [3, 2 * block + 1, 5 * block - 7, 40 * block] if ALL else [3 * block + 1]

    def check_sizes(self, block, make, words):
        for n in self.sizes(block):
            name = self.save(f"x{n}.npy", make(n))
            self.check([words[0], name, *words[1:]])

    def test_kmeans(self):
        self.check_sizes(1024, points, ["kmeans", "-k", "3", "--restarts", "2"])

    def test_kmeans_with_weights(self):
        n = 5000
        weights = np.random.default_rng(1).random(n)
        weights[:2000] = 0
        self.save("w.npy", weights)
        name = self.save("x.npy", points(n))
        self.check(["kmeans", name, "-k", "5", "--weights", "w.npy", "--distance", "cosine"])

    def test_gmm(self):
        self.check_sizes(2048, points, ["gmm", "-k", "3", "--max-iterations", "5"])

    def test_multinomials(self):
        self.check_sizes(64, counts, ["multinomials", "-k", "3"])

    def test_topics(self):
        self.check_sizes(32, counts, ["topics", "-k", "3", "--max-iterations", "4"])

    def test_bags(self):
        self.check_sizes(1024, counts, ["bags", "-k", "3", "--restarts", "1"])

    def test_icc(self):
        self.check_sizes(16384, lambda n: points(n, 3), ["icc", "--grid", "40x30"])
        self.save("classes.npy", np.arange(3000) % 3)
        name = self.save("x.npy", points(3000, 3))
        self.check(["icc", name, "--labels", "classes.npy", "--grid", "40x30"])

    def test_dcp(self):
        self.save("z.npy", points(900, seed=1))
        self.save("w.npy", np.random.default_rng(2).random(5000))
        name = self.save("x.npy", points(5000))
        self.check(["dcp", name, "--context", "z.npy", "-k", "2", "--restarts", "2",
                    "--weights", "w.npy"])

    def test_cac(self):
        self.save("places.npy", np.arange(2400).reshape(1200, 2).astype(np.float32))
        name = self.save("x.npy", points(1200))
        self.check(["cac", name, "--positions", "places.npy", "--restarts", "1"])

    def images(self, n, seed=0):
        """Images of 0 to 40 patches."""
        counts = np.random.default_rng(seed).integers(0, 41, n)
        counts[0] = 40
        self.save("offsets.npy", np.concatenate([[0], np.cumsum(counts)]))
        return self.save("patches.npy", points(int(counts.sum()), 4, seed))

    def check_images(self, n, more):
        name = self.images(n)
        self.check(["dlgmm", name, "--offsets", "offsets.npy", "--words", "6", "--clusters", "3",
                    "--max-iterations", "3", "--restarts", "2", *more])

    def test_dlgmm(self):
        self.check_images(300, ["--probabilities"])

    def test_dlgmm_in_batches(self):
        self.check_images(120, ["--batch-images", "25"])

    @unittest.skipUnless(ALL, "slow")
    def test_dlgmm_of_few_images(self):
        for n in (5, 17):
            self.check_images(n, [])

    def test_a_folder_of_shards(self):
        """The bytes of the folder are those of the folder on one machine; labels those of one file."""
        x = points(9000)
        (self.folder / "shards").mkdir()
        for s, part in enumerate(np.split(x, [2000, 2000, 5001])):  # one is empty
            np.save(self.folder / "shards" / f"rows-{s}.npy", part)
        self.check(["kmeans", "shards", "-k", "4", "--restarts", "1"])
        name = self.save("x.npy", x)
        whole = mpirun(2, ["kmeans", name, "-k", "4", "--restarts", "1", "--out", "whole"], self.folder)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for file in ("labels.csv", "model.safetensors"):
            self.assertEqual((self.folder / "whole" / file).read_bytes(),
                             (self.folder / "alone" / file).read_bytes())

    def test_truth_is_compared(self):
        self.save("truth.npy", np.arange(3000) % 4)
        name = self.save("x.npy", points(3000))
        self.check(["kmeans", name, "-k", "4", "--labels", "truth.npy"])


class Refusals(Folder):
    def refused(self, ranks, words, code, text, **more):
        result = mpirun(ranks, words, self.folder, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [line for line in result.stderr.splitlines() if text in line]
        self.assertEqual(len(lines), 1, result.stderr)

    def test_an_error_of_all_ranks_is_said_once(self):
        self.refused(3, ["kmeans", "nothing.npy"], 1, "nothing.npy does not exist")
        name = self.save("x.npy", points(100))
        self.refused(3, ["kmeans", name, "-k", "0"], 2, "num_clusters")

    def test_an_error_of_one_rank_ends_all(self):
        bad = points(6000)
        bad[5999, 1] = np.nan
        name = self.save("x.npy", bad)
        self.refused(3, ["gmm", name, "-k", "2"], 1, "NaN at row 5999, column 1")

    def test_methods_that_stay_on_one_machine_say_so(self):
        name = self.save("x.npy", points(100))
        self.refused(2, ["exemplar", name], 2, "exemplar runs on one rank, here are 2")
        self.refused(2, ["icc", name, "--climb", "free"], 2, "climb free runs on one rank")
        self.refused(2, ["dcp", name, "--context", name, "--rank-contexts"], 2,
                     "rank_contexts is divided by --shard")
        self.refused(2, ["ncut", name], 2, "ncut runs on one rank, here are 2")
        self.refused(2, ["info", name], 2, "milieu-mpi runs methods")

    def test_ranks_that_see_different_files_are_refused(self):
        for rank in range(2):
            (self.folder / str(rank)).mkdir()
            np.save(self.folder / str(rank) / "x.npy", points(3000, seed=rank))
        script = 'cd "$OMPI_COMM_WORLD_RANK" && exec "$@"'
        self.refused(2, ["kmeans", "x.npy"], 1, "x.npy is not the same on ranks 0 and 1",
                     program=["sh", "-c", script, "sh", MILIEU_MPI])

    def shards(self, *arrays, folder="shards"):
        place = self.folder / folder
        place.mkdir(parents=True)
        for s, array in enumerate(arrays):
            np.save(place / f"rows-{s}.npy", array)
        return folder

    def test_shards_that_do_not_belong_together_are_refused(self):
        name = self.shards(points(50), points(50, 5))
        self.refused(3, ["kmeans", name], 1, "shards must have one width")
        np.save(self.folder / name / "rows-1.npy", points(50).astype(np.float64))
        self.refused(3, ["kmeans", name], 1, "shards must have one type")
        (self.folder / name / "rows-1.npy").rename(self.folder / name / "rows-2.npy")
        self.refused(3, ["kmeans", name], 1, "shard 1 is missing")

    def test_ranks_that_see_different_shards_are_refused(self):
        for rank in range(2):
            self.shards(points(3000), points(100, seed=rank), folder=f"{rank}/shards")
        script = 'cd "$OMPI_COMM_WORLD_RANK" && exec "$@"'
        self.refused(2, ["kmeans", "shards"], 1, "shards is not the same on ranks 0 and 1",
                     program=["sh", "-c", script, "sh", MILIEU_MPI])

    def test_ranks_that_see_different_numbers_of_shards_are_refused(self):
        for rank in range(2):
            self.shards(*[points(3000)] * (rank + 1), folder=f"{rank}/shards")
        script = 'cd "$OMPI_COMM_WORLD_RANK" && exec "$@"'
        self.refused(2, ["kmeans", "shards"], 1, "shards is not the same on ranks 0 and 1",
                     program=["sh", "-c", script, "sh", MILIEU_MPI])

    def test_help_and_version_are_printed_once(self):
        result = mpirun(3, ["--version"], self.folder)
        self.assertEqual(result.stdout.count("milieu"), 1, result.stdout)


@unittest.skipUnless(ALL, "slow")
class Deaths(Folder):
    """A rank that dies ends the job; no half-written folder is left, and the same command works."""

    def kill_one_rank(self, words, wait, rng):
        """Starts a job, kills one rank after `wait()`; false when the job was over by then."""
        job = subprocess.Popen([MPIRUN, "--oversubscribe", "-n", "3", MILIEU_MPI, *words],
                               cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        wait(job)
        ranks = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True,
                               check=False).stdout.split()
        was_running = job.poll() is None and bool(ranks)
        if was_running:
            try:
                os.kill(int(rng.choice(ranks)), signal.SIGKILL)
            except ProcessLookupError:
                was_running = False
        code = job.wait(timeout=60)
        if was_running and code == 0:
            was_running = False  # it had just ended
        return was_running

    def test_a_killed_rank_leaves_nothing_behind(self):
        name = self.save("x.npy", points(60000, 16))
        words = ["kmeans", name, "-k", "40", "--restarts", "3", "--out", "run"]
        rng = random.Random(1)
        killed = 0
        for _ in range(10):
            killed += self.kill_one_rank(words, lambda _: time.sleep(rng.uniform(0.3, 1.2)), rng)
            left = [path.name for path in self.folder.iterdir() if path.name != name]
            if left:  # the job was over
                self.assertEqual(left, ["run"])
                content(self.folder / "run")
                subprocess.run(["rm", "-r", str(self.folder / "run")], check=True)
        self.assertGreater(killed, 0)
        self.assertEqual(mpirun(2, words, self.folder).returncode, 0)

    def check_resume(self, words):
        """Killed several times, then finished on another number of ranks: the undisturbed bytes."""
        words = [*words, "--checkpoint", "state"]
        state = self.folder / "state"
        alone = subprocess.run([MILIEU, *words, "--out", "alone", "-q"], cwd=self.folder, check=False)
        self.assertEqual(alone.returncode, 0)
        self.assertFalse(state.exists())
        rng = random.Random(2)

        def wait_for_new_state(job):
            before = state.read_bytes() if state.exists() else b""
            while job.poll() is None and (not state.exists() or state.read_bytes() == before):
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.5))

        killed = sum(self.kill_one_rank([*words, "--out", "run"], wait_for_new_state, rng)
                     for _ in range(3))
        self.assertGreater(killed, 0)
        if not (self.folder / "run").exists():
            self.assertTrue(state.exists())
            self.assertEqual(mpirun(2, [*words, "--out", "run"], self.folder).returncode, 0)
        self.assertFalse(state.exists())
        self.assertEqual(content(self.folder / "run"), content(self.folder / "alone"))
        leftovers = [path.name for path in self.folder.iterdir()]
        self.assertEqual(sorted(set(leftovers) - {"offsets.npy"}), ["alone", "run", "x.npy"])

    def test_a_killed_kmeans_continues(self):
        self.save("x.npy", points(400000, 24))
        self.check_resume(["kmeans", "x.npy", "-k", "200", "--restarts", "3"])

    def test_a_killed_gmm_continues(self):
        self.save("x.npy", points(100000, 16))
        self.check_resume(["gmm", "x.npy", "-k", "20", "--rel-tolerance", "0",
                           "--max-iterations", "60"])

    def test_a_killed_dlgmm_continues(self):
        self.save("offsets.npy", np.arange(0, 60001, 30))
        self.save("x.npy", points(60000, 16))
        self.check_resume(["dlgmm", "x.npy", "--offsets", "offsets.npy", "--words", "60",
                           "--clusters", "6", "--rel-tolerance", "0", "--max-iterations", "40"])

    def test_a_state_of_other_data_is_refused(self):
        self.save("x.npy", points(300000, 24))
        words = ["kmeans", "x.npy", "-k", "200", "--checkpoint", "state"]

        def wait_for_state(job):
            while job.poll() is None and not (self.folder / "state").exists():
                time.sleep(0.01)

        self.assertTrue(self.kill_one_rank(words, wait_for_state, random.Random(3)))
        self.save("x.npy", points(300000, 24, seed=1))
        result = mpirun(2, words, self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.count("state is the checkpoint of another job"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
