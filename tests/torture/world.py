# SPDX-License-Identifier: Apache-2.0
"""The small world that torture runs in: data, jobs of the program, and their results as digests."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
from PIL import Image

PROGRAM = os.environ.get("MILIEU_PROGRAM", "build/release/bin/milieu")
TIMEOUT = 120

# Times and numbers of threads; everything else must be equal to the byte.
TIMES = re.compile(
    rb'"(seconds|cpu_seconds|threads|num_threads|created|started)": ?[-0-9.e+]+|"absolute_source": ?"[^"]*"')
PAGE_TIMES = re.compile(rb"[0-9.]+ ?(ms|s|seconds?)\b")


@dataclasses.dataclass
class Job:
    """A command whose results are `outputs`, below the folder it runs in."""

    name: str
    command: list
    outputs: tuple = ("run",)
    kept: tuple = ()  # files that carry work from one run to the next
    changes: str = ""  # an input that can be replaced between two runs


JOBS = [
    Job("kmeans", ["kmeans", "X.npy", "-k", "4", "--out", "run"], changes="X.npy"),
    Job("gmm", ["gmm", "X.npy", "-k", "3", "--out", "run"], changes="X.npy"),
    Job("ncut", ["ncut", "X.npy", "-k", "3", "--out", "run"]),
    Job("agglomerative", ["agglomerative", "X.npy", "-k", "3", "--out", "run"]),
    Job("cac", ["cac", "--view", "X.npy", "--view", "V.npy", "--phrases", "3", "--out", "run"]),
    Job("dcp", ["dcp", "X.npy", "--labels", "y.npy", "--select", "0,1", "--context-select", "2",
                "--out", "run"]),
    Job("ranking", ["dcp", "X.npy", "--labels", "y.npy", "--select", "0,1", "--rank-contexts",
                    "--resume", "ranking.json", "--out", "run"],
        kept=("ranking.json",), changes="X.npy"),
    Job("icc", ["icc", "X.npy", "--labels", "y.npy", "--out", "run"], changes="y.npy"),
    Job("exemplar", ["exemplar", "X.npy", "--out", "run"], changes="X.npy"),
    Job("learn", ["exemplar", "learn", "X.npy:y.npy", "--out", "run"]),
    Job("topics", ["topics", "counts.npy", "-k", "3", "--out", "run"]),
    Job("dlgmm", ["dlgmm", "photos", "--words", "8", "--clusters", "3", "--out", "run"],
        changes="photos/a/0.png"),
    Job("features", ["features", "photos", "--feature", "gist,dense-sift:words=12", "--out", "rows"],
        outputs=("rows",), changes="photos/b/1.png"),
    Job("image-kmeans", ["kmeans", "photos", "--feature", "lbp", "-k", "3", "--out", "run"],
        changes="photos/c/2.png"),
    Job("predict", ["predict", "model", "X.npy", "--out", "labels.csv"], outputs=("labels.csv",)),
    Job("demo", ["demo", "--out", "run"]),
]
BY_NAME = {job.name: job for job in JOBS}


def environment(folder, **more):
    keep = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS") if name in os.environ}
    return {**keep, "HOME": str(folder), "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C", "XDG_CONFIG_HOME": os.devnull,
            "MILIEU_CACHE": str(folder / "cache"), **more}


def make_photos(folder, seed=0):
    """Three classes of small images in three formats."""
    random = np.random.default_rng(seed)
    for number, (name, ending) in enumerate([("a", "png"), ("b", "png"), ("c", "png")]):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i in range(5):
            y, x = np.mgrid[0:48, 0:64]
            waves = 128 + 90 * np.sin((x * (number + 1) + y * (3 - number)) / 6 + i)
            pixels = np.clip(waves + random.normal(0, 15, waves.shape), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.{ending}")


def make_arrays(folder, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(240) % 4
    X = (np.eye(4, 6)[y] * 6 + random.normal(0, 1.2, (240, 6))).astype(np.float32)
    np.save(folder / "X.npy", X)
    np.save(folder / "V.npy", (X[:, ::-1] + random.normal(0, 1, X.shape)).astype(np.float32))
    np.save(folder / "y.npy", y.astype(np.int64))
    np.save(folder / "counts.npy", random.poisson(np.eye(4, 12)[y] * 5 + 0.5).astype(np.float32))


@dataclasses.dataclass
class Ended:
    code: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def text(self):
        return self.err.decode(errors="replace").strip()


def limits(**values):
    """A function for the child: address space, data or file size in bytes."""
    def apply():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, value in values.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    return apply


def start(folder, command, env=None, prepare=None):
    return subprocess.Popen([os.path.abspath(PROGRAM), *command], cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=env or environment(folder),
                            preexec_fn=prepare or limits())


def finish(process, timeout=TIMEOUT):
    begin = time.monotonic()
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += b"\n(torture: killed, it did not end by itself)"
        return Ended(-999, out, err, time.monotonic() - begin)
    return Ended(process.returncode, out, err, time.monotonic() - begin)


def run(folder, command, env=None, prepare=None, timeout=TIMEOUT):
    return finish(start(folder, command, env, prepare), timeout)


def content(path):
    data = path.read_bytes()
    if path.suffix in (".json", ".html", ".csv", ".txt"):
        data = TIMES.sub(b'"time": 0', data)
    if path.suffix == ".html":
        data = PAGE_TIMES.sub(b"0 s", data)
    return data


def digest(folder, outputs):
    """Name and checksum of every file of the outputs; an output that is missing has none."""
    found = {}
    for output in outputs:
        top = folder / output
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in files:
            if path.is_file() and ".milieu" not in path.relative_to(folder).parts:
                name = str(path.relative_to(folder))
                found[name] = hashlib.sha256(content(path)).hexdigest()
    return found


def leftovers(folder):
    """Temporary files and folders that a run has left behind."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if path.name.startswith(".milieu-tmp-"))


