# SPDX-License-Identifier: Apache-2.0
"""Other native libraries in the same process, loaded before and after: both sides work."""

import itertools
import subprocess
import sys

import pytest

USES = {
    "milieu": "import milieu; m = milieu.KMeans(3).fit(X); milieu.features.extract([I], 'gist')",
    "cv2": "import cv2; assert cv2.GaussianBlur(I, (5, 5), 1).shape == I.shape",
    "torch": "import torch; t = torch.from_numpy(X); assert (t @ t.T).shape == (90, 90)",
}
SETUP = ("import numpy as np; rng = np.random.default_rng(0); "
         "X = rng.normal(size=(90, 8)).astype(np.float32); "
         "I = rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)\n")


@pytest.mark.parametrize("order", list(itertools.permutations(USES)), ids="-".join)
def test_libraries_do_no_harm_to_each_other(order):
    for name in ("cv2", "torch"):
        found = subprocess.run([sys.executable, "-c", f"import {name}"], check=False,
                               capture_output=True)
        if found.returncode:
            pytest.skip(f"{name} is not installed (scripts/setup check)")
    code = SETUP + "\n".join(USES[name] for name in order)
    code += "\n" + "\n".join(USES[name] for name in reversed(order))
    code += ("\nwith __import__('warnings').catch_warnings():\n"
             "    t = torch.from_numpy(X)\n"
             "    assert (milieu.KMeans(3).fit(t).labels_ == m.labels_).all()\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
