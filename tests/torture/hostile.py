# SPDX-License-Identifier: Apache-2.0
"""Scenarios of hostile and changing files, and of processes that meet."""

import json
import os
import shutil
import time

import numpy as np
from PIL import Image

import world as w
from scenarios import clean_rerun, manners, pick, remove_outputs, whole_or_absent

ODD_NAMES = ["a\nb.png", "a\rb.png", "\x1b[31mred.png", "del\x7f.png", "quote'\".png", "=1+1.png",
             "@cmd.png", "+x.png", "-rf.png", "semi;colon.png", "$(true).png", "tab\tname.png",
             "ünï.png", "日本.png", "percent%41.png", "<b>x<b>.png", "a,b.png", " .png", "x" * 200 + ".png"]
ODD_BYTES = [b"\xff\xfe.png", b"\xc3\x28.png"]


def mutate(data, random):
    """Bytes of a file as a broken disk or a hostile sender would give them."""
    data = bytearray(data)
    kind = random.integers(7)
    if kind == 0 or not data:
        return bytes(data[:random.integers(len(data) + 1)])
    if kind == 1:
        return bytes(data) + random.bytes(random.integers(1, 4096))
    place = int(random.integers(len(data)))
    if kind == 2:
        size = int(random.integers(1, 4097))
        data[place:place + size] = b"\0" * len(data[place:place + size])
    elif kind == 3:
        del data[place:place + int(random.integers(1, 64))]
    elif kind == 4:
        data[place:place] = random.bytes(random.integers(1, 64))
    else:
        for _ in range(random.integers(1, 9)):  # early bytes matter most: headers are there
            at = int(min(len(data) - 1, random.exponential(len(data) / (4 if kind == 5 else 40))))
            data[at] = int(random.integers(256))
    return bytes(data)


READERS = {
    "X.npy": ["kmeans", "X.npy", "-k", "4", "--out", "run"],
    "X.csv": ["kmeans", "X.csv", "-k", "4", "--out", "run"],
    "y.npy": ["icc", "X.npy", "--labels", "y.npy", "--out", "run"],
    "X.npz": ["kmeans", "photos", "--vectors", "X.npz", "-k", "2", "--out", "run"],
    "photos/a/0.png": ["kmeans", "photos", "--feature", "tiny", "-k", "3", "--out", "run"],
    "photos/a/0.jpg": ["kmeans", "photos", "--feature", "tiny", "-k", "3", "--out", "run"],
    "photos/a/0.webp": ["kmeans", "photos", "--feature", "tiny", "-k", "3", "--out", "run"],
    "photos/a/0.tiff": ["kmeans", "photos", "--feature", "tiny", "-k", "3", "--out", "run"],
    "model/model.safetensors": w.BY_NAME["predict"].command,
    "model/options.json": ["kmeans", "--options", "model/options.json", "--out", "run"],
    "model/summary.json": ["info", "model"],
    "model/labels.csv": ["score", "model", "y.npy"],
    "soft/columns.safetensors": ["info", "soft"],
    "ranking.json": w.BY_NAME["ranking"].command,
    "groups.json": ["cac", "X.npy", "--groups", "groups.json", "--phrases", "2", "--out", "run"],
}
# Files with checksums: a damaged one is refused or made again, never believed.
CHECKED = {"model/model.safetensors": "predict", "ranking.json": "ranking"}


def make_readable(world, place, name):
    """The files of READERS that the master copy does not have."""
    if name == "X.csv":
        np.savetxt(place / name, np.load(place / "X.npy"), delimiter=",", fmt="%.6g")
    elif name == "X.npz":
        np.savez(place / name, np.random.default_rng(0).normal(size=(15, 4)).astype(np.float32))
    elif name.startswith("photos/") and not name.endswith(".png"):
        with Image.open(place / "photos/a/0.png") as image:
            image.save(place / name)
    elif name.startswith("soft/"):
        w.run(place, [*w.BY_NAME["dcp"].command[:-1], "soft"])
    elif name == "ranking.json":
        w.run(place, w.BY_NAME["ranking"].command)
        shutil.rmtree(place / "run", ignore_errors=True)
    elif name == "groups.json":
        (place / name).write_text(json.dumps([[i, i + 1, i + 2] for i in range(0, 200, 3)]))


