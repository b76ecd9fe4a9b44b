# SPDX-License-Identifier: Apache-2.0
"""milieu kmeans: the shared cases, and what only k-means has (weights, given centres, images)."""

import json
import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class KMeansTest(MethodCases, CliTest):
    command = "kmeans"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "200", "--restarts", "1000", "--rel-tolerance", "0"]

    def objective(self, labels, weights=None):
        """Weighted squared distances to the weighted means, by hand."""
        total = 0
        for cluster in set(labels):
            mask = labels == cluster
            points = self.samples[mask].astype(np.float64)
            w = np.ones(len(points)) if weights is None else weights[mask]
            center = np.average(points, axis=0, weights=w)
            total += (w[:, None] * (points - center) ** 2).sum()
        return total

    def test_objective_is_the_sum_over_samples(self):
        summary = self.fit("--json", "--out", "run").json()
        self.assertAlmostEqual(summary["objective"] / self.objective(self.labels("run")), 1, 5)

    def test_weights_move_the_centres(self):
        weights = np.random.RandomState(3).uniform(0.1, 5, len(self.samples))
        self.save("w.npy", weights)
        summary = self.fit("--json", "--out", "run", "--weights", "w.npy").json()
        expected = self.objective(self.labels("run"), weights)
        self.assertAlmostEqual(summary["objective"] / expected, 1, 5)
        options = json.loads((self.folder / "run/options.json").read_text())
        self.assertEqual(options["input"]["weights"], "w.npy")

    def test_weights_follow_the_selection(self):
        self.save("w.npy", np.arange(1.0, len(self.samples) + 1))
        summary = self.succeed("kmeans", "X.npy", "-k", "2", "--labels", "y.npy", "--select", "2,0",
                               "--weights", "w.npy", "--json", "--out", "run").json()
        kept = self.classes != 1
        self.samples = self.samples[kept]
        weights = np.arange(1.0, len(kept) + 1)[kept]
        expected = self.objective(self.labels("run"), weights)
        self.assertAlmostEqual(summary["objective"] / expected, 1, 5)

    def test_weights_that_do_not_fit_are_refused(self):
        self.save("short.npy", np.ones(5))
        self.assertEqual(self.fail_with(1, "kmeans", "X.npy", "--weights", "short.npy"),
                         "short.npy has 5 rows, X.npy has 120: they must match")
        self.save("wide.npy", np.ones((120, 2)))
        self.assertIn("wide.npy has 2 columns",
                      self.fail_with(1, "kmeans", "X.npy", "--weights", "wide.npy"))
        self.save("negative.npy", -np.ones(120))
        self.assertIn("-1", self.fail_with(2, "kmeans", "X.npy", "--weights", "negative.npy"))

    def test_given_centres_are_a_single_start(self):
        centers = np.stack([self.samples[self.classes == c].mean(axis=0) for c in (2, 0, 1)])
        self.save("c.npy", centers)
        summary = self.fit("--json", "--out", "run", "--initial-centers", "c.npy").json()
        self.assertEqual(summary["num_restarts"], 1)
        order = np.array([1, 2, 0])  # the cluster that class 0, 1, 2 starts nearest to
        np.testing.assert_array_equal(self.labels("run"), order[self.classes])

    def test_given_centres_must_fit(self):
        self.save("c.npy", self.samples[:2])
        message = self.fail_with(2, "kmeans", "X.npy", "-k", "3", "--initial-centers", "c.npy")
        self.assertIn("2", message)
        self.assertIn("3", message)

    def test_more_clusters_than_distinct_points_is_a_warning(self):
        self.save("pairs.npy", np.repeat(self.samples[:3], 4, axis=0))
        outcome = self.succeed("kmeans", "pairs.npy", "-k", "5")
        self.assertIn("warning:", outcome.out)
        summary = self.succeed("kmeans", "pairs.npy", "-k", "5", "--json").json()
        self.assertEqual(len(summary["warnings"]), 1)
        self.assertEqual(summary["clusters"], 3)

    def test_cosine_equals_normalising_first(self):
        random = np.random.RandomState(5)
        lengths = 10 ** random.uniform(-3, 3, len(self.samples))
        self.save("long.npy", (self.samples * lengths[:, None]).astype(np.float32))
        unit = self.samples / np.linalg.norm(self.samples, axis=1, keepdims=True)
        self.save("unit.npy", unit.astype(np.float32))
        summary = self.succeed("kmeans", "long.npy", "-k", "3", "--distance", "cosine", "--json",
                               "--out", "long").json()
        self.succeed("kmeans", "unit.npy", "-k", "3", "--distance", "cosine", "--out", "unit")
        labels = self.labels("long")
        np.testing.assert_array_equal(labels, self.labels("unit"))
        sums = [np.linalg.norm(unit[labels == j].sum(axis=0)) for j in range(3)]
        self.assertAlmostEqual(summary["objective"], 2 * (len(unit) - sum(sums)), 4)
        lines = self.succeed("predict", "long", "long.npy").out.splitlines()
        np.testing.assert_array_equal(np.array(lines, dtype=int), labels)
        self.assertIn("must be euclidean or cosine",
                      self.fail_with(2, "kmeans", "X.npy", "--distance", "tea"))

    def test_cosine_says_what_rows_of_zeros_become(self):
        self.save("zeros.npy", np.vstack([self.samples, np.zeros((2, self.samples.shape[1]))]))
        summary = self.succeed("kmeans", "zeros.npy", "-k", "3", "--distance", "cosine", "--json",
                               "--out", "run").json()
        self.assertEqual(summary["warnings"], ["2 rows have only zeros and no direction: label 0, "
                                               "without influence on the centres"])
        np.testing.assert_array_equal(self.labels("run")[-2:], [0, 0])

    def test_many_clusters_are_listed_by_size(self):
        out = self.succeed("kmeans", "X.npy", "-k", "30").out
        self.assertEqual(out.count("  cluster "), 10)
        self.assertIn("  and 20 more of ", out)

    def test_images_come_into_the_report(self):
        images = np.random.RandomState(0).randint(0, 255, (30, 64)).astype(np.uint8)
        self.save("images.npy", images)
        self.succeed("kmeans", "images.npy", "-k", "2", "--image-size", "8x8", "--out", "run")
        self.assertIn(b"image/png", (self.folder / "run/report.html").read_bytes())
        message = self.fail_with(2, "kmeans", "images.npy", "--image-size", "7x8")
        self.assertIn("image_size is 7x8", message)
        message = self.fail_with(2, "kmeans", "images.npy", "--image-size", "big")
        self.assertIn("image_size is 'big', must be WxH", message)

    def test_aliases_and_forms_of_flags(self):
        forms = (["-k", "3"], ["-k3"], ["--num-clusters", "3"], ["--num-clusters=3"],
                 ["-k", "9", "-k", "3"])
        for form in forms:
            summary = self.succeed("kmeans", "X.npy", *form, "--json").json()
            self.assertEqual(summary["clusters"], 3, form)
        for form in (["--json=true"], ["--json", "true"], ["--json=false", "--json"]):
            self.assertEqual(self.fit(*form).json()["n"], 120)
        self.assertIn("read X.npy", self.fit("--json", "false").out)
        self.assertEqual(self.fail_with(2, "kmeans", "X.npy", "--json=perhaps"),
                         "--json is 'perhaps', must be true or false")

    def test_a_boolean_flag_leaves_the_input_alone(self):
        summary = self.succeed("kmeans", "--json", "X.npy", "-k", "3").json()
        self.assertEqual(summary["n"], 120)


if __name__ == "__main__":
    unittest.main()
