# SPDX-License-Identifier: Apache-2.0
"""Dense SIFT, 16x16 patches, steps 16, 8 and 4, on pictures of scenes15, beside OpenCV and VLFeat.

All three run in one process, in turns for every picture, on the same keypoints, one thread each, and
are timed by the processor time of that thread; decoding is not timed.
- milieu: dense_sift from grey floats, with its smoothing; flat and Gaussian window.
- opencv: SIFT::compute on bytes, keypoint size 16/6, so that bins have 4 pixels.
- vlfeat: dsift in fast mode (flat window) from grey floats, the filter made beforehand; no smoothing.
Threads: ours over pictures on one and two threads, in turns, beside a loop that only calculates.
`wall` is time on one thread / time on two; on a machine with other work it says little, so `cpu`,
the processor time on one thread / that on two, says what the threads cost each other (1: nothing).

The program is built by the bench preset. MILIEU_DATA names the folder of the data sets.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import common  # noqa: E402

BUILD = os.environ.get("MILIEU_BENCH_BUILD", os.path.join(common.ROOT, "build/bench"))
PROGRAM = os.path.join(BUILD, "bin/milieu_dense_sift_bench")
DATA = os.environ.get("MILIEU_DATA", os.path.join(common.ROOT, "../shared/data"))


def build_program():
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": common.ROOT}
    subprocess.run(["cmake", "--preset", "bench", "-B", BUILD, "-Wno-dev"], **quiet)
    subprocess.run(["cmake", "--build", BUILD, "--target", "milieu_dense_sift_bench"], **quiet)


def print_steps(result):
    rows = []
    for row in result["steps"]:
        each = 1000 / result["pictures"]
        rows.append([row["step"], row["descriptors"] // result["pictures"], each * row["milieu"],
                     each * row["milieu_gaussian"], each * row["opencv"], each * row["vlfeat"],
                     row["opencv"] / row["milieu"], row["vlfeat"] / row["milieu"]])
    common.print_table(["step", "descriptors", "milieu ms", "gaussian ms", "opencv ms", "vlfeat ms",
                        "x opencv", "x vlfeat"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=20, help="take every so-manieth picture")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    folder = os.path.join(DATA, "scenes15")
    if not os.path.isdir(folder):
        print(f"data set scenes15 not found: {folder} is no folder; set MILIEU_DATA to the one that "
              "holds it")
        return
    build_program()
    result = common.run([PROGRAM, folder, args.every, args.repeat], threads=1)
    print(f"{result['pictures']} pictures, medians of {args.repeat}")
    print_steps(result)
    common.print_table(["two threads", "wall", "cpu"],
                       [[name, row["wall_ratio"], row["cpu_ratio"]]
                        for name, row in result["threads"].items()])
    common.write_json(args.json, bench="dense_sift", **result)


if __name__ == "__main__":
    main()