class World:
    """A master copy of the inputs, and what every job makes of them undisturbed."""

    def __init__(self, folder, jobs=None):
        self.folder = pathlib.Path(folder)
        self.master = self.folder / "master"
        self.master.mkdir(parents=True)
        make_arrays(self.master)
        make_photos(self.master / "photos")
        done = run(self.master, ["kmeans", "X.npy", "-k", "4", "--out", "model"])
        if done.code:
            raise SystemExit(f"torture: the program does not work: {done.text}")
        shutil.rmtree(self.master / "cache", ignore_errors=True)
        self.expected, self.seconds, self.files = {}, {}, {}
        for job in jobs or JOBS:
            self._try(job)

    def _try(self, job):
        place = self.fresh(f"reference-{job.name}")
        done = run(place, job.command)
        if done.code:
            raise SystemExit(f"torture: {job.name} does not work: {done.text}")
        self.expected[job.name] = digest(place, job.outputs)
        self.seconds[job.name] = done.seconds
        self.files[job.name] = sorted(str(p.relative_to(place)) for p in place.iterdir())
        again = self.fresh(f"again-{job.name}")
        run(again, job.command)
        if digest(again, job.outputs) != self.expected[job.name]:
            raise SystemExit(f"torture: {job.name} differs between two undisturbed runs: "
                             f"{difference(digest(again, job.outputs), self.expected[job.name])}")
        shutil.rmtree(again)

    def fresh(self, name):
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.master, place)
        return place

    def expected_after(self, job, change):
        """The digest of an undisturbed run after `change(folder)`."""
        place = self.fresh("changed")
        change(place)
        done = run(place, job.command)
        return digest(place, job.outputs) if done.code == 0 else None


def difference(found, expected):
    names = sorted(name for name in found.keys() | expected.keys()
                   if found.get(name) != expected.get(name))
    return ", ".join(f"{name} ({'missing' if name not in found else 'differs'})"
                     for name in names[:6]) or "nothing"


def write_json(path, value):
    pathlib.Path(path).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
