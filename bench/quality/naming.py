#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How often the name of a part is right, how often random parts get one, and whether "how sure" means
what it says, beside the names that everybody tries first (docs/experiments/naming.md).

    bench/quality/naming.py [--sets CHOOSE|REPORT] [--problems N] [--seed N]

Needs `make python`, shared/models and shared/data (MILIEU_MODELS and MILIEU_DATA name other places).
Half of Caltech's classes chose the statistic (CHOOSE); the other half and 15-Scenes report (REPORT)."""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("MILIEU_PYTHON_DIR", str(ROOT / "build/python")))
import milieu  # noqa: E402
import numpy as np  # noqa: E402

SHARED = ROOT.parent / "shared"
MODELS = pathlib.Path(os.environ.get("MILIEU_MODELS", SHARED / "models"))
DATA = pathlib.Path(os.environ.get("MILIEU_DATA", SHARED / "data"))
NETWORK = f"onnx:{MODELS / 'mobilenetv2_tv_fp32.onnx'}:preset=imagenet:normalize=false"

# ImageNet's labels that are right for a class, written down before the first run; classes without one
# (faces, brains, ...) are context and noise, never the question.
RIGHT = {
    "Leopards": "leopard|snow leopard|jaguar|cheetah",
    "Motorbikes": "moped|motor scooter|disk brake",
    "airplanes": "airliner|warplane|wing",
    "bonsai": "pot",
    "butterfly": "monarch|admiral|ringlet|cabbage butterfly|sulphur butterfly|lycaenid",
    "camera": "reflex camera|Polaroid camera",
    "car_side": "sports car|convertible|beach wagon|cab|limousine|minivan|racer|car wheel|grille|"
                "Model T|jeep|pickup",
    "cellphone": "cellular telephone|hand-held computer|iPod",
    "chandelier": "lampshade|table lamp|candle|torch",
    "ewer": "pitcher|water jug|vase|teapot|coffeepot|whiskey jug",
    "grand_piano": "grand piano|upright",
    "hawksbill": "loggerhead|leatherback turtle|terrapin|box turtle|mud turtle",
    "ibis": "white stork|black stork|spoonbill|flamingo|crane|limpkin|bittern|American egret|"
            "little blue heron",
    "kangaroo": "wallaby",
    "ketch": "schooner|yawl|catamaran|trimaran",
    "laptop": "laptop|notebook",
    "menorah": "candle",
    "revolver": "revolver|assault rifle|rifle|holster",
    "scorpion": "scorpion",
    "soccer_ball": "soccer ball",
    "starfish": "starfish",
    "sunflower": "daisy",
    "trilobite": "trilobite",
    "watch": "analog clock|stopwatch|digital watch|magnetic compass",
    "MITcoast": "seashore|sandbar|promontory|lakeside|breakwater|coral reef",
    "MITmountain": "alp|volcano|valley|cliff",
    "MITstreet": "cab|street sign|traffic light|parking meter|streetcar|trolleybus|police van|minivan|"
                 "minibus|beach wagon|recreational vehicle",
    "PARoffice": "desk|desktop computer|screen|monitor|mouse|computer keyboard",
    "bedroom": "studio couch|quilt|four-poster",
    "kitchen": "microwave|stove|dishwasher|refrigerator|toaster",
    "livingroom": "studio couch|fire screen|home theater|entertainment center|rocking chair|window shade",
    "store": "grocery store|shoe shop|bookshop|confectionery|toyshop|bakery|tobacco shop|butcher shop|"
             "barbershop",
}
RIGHT = {name: set(labels.split("|")) for name, labels in RIGHT.items()}
LINES = (MODELS / "imagenet_labels.txt").read_text().splitlines()[1:] if MODELS.exists() else []
HEADS = [line.split(",")[0] for line in LINES]
PROBLEMS = ["one of many", "pair", "six images", "30 % noise", "shared majority", "context"]


class Images:
    """Scores and classes of a set of images, of some of its classes."""

    def __init__(self, name, part):
        found = milieu.features.extract(DATA / name, NETWORK)
        names = sorted(set(found.class_names))
        self.name = f"{name}{'' if part is None else ', half ' + 'AB'[part]}"
        self.classes = names if part is None else names[part::2]
        self.scores = found.X
        self.rows = {c: np.flatnonzero(found.y == c) for c in self.classes}
        self.asked = [c for c in self.classes if c in RIGHT]

    def draw(self, random, name, count):
        return random.choice(self.rows[name], count, replace=False)


