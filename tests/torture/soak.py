#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The explorer under mixed load: runs, cancels, reloads, exports, renames, a folder that changes.
Memory must be flat, no run lost, no child stuck, descriptors constant.

    tests/torture/soak.py --minutes 60
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
METHODS = ["kmeans", "gmm", "ncut", "agglomerative", "kmedoids", "exemplar"]


class Load:
    """Random acts of a user, and what must be true after each."""

    def __init__(self, server, place, random):
        self.server, self.place, self.random = server, place, random
        self.done, self.acts = set(), {}

    def act(self):
        names = ["run", "run", "run", "cancel", "reload", "export", "rename", "delete", "folder"]
        name = names[self.random.integers(len(names))]
        self.acts[name] = self.acts.get(name, 0) + 1
        return getattr(self, name)()

    def start(self):
        method = METHODS[self.random.integers(len(METHODS))]
        body = {"method": method, "set": {"classes": ["a", "b"]},
                "options": {"num_clusters": int(self.random.integers(2, 5)),
                            "seed": int(self.random.integers(1, 1000))}}
        status, answer = self.server.ask("POST", "/api/runs", body)
        return (json.loads(answer)["id"], None) if status == 202 else (None, f"{status}: {answer[:200]}")

    def run(self):
        run, bad = self.start()
        if bad:
            return bad
        state = self.server.wait(run)
        if state != "done":
            return f"run {run} ends as {state}"
        self.done.add(run)
        return None

    def cancel(self):
        run, bad = self.start()
        if bad:
            return bad
        self.server.ask("POST", f"/api/runs/{run}/cancel", {})
        state = self.server.wait(run)
        if state == "done":
            self.done.add(run)
        return None if state in ("done", "cancelled") else f"cancelled run {run} is {state}"

    def reload(self):
        for path in ("/", "/api/collection", "/api/methods", "/api/runs"):
            status, _ = self.server.ask("GET", path)
            if status != 200:
                return f"{path} answers {status}"
        return None

    def pick(self):
        return sorted(self.done)[self.random.integers(len(self.done))] if self.done else None

    def export(self):
        run = self.pick()
        if run is None:
            return None
        status, _ = self.server.ask("GET", f"/api/runs/{run}/file/labels.csv")
        return None if status == 200 else f"labels.csv of {run} answers {status}"

    def rename(self):
        run = self.pick()
        if run is None:
            return None
        status, _ = self.server.ask("PATCH", f"/api/runs/{run}", {"name": f"n{self.random.integers(99)}"})
        return None if status == 200 else f"a new name for {run} answers {status}"

    def delete(self):
        if len(self.done) < 20:  # keeps the list, and so the answers, at one size
            return None
        run = self.pick()
        self.done.discard(run)
        status, _ = self.server.ask("DELETE", f"/api/runs/{run}")
        return None if status == 204 else f"removing {run} answers {status}"

    def folder(self):
        path = self.place / "photos/c/new.png"
        if path.exists():
            path.unlink()
        else:
            shutil.copy(self.place / "photos/c/0.png", path)
        return None

    def lost(self):
        listed = {run["id"] for run in json.loads(self.server.ask("GET", "/api/runs")[1])}
        return sorted(self.done - listed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", default=os.environ.get("MILIEU_PROGRAM",
                                                            "build/release/bin/milieu"))
    args = parser.parse_args()
    os.environ["MILIEU_PROGRAM"] = os.path.abspath(args.program)
    import explorer
    import world as w

    folder = pathlib.Path(tempfile.mkdtemp(prefix="milieu-soak-"))
    place = w.World(folder, jobs=[]).fresh("soak")
    server = explorer.Server(place)
    load = Load(server, place, np.random.default_rng(args.seed))
    failures, samples = [], []
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 60 * args.minutes:
            bad = load.act()
            if bad:
                failures.append(bad)
                print(f"FAILED {bad}", flush=True)
            samples.append((time.monotonic() - begin, server.memory_mb(), server.descriptors(),
                            server.children()))
        lost = load.lost()
    finally:
        ended = server.stop()
    if lost:
        failures.append(f"lost runs: {lost}")
    return report(load, failures, samples, ended, folder)


def report(load, failures, samples, ended, folder):
    """The table; memory and descriptors of the first quarter against the last."""
    quarter = max(1, len(samples) // 4)
    early, late = np.array(samples[:quarter]), np.array(samples[-quarter:])
    memory = np.median(early[:, 1]), np.median(late[:, 1])
    descriptors = np.median(early[:, 2]), np.median(late[:, 2])
    print(f"acts: {load.acts}")
    print(f"memory {memory[0]:.1f} MB in the first quarter, {memory[1]:.1f} MB in the last; "
          f"descriptors {descriptors[0]:.0f} and {descriptors[1]:.0f}; "
          f"exit code after SIGTERM {ended.code}")
    if memory[1] > 1.2 * memory[0] + 5:
        failures.append("memory grows")
    if descriptors[1] > descriptors[0] + 2:
        failures.append("descriptors grow")
    print(f"{sum(load.acts.values())} acts, {len(failures)} failures")
    if not failures:
        shutil.rmtree(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
