# SPDX-License-Identifier: Apache-2.0
"""milieu completion: bash sources the script and is asked, as the Tab key would ask. zsh and fish have
tests of their own in tests/packages, where these shells are installed."""

import shutil
import subprocess
import unittest

from support import PROGRAM, CliTest, environment


class CompletionTest(CliTest):
    def complete(self, *words):
        """What bash offers for the last of `words`."""
        if not shutil.which("bash"):
            self.skipTest("bash is not installed")
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        script = f"""
            source <("$1" completion bash)
            COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _milieu
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        result = subprocess.run(["bash", "-c", script, "bash", PROGRAM], capture_output=True,
                                text=True, env=environment(), cwd=self.folder, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_commands(self):
        self.assertEqual(self.complete("milieu", "kmo"), ["kmodes"])
        self.assertIn("score", self.complete("milieu", ""))
        self.assertEqual(self.complete("milieu", "--v"), ["--version"])
        self.assertEqual(self.complete("milieu", "help", "sc"), ["score"])

    def test_flags(self):
        self.assertEqual(self.complete("milieu", "kmeans", "X.npy", "--num-c"), ["--num-clusters"])
        self.assertEqual(self.complete("milieu", "kmeans", "--initial"), ["--initial-centers"])
        self.assertEqual(self.complete("milieu", "gmm", "--initial"), ["--initial-means"])
        self.assertIn("-k", self.complete("milieu", "kmeans", "-"))
        self.assertEqual(self.complete("milieu", "score", "--n"), [])

    def test_values_of_choices(self):
        self.assertEqual(self.complete("milieu", "kmeans", "--init", ""), ["kmeans++", "random"])
        self.assertEqual(self.complete("milieu", "gmm", "--covariance", "f"), ["full"])
        self.assertEqual(self.complete("milieu", "gmm", "--covariance", "=", "f"), ["full"])
        self.assertEqual(self.complete("milieu", "gmm", "--covariance", "="),
                         ["spherical", "diagonal", "full", "tied"])
        self.assertEqual(self.complete("milieu", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("milieu", "info", "--options", "nc"), ["ncut"])

    def test_files_are_left_to_the_shell(self):
        self.assertEqual(self.complete("milieu", "kmeans", "--labels", ""), [])
        self.assertEqual(self.complete("milieu", "kmeans", "X"), [])

    def test_other_shells_are_refused(self):
        self.assertEqual(self.fail_with(2, "completion", "tcsh"), "SHELL is 'tcsh', must be bash, zsh or fish")
        self.assertIn("SHELL is missing", self.fail_with(2, "completion"))


if __name__ == "__main__":
    unittest.main()
