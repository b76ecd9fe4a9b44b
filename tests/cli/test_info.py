# SPDX-License-Identifier: Apache-2.0
"""milieu info: what files are, what the program runs on, and the options tables of the docs."""

import os
import unittest

from support import HERE, CliTest, blobs


class InfoTest(CliTest):
    def test_program_describes_itself(self):
        version = (HERE.parent.parent / "VERSION").read_text().strip()
        out = self.succeed("info").out
        self.assertRegex(out, rf"(?m)^version +{version}$")
        self.assertRegex(out, r"(?m)^compiler +(gcc|clang) \d+")
        self.assertRegex(out, r"(?m)^instruction set +\S+")
        self.assertRegex(out, r"(?m)^gemm +\S+")
        facts = self.succeed("info", "--json").json()
        self.assertEqual(facts["version"], version)
        self.assertEqual(int(facts["threads"]), len(os.sched_getaffinity(0)))

    def test_files_are_recognised_by_their_content(self):
        points, classes = blobs()
        self.save("X.npy", points)
        self.save("y.npy", classes)
        self.succeed("kmeans", "X.npy", "-k", "3", "--out", "run", "--quiet")
        out = self.succeed("info", "X.npy").out
        self.assertTrue(out.startswith("X.npy: "))
        self.assertIn("float32", out)
        self.assertIn("(120, 4)", out)
        out = self.succeed("info", "run/model.safetensors").out
        self.assertIn("kmeans", out)
        self.assertIn("centers", out)
        self.assertIn("kmeans", self.succeed("info", "run").out)

    def test_broken_and_missing_files_are_failures(self):
        self.assertIn("none.npy", self.fail_with(1, "info", "none.npy"))
        self.write("cut.npy", b"\x93NUMPY\x01\x00")
        self.assertIn("cut.npy", self.fail_with(1, "info", "cut.npy"))

    def test_options_table_of_a_method(self):
        out = self.succeed("info", "--options", "kmeans").out
        self.assertTrue(out.startswith("| flag | default | range | meaning |\n"))
        self.assertIn("| `--num-clusters`, `-k` | `8` | at least 1 | number of clusters |", out)
        self.assertEqual(self.fail_with(2, "info", "--options", "kmean"),
                         "--options is 'kmean', must be a method or a feature: did you "
                         "mean kmeans?")
        self.assertEqual(self.fail_with(2, "info", "--options", "score"),
                         "--options is 'score', must be a method or a feature")


if __name__ == "__main__":
    unittest.main()
