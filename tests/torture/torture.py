#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A fault campaign against the program: kills, broken disks, interrupts, little memory, hostile files,
inputs that change, processes and clients that meet. Every trial compares with an undisturbed run.

    TORTURE_MINUTES=10 make torture
    tests/torture/torture.py --minutes 2 --only disk_error --seed 7

Prints a table of promises, trials and failures at the end; exit code 1 if a promise was broken.
Evidence of failures stays in the folder that is named then.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float,
                        default=float(os.environ.get("TORTURE_MINUTES", "10")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TORTURE_SEED", "1")))
    parser.add_argument("--only", action="append", help="a scenario's name; may be repeated")
    parser.add_argument("--program", default=os.environ.get("MILIEU_PROGRAM",
                                                            "build/release/bin/milieu"))
    parser.add_argument("--json", help="write the table there, too")
    return parser.parse_args()


def build_shim(folder):
    shim = folder / "faults.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(HERE / "faults.c"), "-o", str(shim), "-ldl"],
                   check=True)
    return shim


def scenarios():
    import explorer
    import hostile
    import scenarios as s
    return {
        "kill_at_random_moment": ("a killed run leaves nothing half-written and nothing in the way",
                                  s.kill_at_random_moment),
        "kill_at_file_call": ("the same at every call that changes a file", s.kill_at_file_call),
        "disk_error": ("a full or failing disk is a message, nothing is half-written", s.disk_error),
        "interrupt": ("Ctrl-C is answered in 0.2 s at any size", s.interrupt),
        "interrupted_run_folder": ("what Ctrl-C leaves is valid", s.interrupted_run_folder),
        "memory_limit": ("too little memory is a message", s.memory_limit),
        "threads": ("the same bytes for any number of threads", s.threads),
        "damaged_file": ("a damaged file is a message, never a crash or a result",
                         hostile.damaged_file),
        "odd_names": ("any file name works", hostile.odd_names),
        "changed_input": ("work kept from other inputs is not used", hostile.changed_input),
        "two_at_once": ("two processes do no harm to each other", hostile.two_at_once),
        "bad_clients": ("bad and slow clients cost the explorer's others nothing",
                        explorer.bad_clients),
        "killed_server": ("the explorer loses no finished run", explorer.killed_server),
    }


def campaign(chosen, world, minutes, seed):
    """Trials in turn until time is up; every scenario gets the same share of time."""
    spent = dict.fromkeys(chosen, 0.0)
    trials = dict.fromkeys(chosen, 0)
    failures = {name: [] for name in chosen}
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        name = min(chosen, key=lambda n: spent[n])
        random = np.random.default_rng([seed, list(chosen).index(name), trials[name]])
        begin = time.monotonic()
        try:
            what, bad = chosen[name][1](world, random)
        except Exception:  # a broken trial is a failure of the campaign, shown as one
            what, bad = "trial", traceback.format_exc()
        spent[name] += time.monotonic() - begin
        if bad:
            failures[name].append(f"trial {trials[name]} ({what}): {bad}")
            print(f"FAILED {name} {failures[name][-1]}", flush=True)
        trials[name] += 1
    return trials, failures


def main():
    args = arguments()
    os.environ["MILIEU_PROGRAM"] = os.path.abspath(args.program)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="milieu-torture-"))
    os.environ["MILIEU_TORTURE_SHIM"] = str(build_shim(folder))
    sys.path.insert(0, str(HERE))
    import world as w

    chosen = scenarios()
    unknown = set(args.only or ()) - set(chosen)
    if unknown:
        raise SystemExit(f"torture: no scenario {', '.join(sorted(unknown))}; "
                         f"there are {', '.join(chosen)}")
    chosen = {name: chosen[name] for name in args.only or chosen}
    world = w.World(folder)
    trials, failures = campaign(chosen, world, args.minutes, args.seed)
    print(f"\n{'scenario':<24} {'trials':>7} {'failures':>9}  promise")
    for name, (promise, _) in chosen.items():
        print(f"{name:<24} {trials[name]:>7} {len(failures[name]):>9}  {promise}")
    count = sum(map(len, failures.values()))
    print(f"{'all':<24} {sum(trials.values()):>7} {count:>9}  seed {args.seed}, "
          f"{args.minutes:g} minutes")
    if args.json:
        w.write_json(args.json, {"seed": args.seed, "minutes": args.minutes, "trials": trials,
                                 "failures": failures})
    if count:
        print(f"evidence: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
