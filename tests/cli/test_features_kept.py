# SPDX-License-Identifier: Apache-2.0
"""milieu features: what is kept between runs is that of the same images, whole and undamaged."""

import os
import signal
import time
import unittest

import numpy as np
from PIL import Image

from feature_case import FeatureCase


class KeptFeaturesTest(FeatureCase):
    def test_swapped_images_are_noticed_issue20(self):
        """Two images of equal size and time change places: so do their rows."""
        names = sorted((self.folder / "photos").glob("*/*.png"))[:2]
        pixels = [np.asarray(Image.open(name).convert("RGB")) for name in names]
        for name, each in zip(names, pixels):
            name.unlink()
            Image.fromarray(each).save(name.with_suffix(".ppm"))  # no compression: equal sizes
            os.utime(name.with_suffix(".ppm"), (1577836800, 1577836800))
        first, second = (name.with_suffix(".ppm") for name in names)
        self.assertEqual(first.stat().st_size, second.stat().st_size)
        self.features("tiny")
        before = self.load("tiny")
        first.rename(self.folder / "aside")
        second.rename(first)
        (self.folder / "aside").rename(second)
        self.features("tiny")
        self.features("tiny", out="fresh")
        np.testing.assert_array_equal(self.load("tiny"), self.load("tiny", out="fresh"))
        self.assertFalse(np.array_equal(self.load("tiny"), before))

    def test_torn_rows_of_a_power_cut_are_computed_again_issue20(self):
        """The tail of the rows is zeros, as after a power cut: the numbers must not change."""
        self.features("dense-sift:words=5", out="whole")
        process = self.start("features", "photos", "--feature", "dense-sift:words=5", "--out", "f",
                             "--threads", "1", env=self.env)
        part = self.folder / "f/.milieu/dense-sift.part"
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if part.exists() and part.stat().st_size > 0:
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if part.exists():  # else the run was faster than we are
            content = part.read_bytes()
            half = len(content) // 2
            part.write_bytes(content[:half] + bytes(len(content) - half) + bytes(4096))
        self.features("dense-sift:words=5")
        np.testing.assert_array_equal(self.load("dense-sift"), self.load("dense-sift", out="whole"))

    def test_truncated_codebooks_are_made_again_issue20(self):
        self.features("dense-sift:words=5")
        whole = self.load("dense-sift")
        for name in ("f/.milieu/dense-sift.codebook.npy", "f/dense-sift.codebook.npy",
                     "f/dense-sift.npy"):
            path = self.folder / name
            content = path.read_bytes()
            path.write_bytes(content[:-100])
            if not name.startswith("f/.milieu"):
                self.assertIn(f"{name} was damaged or changed after it was written",
                              self.fail_with(1, "kmeans", "f", "-k", "2"))
            self.features("dense-sift:words=5")
            self.assertEqual(path.read_bytes(), content)
            np.testing.assert_array_equal(self.load("dense-sift"), whole)

    def test_verify_reads_every_image_issue20(self):
        self.features("tiny")
        self.assertEqual(self.computed("tiny", "--verify"), 0)


if __name__ == "__main__":
    unittest.main()
