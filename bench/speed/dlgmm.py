# SPDX-License-Identifier: Apache-2.0
"""One iteration of DLGMM: the data pass as a share of the float product's peak, the theta-steps beside
it, and scikit-learn's GaussianMixture(covariance_type="spherical") per EM round on as many patches.

All figures are processor seconds, so that a busy machine changes them little; parts take turns within
a process. `share_of_peak` counts 4 N V R operations (scores and statistics) though most words are
skipped in the second half: it says how much faster than two full products at peak speed a pass is;
`one_product_share` counts the 2 N V R that are made. With --file (a .npy of patches, such as the
dense-sift.descriptors.npy of milieu features) both programs work on real patches; scikit-learn gets
them as float64 (`times_faster`) and as float32 (`times_faster_float32`).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402

BENCH = os.environ.get("MILIEU_DLGMM_BENCH",
                       os.path.join(common.ROOT, "build/release/bin/milieu_dlgmm_bench"))

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
    begin = time.process_time()
    mixture.fit(points)
    return time.process_time() - begin
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
    parser.add_argument("--file", help="a .npy of patches in place of drawn ones")
    given = parser.parse_args()
    for words in given.words:
        file = [given.file] if given.file else []
        peer, peer32 = (json.loads(subprocess.run(
            [sys.executable, "-c", SCIKIT, str(given.images * given.patches), str(words),
             str(given.dimensions), str(given.rounds), dtype, *file], env=common.environment(1),
            check=True, capture_output=True, text=True).stdout) for dtype in ("float64", "float32"))
        for threads in given.threads:
            ours = json.loads(subprocess.run(
                [BENCH, *map(str, (given.images, given.patches, words, given.dimensions,
                                   given.clusters, threads, given.repetitions)), *file],
                check=True, capture_output=True, text=True).stdout)
            ours.update(words=words, threads=threads, scikit_learn=peer["seconds"],
                        scikit_learn_float32=peer32["seconds"],
                        times_faster=peer["seconds"] / ours["seconds"],
                        times_faster_float32=peer32["seconds"] / ours["seconds"],
                        mean_field_share=ours["mean_field"] / ours["seconds"],
                        structured_share=ours["structured"] / ours["seconds"])
            print(json.dumps(ours))


if __name__ == "__main__":
    main()
