# SPDX-License-Identifier: Apache-2.0
"""Strings, which have no vectors: DCP by a kernel matrix from end to end.

Words in made languages differ in their endings and in their vowels. A kernel counts what two words have
in common; contexts are ranked by it, the best split is fitted, and new words get their part.
"""

import sys
from collections import Counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from milieu import DCP, KMeans
from milieu.metrics import matched_accuracy

VOWELS = ("ae", "ou")
ENDINGS = ("sti", "mek")


def word(vowels, endings, rng):
    """Four syllables, then an ending."""
    syllables = ["ptkrln"[rng.integers(6)] + vowels[rng.integers(len(vowels))] for _ in range(4)]
    return "".join(syllables) + endings[rng.integers(len(endings))]


def draw(count, rng, vowels=None, endings=None):
    """Words with their number in each factor; a factor that is given is the same for all."""
    words, kinds = [], []
    for i in range(count):
        kind = (i % 2, i // 2 % 2)
        words.append(word(vowels or VOWELS[kind[0]], endings or [ENDINGS[kind[1]]], rng))
        kinds.append(kind)
    return words, np.array(kinds)


def spectrum_kernel(first, second):
    """How many letters and pairs of letters two words have in common, as a share (a cosine)."""
    def counts(word):
        return Counter(word) + Counter(word[i:i + 2] for i in range(len(word) - 1))

    def product(a, b):
        return sum(n * b[part] for part, n in a.items())

    left, right = [counts(word) for word in first], [counts(word) for word in second]
    norms = [np.sqrt([product(c, c) for c in side]) for side in (left, right)]
    matrix = np.array([[product(a, b) for b in right] for a in left], dtype=np.float64)
    return (matrix / np.outer(*norms)).astype(np.float32)


def main(picture="dcp_strings.png"):
    rng = np.random.default_rng(0)
    words, kinds = draw(120, rng)
    # Contexts lie between the values of one factor: words with all vowels, words with both endings.
    contexts = {"vowels": draw(120, rng, vowels="aeou")[0],
                "endings": [a[:-3] + "stk" for a in draw(120, rng)[0]]}
    fresh, fresh_kinds = draw(80, rng)
    everything = words + [w for context in contexts.values() for w in context]

    dcp = DCP(2, kernel="precomputed", random_state=0)
    ranking = dcp.rank_contexts(
        spectrum_kernel(words, everything),
        {name: spectrum_kernel(context, everything) for name, context in contexts.items()})
    for ranked in ranking:
        print(f"{ranked.name}: confidence {ranked.confidence:.2f}")

    baseline = KMeans(2, random_state=0).fit(spectrum_kernel(words, words)).labels_
    results = {}
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
    for axis, (column, (factor, context)) in zip(axes, enumerate(contexts.items())):
        columns = words + context
        dcp.fit(spectrum_kernel(words, columns), context=spectrum_kernel(context, columns))
        labels = dcp.predict(spectrum_kernel(fresh, columns))
        results[factor] = matched_accuracy(fresh_kinds[:, column], labels)
        print(f"new words split by their {factor}: dcp {results[factor]:.1%}, "
              f"k-means {matched_accuracy(kinds[:, column], baseline):.1%} (of the words it has seen)")
        for part in (0, 1):
            shown = [w for w, label in zip(fresh, labels) if label == part][:9]
            axis.text(0.05 + 0.5 * part, 0.95, "\n".join(shown), va="top", family="monospace")
        axis.set_title(f"context between {factor}", fontsize=10)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return results


if __name__ == "__main__":
    main(*sys.argv[1:])