def problem(images, kind, random):
    """Parts as (rows, class), and the rows of the context or None."""
    choose = lambda count: list(random.choice(images.asked, count, replace=False))  # noqa: E731
    if kind == "one of many":
        return [(images.draw(random, c, 20), c) for c in images.asked], None
    if kind == "pair":
        return [(images.draw(random, c, 20), c) for c in choose(2)], None
    if kind == "six images":
        return [(images.draw(random, c, 6), c) for c in choose(4)], None
    if kind == "30 % noise":
        parts = []
        for c in choose(4):
            others = np.concatenate([images.draw(random, o, 2) for o in images.classes if o != c])
            parts.append((np.r_[images.draw(random, c, 14), random.choice(others, 6, False)], c))
        return parts, None
    if kind == "shared majority":  # 12 of 20 images of both parts are of one class
        a, b, both = choose(3)
        shared = images.draw(random, both, 24)
        return [(np.r_[images.draw(random, a, 8), shared[:12]], a),
                (np.r_[images.draw(random, b, 8), shared[12:]], b)], None
    a, b, c, d = choose(4)  # 11 of 20 images of each part are of a class that is in the context
    first, second = images.draw(random, c, 31), images.draw(random, d, 31)
    return [(np.r_[images.draw(random, a, 9), first[:11]], a),
            (np.r_[images.draw(random, b, 9), second[:11]], b)], np.r_[first[11:], second[11:]]


def softmax(scores):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def log_odds(a, b, prior=10):
    """Weighted log-odds with an informative Dirichlet prior, on soft counts (Monroe et al. 2008)."""
    ya, yb = a.sum(0), b.sum(0)
    base = (ya + yb) / (ya.sum() + yb.sum()) * prior + 1e-6
    total = base.sum()
    odds = lambda y: np.log((y + base) / (y.sum() + total - y - base))  # noqa: E731
    return (odds(ya) - odds(yb)) / np.sqrt(1 / (ya + base) + 1 / (yb + base))


def auc(a, b):
    """Area under the curve of every label's score."""
    order = np.argsort(np.argsort(np.concatenate([a, b]), axis=0), axis=0) + 1
    return (order[:len(a)].sum(0) - len(a) * (len(a) + 1) / 2) / (len(a) * len(b))


def naive_names(scores, part, rest, context):
    """The first label of a part by well-known rules; those that compare take the worse of both."""
    references = [rest] if context is None else [rest, context]
    inside = scores[part]
    worst = lambda rule, values: np.min(  # noqa: E731
        [rule(values(inside), values(scores[r])) for r in references], axis=0)
    frequent = np.bincount(inside.argmax(1), minlength=scores.shape[1])
    return {"most frequent top label": frequent.argmax(),
            "highest mean score": inside.mean(0).argmax(),
            "highest mean probability": softmax(inside).mean(0).argmax(),
            "log-odds, Dirichlet prior": worst(log_odds, softmax).argmax(),
            "rank test (AUC)": worst(auc, lambda values: values).argmax()}


def labelled(parts):
    return (np.concatenate([rows for rows, _ in parts]),
            np.repeat(np.arange(len(parts)), [len(rows) for rows, _ in parts]))


