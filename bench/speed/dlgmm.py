# SPDX-License-Identifier: Apache-2.0
"""One iteration of DLGMM: the data pass as a share of the float product's peak, the theta-steps beside
it, and scikit-learn's GaussianMixture(covariance_type="spherical") per EM iteration on as many patches.

All figures are wall-clock seconds on a machine that must be idle; our runs and scikit-learn's
alternate, with the numbers of threads in --threads, and medians count.
`share_of_peak` counts 4 N V R operations (scores and statistics) although most words are
skipped in the second half: it compares a pass with two full products at peak speed;
`one_product_share` counts the 2 N V R operations that are done. With --file (a .npy of patches, such
as the dense-sift.descriptors.npy of milieu features) both programs work on real patches; scikit-learn
gets them as float64 (`times_faster`) and as float32 (`times_faster_float32`). --growth times the pass
alone for twice and four times the patches, words and dimensions, drawn at random, on one thread.
--mapped FOLDER writes 11,000,000 random patches of 128 numbers (5.6 GB, removed afterwards), runs one
whole iteration with 1000 words on the mapped file and reports the peak of the anonymous memory.

The programs are built by the bench preset.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402


SCIKIT = """
import json, sys, time, warnings
import numpy as np
from sklearn.mixture import GaussianMixture
warnings.simplefilter("ignore")
n, words, dim, rounds = map(int, sys.argv[1:5])
random = np.random.default_rng(1)
if len(sys.argv) > 6:
    points = np.array(np.load(sys.argv[6], mmap_mode="r")[:n])
    centres = points[random.choice(n, words, replace=False)].astype(float)
else:
    centres = random.normal(size=(words, dim))
    points = (centres[random.integers(words, size=n)] + random.normal(size=(n, dim)))
points = points.astype(sys.argv[5])
def run(rounds):
    mixture = GaussianMixture(words, covariance_type="spherical", means_init=centres, tol=0,
                              max_iter=rounds, init_params="random_from_data",
                              weights_init=np.full(words, 1 / words),
                              precisions_init=np.full(words, 1 / points.var(0).mean()))
    begin = time.perf_counter()
    mixture.fit(points)
    return time.perf_counter() - begin
print(json.dumps({"seconds": (run(1 + rounds) - run(1)) / rounds}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--patches", type=int, default=1000)
    parser.add_argument("--words", type=int, nargs="*", default=[300])
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--clusters", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3, help="how often the programs alternate")
    parser.add_argument("--growth", action="store_true", help="cost against patches, V and R")
    parser.add_argument("--mapped", metavar="FOLDER", help="one iteration at the paper's size")
    parser.add_argument("--rows", type=int, default=11_000_000, help="patches of --mapped")
    parser.add_argument("--file", help="a .npy of patches instead of random ones")
    parser.add_argument("--json", help="where to write all figures")
    given = parser.parse_args()
    measure = show_growth if given.growth else show_mapped if given.mapped else show_iteration
    rows = []
    for row in measure(given):
        print(json.dumps(row), flush=True)
        rows.append(row)
    common.write_json(given.json, benchmark="dlgmm", arguments=vars(given), rows=rows)


def show_iteration(given):
    program = common.bench_program("dlgmm")
    for words in given.words:
        for threads in given.threads:
            turns = [(ours(program, given, words, threads), peer(given, words, threads, "float64"),
                      peer(given, words, threads, "float32")) for _ in range(given.turns)]
            row = {name: statistics.median(turn[0][name] for turn in turns) for name in turns[0][0]}
            row.update(words=words, threads=threads,
                       scikit_learn=statistics.median(turn[1] for turn in turns),
                       scikit_learn_float32=statistics.median(turn[2] for turn in turns))
            row.update(times_faster=row["scikit_learn"] / row["seconds"],
                       times_faster_float32=row["scikit_learn_float32"] / row["seconds"],
                       mean_field_share=row["mean_field"] / row["seconds"],
                       structured_share=row["structured"] / row["seconds"])
            yield row


def ours(program, given, words, threads, images=None, dimensions=None):
    """The figures of one run of our program."""
    command = [program, given.images if images is None else images, given.patches, words,
               given.dimensions if dimensions is None else dimensions, given.clusters, threads,
               given.repetitions, *([given.file] if given.file else [])]
    done = subprocess.run(list(map(str, command)), env=common.environment(threads), check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def peer(given, words, threads, dtype):
    """Seconds of scikit-learn's EM iteration."""
    command = [sys.executable, "-c", SCIKIT, given.images * given.patches, words,
               given.dimensions, given.rounds, dtype, *([given.file] if given.file else [])]
    done = subprocess.run(list(map(str, command)), env=common.environment(threads), check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["seconds"]


def show_growth(given):
    given.file = None
    program = common.bench_program("dlgmm")
    for name, factors in (("patches", (1, 2, 4)), ("words", (1, 2, 4)), ("dimensions", (1, 2, 4))):
        for factor in factors:
            size = {"patches": 1, "words": 1, "dimensions": 1, name: factor}
            row = ours(program, given, 150 * size["words"], 1, images=20 * size["patches"],
                       dimensions=64 * size["dimensions"])
            yield {"grows": name, "factor": factor, "seconds": row["seconds"],
                   "cpu_seconds": row["cpu_seconds"], "words_per_patch": row["words_per_patch"]}


def write_patches(path, rows, words, dimensions):
    """Patches around well separated words; row i belongs to word i mod words."""
    random = np.random.default_rng(1)
    centres = random.normal(scale=2, size=(words, dimensions)).astype(np.float32)
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, dimensions))
    block = 100 * words
    for begin in range(0, rows, block):
        count = min(block, rows - begin)
        noise = random.standard_normal((count, dimensions), dtype=np.float32)
        file[begin:begin + count] = noise + np.resize(centres, (count, dimensions))
    file.flush()


def anonymous_bytes(process):
    """RssAnon of a running process; 0 if it has ended."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return next((1024 * int(line.split()[1]) for line in status
                         if line.startswith("RssAnon")), 0)
    except FileNotFoundError:
        return 0


def show_mapped(given):
    words, threads = 1000, max(given.threads)
    program = common.bench_program("dlgmm_mapped")
    with tempfile.TemporaryDirectory(dir=given.mapped) as folder:
        path = os.path.join(folder, "patches.npy")
        write_patches(path, given.rows, words, given.dimensions)
        command = [program, path, words, given.clusters, 2450, threads]
        peak = 0
        with subprocess.Popen(list(map(str, command)), env=common.environment(threads),
                              stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                peak = max(peak, anonymous_bytes(process))
                time.sleep(0.05)
            row = json.loads(process.stdout.read())
    row.update(words=words, threads=threads, peak_anonymous_mb=peak / 2**20)
    yield row


if __name__ == "__main__":
    main()
