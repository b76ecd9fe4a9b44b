# SPDX-License-Identifier: Apache-2.0
"""milieu gmm: the shared cases, and what only the mixture has (covariances, weights, given means)."""

import unittest

import numpy as np

from method_cases import MethodCases
from support import CliTest


class GmmTest(MethodCases, CliTest):
    command = "gmm"
    arguments = ["-k", "3"]
    slow_arguments = ["-k", "64", "--covariance", "full", "--restarts", "100", "--rel-tolerance",
                      "0"]

    def test_each_covariance_finds_the_parts(self):
        for covariance in ("spherical", "diagonal", "full", "tied"):
            summary = self.fit("--covariance", covariance, "--labels", "y.npy", "--json").json()
            self.assertEqual(summary["metrics"]["accuracy"], 1, covariance)

    def test_unknown_covariance_names_the_known_ones(self):
        self.assertEqual(
            self.fail_with(2, "gmm", "X.npy", "--covariance", "round"),
            "covariance is 'round', must be spherical, diagonal, full or tied")

    def test_weights_follow_the_rows(self):
        # A weight of 2 is the same as the row given twice.
        weights = np.ones(len(self.samples))
        weights[:10] = 2
        self.save("w.npy", weights)
        self.save("twice.npy", np.concatenate([self.samples, self.samples[:10]]))
        means = np.stack([self.samples[self.classes == c].mean(axis=0) for c in range(3)])
        self.save("m.npy", means)
        arguments = ("-k", "3", "--initial-means", "m.npy", "--json")
        weighted = self.succeed("gmm", "X.npy", "--weights", "w.npy", *arguments).json()
        twice = self.succeed("gmm", "twice.npy", *arguments).json()
        self.assertAlmostEqual(weighted["objective"] / twice["objective"], 1, 6)

    def test_given_means_number_the_clusters(self):
        means = np.stack([self.samples[self.classes == c].mean(axis=0) for c in (2, 0, 1)])
        self.save("m.npy", means)
        self.fit("--initial-means", "m.npy", "--out", "run")
        np.testing.assert_array_equal(self.labels("run"), np.array([1, 2, 0])[self.classes])

    def test_log_likelihood_never_falls(self):
        self.save("slow.npy", np.random.RandomState(1).rand(500, 3))
        trace = self.succeed("gmm", "slow.npy", "-k", "6", "--json").json()["trace"]
        self.assertGreater(len(trace), 2)
        self.assertGreaterEqual(np.diff(trace).min(), -1e-9 * abs(trace[-1]))


if __name__ == "__main__":
    unittest.main()
