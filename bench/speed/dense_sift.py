# SPDX-License-Identifier: Apache-2.0
"""Dense SIFT, 16x16 patches, steps 16, 8 and 4, on images of scenes15, beside OpenCV and VLFeat.

All three run in one process, alternating for every image, on the same keypoints, one thread each, and
are timed by the CPU time of that thread; decoding is not timed.
- milieu: dense_sift from grey floats, with its smoothing; flat and Gaussian window.
- opencv: SIFT::compute on bytes, keypoint size 16/6, so that bins have 4 pixels.
- vlfeat: dsift in fast mode (flat window) from grey floats, the filter made in advance; no smoothing.
Threads: ours over images on one and two threads, alternating, beside a pure compute loop.
`wall` is time on one thread / time on two; on a busy machine it means little, so `cpu`, the CPU time
on one thread / that on two, shows what the threads cost each other (1: nothing).

The program is built by the bench preset. MILIEU_DATA names the folder of the data sets.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import common  # noqa: E402

DATA = os.environ.get("MILIEU_DATA", os.path.join(common.ROOT, "../shared/data"))


def print_steps(result):
    rows = []
    for row in result["steps"]:
        each = 1000 / result["images"]
        rows.append([row["step"], row["descriptors"] // result["images"], each * row["milieu"],
                     each * row["milieu_gaussian"], each * row["opencv"], each * row["vlfeat"],
                     row["opencv"] / row["milieu"], row["vlfeat"] / row["milieu"]])
    common.print_table(["step", "descriptors", "milieu ms", "gaussian ms", "opencv ms", "vlfeat ms",
                        "x opencv", "x vlfeat"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=20, help="use every N-th image")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="write the results here")
    args = parser.parse_args()
    folder = os.path.join(DATA, "scenes15")
    if not os.path.isdir(folder):
        print(f"data set scenes15 not found: {folder} is not a folder; set MILIEU_DATA to the folder of "
              "the data sets")
        return
    program = common.bench_program("dense_sift")
    result = common.run([program, folder, args.every, args.repeat], threads=1)
    print(f"{result['images']} images, medians of {args.repeat}")
    print_steps(result)
    common.print_table(["two threads", "wall", "cpu"],
                       [[name, row["wall_ratio"], row["cpu_ratio"]]
                        for name, row in result["threads"].items()])
    common.write_json(args.json, bench="dense_sift", **result)


if __name__ == "__main__":
    main()
