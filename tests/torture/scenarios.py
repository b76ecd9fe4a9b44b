# SPDX-License-Identifier: Apache-2.0
"""Scenarios of one process: each is a function (world, random) that does one trial and returns
None, or what went wrong. SCENARIOS holds them with the promise they test."""

import errno
import os
import pathlib
import shutil
import signal
import time

import numpy as np

import world as w

SHIM = os.environ.get("MILIEU_TORTURE_SHIM", "faults.so")
SIGNALLED = "ended by signal"


def pick(random, names=None):
    jobs = w.JOBS if names is None else [w.BY_NAME[name] for name in names]
    return jobs[random.integers(len(jobs))]


def manners(done, codes=(0, 1, 2)):
    """What is wrong with the way a process ended."""
    if done.code < 0:
        return f"{SIGNALLED} {-done.code}: {done.text[-300:]}"
    if done.code not in codes:
        return f"exit code {done.code}: {done.text[-300:]}"
    if done.code and not done.text:
        return f"exit code {done.code} without a message"
    if "internal error" in done.text or "terminate called" in done.text:
        return f"no clear message: {done.text[-300:]}"
    return None


def whole_or_absent(world, job, place):
    """Outputs are those of an undisturbed run, or are not there."""
    found = w.digest(place, job.outputs)
    if found and found != world.expected[job.name]:
        return f"half-written: {w.difference(found, world.expected[job.name])}"
    return None


def remove_outputs(job, place):
    for output in job.outputs:
        if job.name == "features":  # which resumes into its folder
            continue
        if (place / output).is_dir():
            shutil.rmtree(place / output)
        else:
            (place / output).unlink(missing_ok=True)


def clean_rerun(world, job, place, expected=None):
    """The same command again gives what it always gives, and leaves nothing behind."""
    remove_outputs(job, place)
    done = w.run(place, job.command)
    if done.code:
        return f"the next run fails: {done.text[-400:]}"
    expected = world.expected[job.name] if expected is None else expected
    found = w.digest(place, job.outputs)
    if found != expected:
        return f"the next run differs: {w.difference(found, expected)}"
    left = w.leftovers(place)
    return f"left behind: {', '.join(left[:5])}" if left else None


def kill_at_random_moment(world, random):
    job = pick(random)
    place = world.fresh("kill")
    process = w.start(place, job.command)
    time.sleep(random.uniform(0, 1.1 * world.seconds[job.name]))
    process.kill()
    w.finish(process)
    return job.name, whole_or_absent(world, job, place) or clean_rerun(world, job, place)


def shim(place, plan):
    return w.environment(place, LD_PRELOAD=os.path.abspath(SHIM), MILIEU_FAULT=plan)


def count_calls(world, job, counts={}):
    """How many file system calls the job makes."""
    if job.name not in counts:
        place = world.fresh("count")
        env = w.environment(place, LD_PRELOAD=os.path.abspath(SHIM),
                            MILIEU_FAULT_COUNT=str(place / "count.txt"))
        w.run(place, job.command, env)
        counts[job.name] = int((place / "count.txt").read_text())
    return counts[job.name]


def kill_at_file_call(world, random):
    job = pick(random)
    place = world.fresh("call")
    at = random.integers(1, count_calls(world, job) + 1)
    w.run(place, job.command, shim(place, f"kill:{at}"))
    bad = whole_or_absent(world, job, place) or clean_rerun(world, job, place)
    return f"{job.name}, call {at}", bad


def disk_error(world, random):
    job = pick(random)
    place = world.fresh("disk")
    kind = ["fail", "full", "short"][random.integers(3)]
    number = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT][random.integers(4)]
    at = random.integers(1, count_calls(world, job) + 1)
    done = w.run(place, job.command, shim(place, f"{kind}:{at}:{number}"))
    what = f"{job.name}, {kind} {os.strerror(number) if kind != 'short' else ''} at call {at}"
    bad = manners(done, (0, 1)) or whole_or_absent(world, job, place)
    if not bad and done.code == 0 and w.digest(place, job.outputs) != world.expected[job.name]:
        bad = "exit code 0, but not the results"
    return what, bad or clean_rerun(world, job, place)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LONG = {
    "kmeans": ["kmeans", "{}.npy", "-k", "200", "--restarts", "50"],
    "gmm": ["gmm", "{}.npy", "-k", "40", "--restarts", "20"],
    "ncut": ["ncut", "{}.npy", "-k", "10"],
    "agglomerative": ["agglomerative", "{}.npy", "-k", "10"],
    "meanshift": ["meanshift", "{}.npy"],
    "kmedoids": ["kmedoids", "{}.npy", "-k", "30"],
    "exemplar": ["exemplar", "{}.npy"],
    "dcp": ["dcp", "{}.npy", "--context", "C.npy", "-k", "4", "--restarts", "200"],
    "icc": ["icc", "{}.npy", "--labels", "{}y.npy", "--dims", "3"],
    "cac": ["cac", "--view", "{}.npy", "--view", "{}.npy", "--phrases", "10"],
    "topics": ["topics", "{}counts.npy", "-k", "30"],
    "jsom": ["jsom", "{}counts.npy", "-k", "10"],
    "dlgmm": ["dlgmm", "{}.npy", "--words", "100", "--clusters", "10"],
}