def damaged_file(world, random):
    name = list(READERS)[random.integers(len(READERS))]
    place = world.fresh("damaged")
    make_readable(world, place, name)
    original = (place / name).read_bytes()
    damaged = mutate(original, random)
    (place / name).write_bytes(damaged)
    done = w.run(place, READERS[name], prepare=w.limits(AS=6 << 30), timeout=60)
    bad = manners(done)
    if not bad and done.code == 0 and name in CHECKED and damaged != original:
        bad = whole_or_absent(world, w.BY_NAME[CHECKED[name]], place)
    if bad:
        shutil.copy(place / name, world.folder / f"kept-{name.replace('/', '_')}-{time.time_ns()}")
    return name, bad


def odd_names(world, random):
    place = world.fresh("names")
    photos = place / "photos"
    source = (photos / "a/0.png").read_bytes()
    chosen = random.choice(len(ODD_NAMES), 4, replace=False)
    for i in chosen:
        target = os.path.join(photos, ["a", ODD_NAMES[(i + 1) % len(ODD_NAMES)][:-4]][i % 2])
        os.makedirs(target, exist_ok=True)
        with open(os.path.join(target, ODD_NAMES[i]), "wb") as file:
            file.write(source)
    with open(os.path.join(os.fsencode(photos / "b"), ODD_BYTES[random.integers(2)]), "wb") as file:
        file.write(source)
    os.symlink("loop", photos / "loop")
    os.mkfifo(photos / "c/pipe.png")
    done = w.run(place, ["kmeans", "photos", "--feature", "tiny", "-k", "3", "--out", "run"],
                 timeout=60)
    bad = manners(done, (0, 1))
    if not bad and done.code == 0:
        for command in (["info", "run"], ["predict", "run", "photos", "--out", "again.csv"]):
            told = w.run(place, command, timeout=60)
            bad = bad or manners(told, (0, 1))
    return ", ".join(repr(ODD_NAMES[i]) for i in chosen), bad


def replace_input(job, place, random):
    """Replaces the job's input by other content of the same size, with the same times."""
    path = place / job.changes
    old = path.stat()
    if path.suffix == ".npy":
        values = np.load(path)
        np.save(path, values[random.permutation(len(values))])
    else:
        other = sorted(p for p in path.parent.parent.rglob("*.png") if p != path)[random.integers(9)]
        shutil.copy(other, path)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def changed_input(world, random):
    """Work that was kept from other inputs is not used: killed, changed, run again."""
    job = pick(random, [j.name for j in w.JOBS if j.changes])
    seed = int(random.integers(1 << 30))

    def change(folder):
        replace_input(job, folder, np.random.default_rng(seed))

    place = world.fresh("change")
    process = w.start(place, job.command)
    time.sleep(random.uniform(0, 1.2 * world.seconds[job.name]))
    process.kill()
    w.finish(process)
    change(place)
    expected = world.expected_after(job, change)
    remove_outputs(job, place)
    done = w.run(place, job.command)
    if done.code in (1, 2) and job.kept and done.text:  # refused with a message; without them it works
        for name in job.kept:
            (place / name).unlink(missing_ok=True)
        return job.name + " (refused)", clean_rerun(world, job, place, expected)
    bad = manners(done, (0,))
    found = w.digest(place, job.outputs)
    if not bad and found != expected:
        bad = f"stale work was used: {w.difference(found, expected)}"
    return job.name, bad


def two_at_once(world, random):
    """Two processes, one folder: each gives the usual result or says that the other is there."""
    job = pick(random)
    place = world.fresh("two")
    first = w.start(place, job.command)
    time.sleep(random.uniform(0, 0.3 * world.seconds[job.name]))
    second = w.start(place, job.command)
    ended = [w.finish(first), w.finish(second)]
    bad = manners(ended[0]) or manners(ended[1])
    if not bad and all(done.code for done in ended):
        bad = f"neither succeeds: {ended[0].text[-150:]} | {ended[1].text[-150:]}"
    if not bad and w.digest(place, job.outputs) != world.expected[job.name]:
        bad = "other bytes: " + w.difference(w.digest(place, job.outputs), world.expected[job.name])
    left = w.leftovers(place)
    return job.name, bad or (f"left behind: {left[:4]}" if left else None)
