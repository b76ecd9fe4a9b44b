# SPDX-License-Identifier: Apache-2.0
"""milieu exemplar learn beyond one distance for all: costs of exemplars, kernels, signed matrices, distances
of single features."""

import json
import unittest

import numpy as np

import images
from support import CliTest
from test_exemplar_learn import make_groups


class ExemplarCostsTest(CliTest):
    def setUp(self):
        super().setUp()
        points, labels = make_groups(60, 1)
        self.save("a.npy", points)
        self.save("a_y.npy", labels)

    def learn(self, *arguments):
        return self.succeed("exemplar", "learn", *arguments)

    def make_blurred(self, name, seed):
        """Ten samples close together, a blurred one at -5 that belongs to them and a pair at 3, at four
        corners: no single penalty gives these clusters. Column 3 is the blur."""
        random = np.random.RandomState(seed)
        offset = np.tile([0.0] * 10 + [3, 3, -5], 4)
        corner = np.repeat(np.arange(4), 13)
        blur = 0.1 * random.rand(52) + (offset == -5)
        points = np.stack([offset + 0.1 * random.randn(52), 8 * (corner % 2) + 0.1 * random.randn(52),
                           8 * (corner // 2) + 0.1 * random.randn(52), blur], axis=1)
        self.save(f"{name}.npy", points.astype(np.float32))
        self.save(f"{name}_place.npy", points[:, :3].astype(np.float32))
        self.save(f"{name}_blur.npy", points[:, 3:].astype(np.float32))
        self.save(f"{name}_y.npy", 2 * corner + (offset == 3))

    def test_exemplars_cost_what_their_features_say_issue30(self):
        for name, seed in (("one", 1), ("other", 2), ("fresh", 3)):
            self.make_blurred(name, seed)
        rounds = ["--rounds", "3000", "--validations", "0"]
        text = self.learn("one.npy:one_y.npy", "other.npy:other_y.npy", "--exemplar-columns", "3", *rounds,
                          "--out", "columns").out
        self.assertIn("an exemplar costs more with column 3 (+", text)
        self.assertIn("cost of an exemplar: column 3,", (self.folder / "columns/weights.csv").read_text())
        found = self.succeed("exemplar", "fresh.npy", "--model", "columns", "--labels", "fresh_y.npy", "--json").json()
        self.assertEqual(found["metrics"]["accuracy"], 1)
        self.learn("one_place.npy:one_y.npy", "other_place.npy:other_y.npy", "--exemplar-features", "one_blur.npy",
                   "--exemplar-features", "other_blur.npy", *rounds, "--out", "features")
        found = self.succeed("exemplar", "fresh_place.npy", "--model", "features", "--exemplar-features",
                             "fresh_blur.npy", "--labels", "fresh_y.npy", "--json").json()
        self.assertEqual(found["metrics"]["accuracy"], 1)
        self.assertIn("must be 52 x 1", self.fail_with(2, "exemplar", "fresh_place.npy", "--model", "features"))
        self.assertIn("only a learned distance uses them", self.fail_with(
            2, "exemplar", "fresh_place.npy", "--exemplar-features", "fresh_blur.npy"))
        self.assertIn("columns of TRAIN, counted from 0", self.fail_with(
            2, "exemplar", "learn", "one.npy:one_y.npy", "--exemplar-columns", "blur"))
        self.assertIn("is given 1 time for 2 training sets", self.fail_with(
            2, "exemplar", "learn", "one.npy:one_y.npy", "other.npy:other_y.npy", "--exemplar-features", "one_blur.npy"))

    def test_given_penalties_go_with_a_model_issue30(self):
        for name, seed in (("one", 1), ("fresh", 3)):
            self.make_blurred(name, seed)
        self.learn("one_place.npy:one_y.npy", "--validations", "0", "--rounds", "3000", "--out", "alike")
        weight = json.loads((self.folder / "alike/summary.json").read_text())["weights"][0]
        blur = np.load(self.folder / "fresh_blur.npy")
        self.save("penalties.npy", (weight * np.where(blur > 0.5, 40, 10)).astype(np.float32))
        given = ["exemplar", "fresh_place.npy", "--model", "alike", "--labels", "fresh_y.npy", "--json"]
        self.assertLess(self.succeed(*given).json()["metrics"]["accuracy"], 1)
        found = self.succeed(*given, "--penalties", "penalties.npy").json()
        self.assertEqual(found["metrics"]["accuracy"], 1)
        self.assertIn("which has no penalty", self.fail_with(
            2, *given, "--penalties", "penalties.npy", "--grouping", "cut"))

    def test_matrices_may_be_signed_kernels_and_have_diagonals_issue30(self):
        points, labels = make_groups(60, 5, noise=0.5)
        kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2) / 8).astype(np.float32)
        self.save("K.npy", kernel)
        self.save("S.npy", -kernel)
        self.save("y.npy", labels)
        self.assertIn("finite distance of at least 0", self.fail_with(
            1, "exemplar", "learn", "S.npy:y.npy", "--distance", "precomputed"))
        self.learn("S.npy:y.npy", "--distance", "precomputed", "--signed-features", "--out", "signed")
        self.learn("K.npy:y.npy", "--distance", "kernel", "--out", "kernel")
        self.learn("S.npy:y.npy", "--distance", "precomputed", "--signed-features", "--diagonals", "--out", "own")
        for model, matrix in (("signed", "S.npy"), ("kernel", "K.npy"), ("own", "S.npy")):
            found = self.succeed("exemplar", matrix, "--model", model, "--labels", "y.npy", "--json").json()
            self.assertEqual(found["metrics"]["accuracy"], 1, model)
        self.assertIn("was learned from kernels", self.fail_with(
            2, "exemplar", "K.npy", "--model", "kernel", "--classify"))
        self.assertIn("is no kernel", self.fail_with(1, "exemplar", "learn", "S.npy:y.npy", "--distance", "kernel"))
        self.assertIn("the sets are not matrices", self.fail_with(
            2, "exemplar", "learn", "a.npy:a_y.npy", "--diagonals"))

    def test_views_and_features_have_distances_of_their_own_issue30(self):
        points = np.load(self.folder / "a.npy")
        self.save("good.npy", points[:, :2])
        self.save("noise.npy", points[:, 2:])
        summary = self.learn("good.npy,noise.npy:a_y.npy", "--distance", "good:l2+rbf=0.5,noise:l1", "--json").json()
        self.assertEqual(summary["features"], ["good l2", "good rbf=0.5", "noise l1"])
        images.make_folder(self.folder / "photos", per_class=6)
        summary = self.learn("photos", "--feature", "gist:distance=l2,lbp:distance=l1", "--distance", "chi-squared",
                             "--out", "p", "--json").json()
        self.assertEqual(summary["features"], ["gist l2", "lbp l1"])
        options = json.loads((self.folder / "p/options.json").read_text())
        self.assertIn("gist:l2,lbp:l1,chi-squared", json.dumps(options))
        self.succeed("exemplar", "photos", "--model", "p")


if __name__ == "__main__":
    unittest.main()
