# SPDX-License-Identifier: Apache-2.0
"""milieu dcp on strings, which have no vectors, by a kernel matrix from end to end: fit, rank, predict, report."""

import json
import unittest
from collections import Counter

import numpy as np

from support import CliTest

VOWELS, ENDINGS = ("ae", "ou"), ("sti", "mek")


def make_words(count, random, vowels=None, ending=None):
    """Four syllables and an ending; a factor that is given is the same for all words."""
    words = []
    for i in range(count):
        letters = vowels or VOWELS[i % 2]
        words.append("".join("ptkrln"[random.randint(6)] + letters[random.randint(len(letters))] for _ in range(4))
                     + (ending or ENDINGS[i // 2 % 2]))
    return words


def spectrum_kernel(first, second):
    counts = [[Counter(w) + Counter(w[i:i + 2] for i in range(len(w) - 1)) for w in side] for side in (first, second)]
    product = lambda a, b: sum(n * b[part] for part, n in a.items())
    norms = [np.sqrt([product(c, c) for c in side]) for side in counts]
    return (np.array([[product(a, b) for b in counts[1]] for a in counts[0]]) / np.outer(*norms)).astype(np.float32)


class DcpStringsTest(CliTest):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.words = make_words(80, random)
        self.contexts = {"vowels": make_words(80, random, vowels="aeou"),
                         "endings": make_words(80, random, ending="stk")}
        everything = self.words + [w for context in self.contexts.values() for w in context]
        self.save("K.npy", spectrum_kernel(everything, everything))
        self.write("names.csv", "label\n" + "words\n" * 80 + "vowels\n" * 80 + "endings\n" * 80)
        self.arguments = ["dcp", "K.npy", "--kernel", "precomputed", "--labels", "names.csv", "--select", "words", "-k", "2"]

    def test_strings_are_ranked_split_reported_and_predicted_issue30(self):
        ranking = self.succeed(*self.arguments, "--context-select", "vowels,endings", "--rank-contexts", "--json",
                               "--out", "ranked").json()
        self.assertEqual({entry for entry in ranking["contexts"]}, {"vowels", "endings", "all contexts"})
        self.assertIn("contexts", (self.folder / "ranked/report.html").read_text())
        fresh = make_words(60, np.random.RandomState(1))
        for factor, truth in (("vowels", np.arange(60) % 2), ("endings", np.arange(60) // 2 % 2)):
            self.succeed(*self.arguments, "--context-select", factor, "--out", factor)
            self.assertIn("<h1>", (self.folder / factor / "report.html").read_text())
            self.save("fresh.npy", spectrum_kernel(fresh, self.words + self.contexts[factor]))
            found = np.array(self.succeed("predict", factor, "fresh.npy").out.split(), int)
            self.assertGreater(max((found == truth).mean(), (found != truth).mean()), 0.9, factor)


if __name__ == "__main__":
    unittest.main()
