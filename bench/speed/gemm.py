# SPDX-License-Identifier: Apache-2.0
"""The one float product of Milieu beside Debian's libraries, on one thread: 4096 x 4096 x 4096.

OpenBLAS runs with the core type that suits the CPU, and also with the one Debian's version detects.
Processes alternate; the median of each counts. Ours must reach 90 % of the best.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import common  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=5, help="processes of each library")
    parser.add_argument("--json", help="where to write all figures")
    args = parser.parse_args()
    program = common.bench_program("gemm")
    commands = {name: [program, name, args.size, 1] for name in ("ours", "onednn", "openblas", "blis")}
    commands["openblas (own choice)"] = ["env", "-u", "OPENBLAS_CORETYPE", *commands["openblas"]]
    runs = common.interleave(commands, args.repeat)
    rates = {name: 2e-9 * args.size ** 3 / common.median(r) for name, r in runs.items()}
    best = max(rates.values())
    rows = [[name, f"{rate:.1f}", f"{100 * rate / best:.0f} %"]
            for name, rate in sorted(rates.items(), key=lambda item: -item[1])]
    common.print_table(["library", "GF/s", "of the best"], rows)
    print(f"ours is {runs['ours'][0]['description']}; {100 * rates['ours'] / best:.0f} % of the best, "
          "the target is 90 %")
    common.write_json(args.json, benchmark="gemm", size=args.size, threads=1,
                      repetitions=args.repeat, rates=rates, runs=runs)


if __name__ == "__main__":
    main()