def long_data(world):
    """Rows for jobs of many seconds: n and twice as many."""
    place = world.folder / "long"
    if place.exists():
        return place
    place.mkdir()
    random = np.random.default_rng(1)
    for name, n in (("n", 6000), ("2n", 12000)):
        y = random.integers(0, 12, n)
        X = random.normal(0, 1, (n, 16)) + np.eye(12, 16)[y] * 3
        np.save(place / f"{name}.npy", X.astype(np.float32))
        np.save(place / f"{name}y.npy", y)
        np.save(place / f"{name}counts.npy",
                random.poisson(1, (n // 2, 150)).astype(np.float32))
    np.save(place / "C.npy", random.normal(0, 1, (4000, 16)).astype(np.float32))
    return place


def interrupt(world, random):
    """Ctrl-C is answered by 0.2 s of work (0.3 is asked of a loaded machine, in CPU seconds per
    thread), with exit code 130, at any size."""
    name = list(LONG)[random.integers(len(LONG))]
    size = ["n", "2n"][random.integers(2)]
    place = long_data(world)
    command = [part.replace("{}", size) for part in LONG[name]] + ["--threads", "1", "--quiet"]
    process = w.start(place, command)
    time.sleep(random.uniform(0.1, 6))
    if process.poll() is not None:
        w.finish(process)
        return f"{name} {size} (ended first)", None
    before = cpu_seconds(process.pid)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    after = os.wait4(process.pid, 0)[2]
    process.returncode = 0
    spent = after.ru_utime + after.ru_stime - before
    bad = f"{spent:.2f} CPU s after SIGINT" if spent > 0.3 else None
    return f"{name} {size}: {spent:.2f} s", bad


def interrupted_run_folder(world, random):
    """After Ctrl-C there is no run folder or a valid one, and the next run is the usual one."""
    job = pick(random, [j.name for j in w.JOBS if j.outputs == ("run",)])
    place = world.fresh("interrupt")
    process = w.start(place, job.command)
    time.sleep(random.uniform(0, 1.1 * world.seconds[job.name]))
    process.send_signal(signal.SIGINT)
    done = w.finish(process)
    # Before the program asks for signals, it ends by the signal.
    bad = None if done.code == -signal.SIGINT else manners(done, (0, 130))
    if not bad and (place / "run").exists() and job.name != "demo":
        told = w.run(place, ["info", "run"])
        bad = f"the run folder is not valid: {told.text}" if told.code else None
    return job.name, bad or clean_rerun(world, job, place)


def memory_limit(world, random):
    job = pick(random)
    place = world.fresh("memory")
    kind = ["AS", "DATA"][random.integers(2)]
    limit = int(2 ** random.uniform(24, 31))
    done = w.run(place, job.command, prepare=w.limits(**{kind: limit}))
    what = f"{job.name}, {kind} {limit >> 20} MB"
    if done.code == 127 or "loading shared libraries" in done.text:
        return what + " (not loaded)", None
    bad = manners(done, (0, 1)) or whole_or_absent(world, job, place)
    return what, bad or clean_rerun(world, job, place)


def threads(world, random):
    job = pick(random, [j.name for j in w.JOBS if j.name != "demo"])
    place = world.fresh("threads")
    number = str(random.integers(1, 9))
    done = w.run(place, job.command + ["--threads", number])
    found = w.digest(place, job.outputs)
    same = {name: found.get(name) for name in found if not name.endswith("options.json")}
    wanted = {name: value for name, value in world.expected[job.name].items() if name in same}
    bad = manners(done, (0,))
    if not bad and same != wanted:
        bad = f"other bytes with {number} threads: {w.difference(same, wanted)}"
    return f"{job.name}, {number} threads", bad
