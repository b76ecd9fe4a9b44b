# SPDX-License-Identifier: Apache-2.0
"""milieu reproduce deep: every part on made images and a made network; what is missing is named."""

import gzip
import json
import struct
import unittest

import numpy as np
from PIL import Image

import networks
from images import make_folder
from support import CliTest, environment

NETWORK = "mobilenetv2_tv_embed_fp32.onnx"
SETS = ("scenes15", "caltech101", "uiuc_textures", "brodatz24")


def idx(array):
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(header + array.astype(np.uint8).tobytes())


class ReproduceDeepTest(CliTest):
    def setUp(self):
        super().setUp()
        for s, name in enumerate(SETS):
            if name != "caltech101":
                make_folder(self.folder / "data" / name, per_class=10, size=64, first=10 * s)
        self.make_colours(self.folder / "data/caltech101")
        digits = np.repeat(np.arange(10), 9)
        random = np.random.RandomState(0)
        ink = np.zeros((len(digits), 28, 28))
        for i, digit in enumerate(digits):  # a bar whose place is the digit, with some noise
            ink[i, 4:24, 2 * digit + 2:2 * digit + 6] = 255
            ink[i] *= random.uniform(0.7, 1, (28, 28))
        (self.folder / "data/mnist").mkdir()
        (self.folder / "data/mnist/t10k-images-idx3-ubyte.gz").write_bytes(idx(ink))
        (self.folder / "data/mnist/t10k-labels-idx1-ubyte.gz").write_bytes(idx(digits))
        # A map of 4 x 4 positions and 6 channels, then its mean: colours and their differences.
        (self.folder / "models").mkdir()
        kernel = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0], [0, 1, -1], [-1, 0, 1]])
        weight = networks.weight("w", networks.FLOAT, (6, 3, 1, 1),
                                 kernel.astype("<f4").tobytes())
        pool = {"kernel_shape": [12, 12], "strides": [12, 12]}
        (self.folder / "models" / NETWORK).write_bytes(networks.network(
            [networks.node("AveragePool", ["x"], ["small"], pool, name="a"),
             networks.node("Conv", ["small", "w"], ["map"], {"kernel_shape": [1, 1]}, name="b"),
             networks.node("GlobalAveragePool", ["map"], ["mean"], name="c"),
             networks.node("Flatten", ["mean"], ["y"], {"axis": 1}, name="d")],
            (1, 3, 48, 48), [weight]))
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"))

    def make_colours(self, root):
        """Eight classes of plain colours, so that merged ones have parts to find."""
        random = np.random.RandomState(1)
        for c in range(8):
            (root / f"colour{c}").mkdir(parents=True)
            colour = np.array([60 + 130 * (c >> bit & 1) for bit in range(3)])
            for i in range(8):
                pixels = colour + random.randint(-20, 20, (64, 64, 3))
                Image.fromarray(pixels.astype(np.uint8)).save(root / f"colour{c}/{i}.png")

    def run_part(self, *arguments):
        outcome = self.run_milieu("reproduce", "deep", *arguments, "--data", "data", "--models",
                                  "models", "--runs", "2", "--restarts", "2", "--out", "tables",
                                  env=self.env)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def table(self, name):
        lines = (self.folder / "tables" / f"{name}.csv").read_text().splitlines()
        return [line.split(",") for line in lines]

    def test_every_part_prints_its_table_and_resumes(self):
        first = self.run_part()
        for title in ("MobileNetV2's embedding", "dlgmm on MobileNetV2's last map",
                      "cac with four views", "Clustering of the test half", "Two-factor sets",
                      "contexts ranked without labels", "merged by 2 at random"):
            self.assertIn(title, first.out)
        self.assertEqual(self.table("deep_baselines_accuracy")[0], ["method", *SETS])
        pieces = json.loads((self.folder / "tables/deep.progress").read_text())["pieces"]
        self.assertIn("deep k-means, embedding, scenes15, seed 1", pieces)
        again = self.run_part()
        self.assertEqual(again.out, first.out)
        self.assertNotIn("seed 1", again.err)  # nothing was computed again

    def test_some_sets_only(self):
        self.run_part("baselines", "--sets", "brodatz24,scenes15")
        self.assertEqual(self.table("deep_baselines_accuracy")[0],
                         ["method", "scenes15", "brodatz24"])
        outcome = self.run_milieu("reproduce", "deep", "baselines", "--data", "data", "--models",
                                  "models", "--sets", "tea", env=self.env)
        self.assertIn("sets has 'tea', must be of scenes15, caltech101", outcome.err)

    def test_the_context_decides_between_two_factors(self):
        """Colours are all that this network sees: digits differ by colour, not by class."""
        self.run_part("dcp")
        rows = self.table("deep_dcp")
        self.assertEqual(len(rows), 9)
        colour = rows[0].index("digit x colour")
        kmeans = next(row for row in rows if row[0] == "k-means")
        self.assertLess(float(kmeans[colour].split(" / ")[1]), 5)

    def test_a_missing_network_or_set_is_named(self):
        outcome = self.run_milieu("reproduce", "deep", "icc", "--data", "data", "--models", "none",
                                  "--quiet", env=self.env)
        self.assertEqual(outcome.code, 1)
        self.assertIn(f"skipped deep icc: none/{NETWORK} does not exist: give the folder of the "
                      "networks with --models or MILIEU_MODELS", outcome.err)
        outcome = self.run_milieu("reproduce", "deep", "icc", "--data", "none", "--models",
                                  "models", "--quiet", env=self.env)
        self.assertIn("none/scenes15 does not exist", outcome.err)


if __name__ == "__main__":
    unittest.main()
