# SPDX-License-Identifier: Apache-2.0
"""How long a run takes to end after Ctrl-C: each method on data that keep it busy for many seconds,
the signal after several waits, so that it falls into different stages. Required: 0.2 s.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402
import numpy as np  # noqa: E402

# method -> rows, columns, flags
RUNS = {
    "kmeans": (400000, 64, ["-k", "500", "--restarts", "100"]),
    "kmodes": (200000, 256, ["-k", "200", "--restarts", "100"]),
    "gmm": (100000, 64, ["-k", "64", "--covariance", "full", "--restarts", "100"]),
    "ncut": (30000, 32, ["-k", "20"]),
    "ncut dense": (10000, 32, ["-k", "20", "--neighbors", "0"]),
    "meanshift": (50000, 16, ["--bandwidth", "0.5"]),
    "agglomerative": (20000, 64, ["-k", "10", "--max-memory-gb", "8"]),
    "kmedoids": (15000, 32, ["-k", "100", "--max-memory-gb", "8"]),
    "exemplar": (15000, 32, ["--penalty", "2", "--max-memory-gb", "8"]),
}


def points_for(method, rows, columns):
    random = np.random.RandomState(0)
    if method == "kmodes":
        return random.randint(0, 2, (rows, columns)).astype(np.uint8)
    return random.rand(rows, columns).astype(np.float32)


def seconds_to_end(command, wait):
    """Seconds from the signal to the end, or None when the run had ended before; what it said."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(wait)
    if process.poll() is not None:
        process.communicate()
        return None, "ended before"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.wait()
    seconds = time.monotonic() - began
    _, err = process.communicate()
    return seconds, err.strip().splitlines()[-1] if err.strip() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="")
    parser.add_argument("--waits", default="0.3,0.7,1.5,3")
    parser.add_argument("--methods", default=",".join(RUNS))
    args = parser.parse_args()
    rows, record = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.methods.split(","):
            n, d, flags = RUNS[name]
            method = name.split()[0]
            path = os.path.join(folder, "X.npy")
            np.save(path, points_for(method, n, d))
            waits = [float(text) for text in args.waits.split(",")]
            results = [seconds_to_end([common.PROGRAM, method, path, *flags], wait) for wait in waits]
            record[name] = [{"wait": w, "seconds": s, "said": said}
                            for w, (s, said) in zip(waits, results)]
            rows.append([name] + [f"{s:.2f}" if s is not None else "-" for s, _ in results]
                        + [results[-1][1][:60]])
    common.print_table(["method", *(f"after {w} s" for w in args.waits.split(",")), "said"], rows)
    common.write_json(args.json, runs=record)


if __name__ == "__main__":
    main()