def right_names(images, count, seed):
    """Prints the share of right names per kind of problem."""
    table, extra = {}, {"named": [], "right": []}
    for kind in PROBLEMS:
        random = np.random.RandomState(seed)
        for _ in range(max(1, count // 8) if kind == "one of many" else count):
            parts, context = problem(images, kind, random)
            rows, labels = labelled(parts)
            around = None if context is None else images.scores[context]
            every = milieu.describe(labels, images.scores[rows], LINES, context=around, level=1)
            tested = milieu.describe(labels, images.scores[rows], LINES, context=around)
            for k, (part, c) in enumerate(parts):
                rest = np.setdiff1d(rows, part)
                found = naive_names(images.scores, part, rest, context)
                for rule, label in found.items():
                    table.setdefault(rule, {}).setdefault(kind, []).append(HEADS[label] in RIGHT[c])
                first = every[k][0].name.split(",")[0] if every[k] else ""
                table.setdefault("milieu, first label", {}).setdefault(kind, []).append(
                    first in RIGHT[c])
                names = [label.name.split(",")[0] in RIGHT[c] for label in tested[k]]
                extra["named"].append((kind, bool(names)))
                extra["right"] += [(kind, name) for name in names]
    print(f"\n{images.name}: {len(images.asked)} classes, seed {seed}, share of right first names, %")
    print(f"{'':28}" + "".join(f"{kind:>17}" for kind in PROBLEMS) + f"{'mean':>8}")
    for rule, by_kind in table.items():
        shares = [100 * np.mean(by_kind[kind]) for kind in PROBLEMS]
        print(f"{rule:28}" + "".join(f"{share:17.1f}" for share in shares) + f"{np.mean(shares):8.1f}")
    for what, title in (("named", "milieu, parts with a name"), ("right", "milieu, right of its names")):
        shares = [100 * np.mean([v for kind, v in extra[what] if kind == k] or [np.nan])
                  for k in PROBLEMS]
        print(f"{title:28}" + "".join(f"{share:17.1f}" for share in shares)
              + f"{np.nanmean(shares):8.1f}")


def calibration(images, count, seed):
    """Whether `sure` is the share of fresh samples of the same parts that give the label again."""
    random = np.random.RandomState(seed)
    pairs = []
    for _ in range(count):
        size = random.choice([8, 15, 25])
        chosen = random.choice(images.classes, 8, replace=False)
        halves = [[], []]
        for group in np.split(chosen, 4):  # parts of two classes, one of them smaller
            drawn = [images.draw(random, group[0], 2 * size), images.draw(random, group[1], size)]
            for h in range(2):
                halves[h].append(np.r_[drawn[0][h * size:(h + 1) * size],
                                       drawn[1][h * size // 2:(h + 1) * size // 2]])
        names = []
        for half in halves:
            rows, labels = labelled([(rows, None) for rows in half])
            names.append(milieu.describe(labels, images.scores[rows], LINES))
        for k in range(4):
            again = {label.label for label in names[1][k]}
            pairs += [(label.sure, label.label in again) for label in names[0][k]]
    sure, again = np.array(pairs).T
    print(f"\n{images.name}: how sure, and how often a fresh sample gives the label again "
          f"({len(sure)} labels)")
    for low, high in ((0, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
        mask = (sure >= low) & (sure < high)
        if mask.any():
            print(f"  sure {low:.2f} to {min(high, 1):.2f}: {mask.sum():5} labels, mean sure "
                  f"{sure[mask].mean():.2f}, again {again[mask].mean():.2f}")


def random_parts(images, count, seed):
    """How often parts drawn at random get any name; the level is 5 %."""
    random = np.random.RandomState(seed)
    named = {"two parts": 0, "five parts": 0, "two parts and a context": 0}
    pool = np.concatenate(list(images.rows.values()))
    for trial in range(count):
        rows = random.choice(pool, 160, replace=False)
        scores = images.scores[rows]
        for what, parts, size in (("two parts", 2, 80), ("five parts", 5, 16),
                                  ("two parts and a context", 2, 40)):
            labels = random.permutation(np.repeat(np.arange(parts), size))
            context = scores[80:] if "context" in what else None
            names = milieu.describe(labels, scores[:len(labels)], LINES, context=context,
                                    random_state=trial)
            named[what] += any(names)
    print(f"\n{images.name}: random parts with a name, of {count}: "
          + ", ".join(f"{what} {share}" for what, share in named.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", default="REPORT", choices=["CHOOSE", "REPORT"])
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not LINES or not (DATA / "caltech101").exists():
        sys.exit(f"naming.py needs {MODELS} and {DATA}")
    sets = {"CHOOSE": [("caltech101", 0)], "REPORT": [("caltech101", 1), ("scenes15", None)]}
    for name, part in sets[options.sets]:
        images = Images(name, part)
        right_names(images, options.problems, options.seed)
        calibration(images, options.problems, options.seed)
        random_parts(images, 4 * options.problems, options.seed)


if __name__ == "__main__":
    main()
