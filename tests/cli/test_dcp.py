# SPDX-License-Identifier: Apache-2.0
"""milieu dcp: the shared cases with a context file, contexts from classes, constraints, ranking."""

import csv
import json
import unittest

import numpy as np

from method_cases import MethodCases
from support import RUN_FILES, CliTest


class DcpTest(MethodCases, CliTest):
    command = "dcp"
    arguments = ["-k", "3", "--context", "Z.npy"]
    one_cluster = ["-k", "1", "--context", "Z.npy"]
    slow_arguments = ["-k", "8", "--context", "slow_context.npy", "--restarts", "200",
                      "--rel-tolerance", "0", "--max-iterations", "100000"]
    extra_files = ["columns.safetensors", "decisions.csv"]
    extra_input = {"context": "Z.npy"}

    def setUp(self):
        super().setUp()
        centers = np.array([self.samples[self.classes == c].mean(0) for c in range(3)])
        between = [(centers[i] + centers[j]) / 2 for i in range(3) for j in range(i)]
        random = np.random.RandomState(1)
        self.save("Z.npy", np.repeat(between, 5, 0).astype(np.float32) +
                  random.uniform(-.3, .3, (15, 4)).astype(np.float32))
        self.save("slow_context.npy", np.random.RandomState(2).rand(5000, 32).astype(np.float32))

    def test_number_of_clusters_is_checked(self):
        self.assertEqual(self.fail_with(2, "dcp", "X.npy", "-k", "0"),
                         "num_clusters is 0, must be at least 1")
        self.assertRegex(self.fail_with(2, "dcp", "X.npy", "--context", "Z.npy", "-k", "121"),
                         r"num_clusters is 121\b.*120")

    def test_one_margin_everywhere_also_under_constraints_issue19(self):
        free = np.loadtxt(self.folder / self.fit_folder() / "labels.csv", delimiter=",", skiprows=1)
        parts = np.full(120, -1)
        mates = np.flatnonzero(free[:, 1] == 0)[:3]
        parts[mates] = [0, 1, 2]  # of three samples of one part, two must go elsewhere
        self.save("parts.npy", parts)
        self.fit("--memberships", "parts.npy", "--out", "forced")
        table = np.loadtxt(self.folder / "forced/decisions.csv", delimiter=",", skiprows=1)
        labels, margins, values = table[:, 1].astype(int), table[:, 2], table[:, 3:]
        own = values[np.arange(120), labels]
        values[np.arange(120), labels] = -np.inf
        np.testing.assert_allclose(margins, own - values.max(axis=1), rtol=1e-4, atol=1e-4)
        self.assertEqual(np.flatnonzero(margins < 0).tolist(), sorted(mates[margins[mates] < 0]))
        self.assertEqual((margins[mates] < 0).sum(), 2)
        stored = (self.folder / "forced/columns.safetensors").read_bytes()
        header = json.loads(stored[8:8 + int.from_bytes(stored[:8], "little")])
        begin, end = header["margins"]["data_offsets"]
        data = stored[8 + int.from_bytes(stored[:8], "little"):]
        np.testing.assert_array_equal(np.frombuffer(data[begin:end], np.float32),
                                      margins.astype(np.float32))

    def fit_folder(self):
        self.fit("--out", "free")
        return "free"

    def test_gain_and_its_parts_are_in_the_summary(self):
        margin = ["--preset", "margin", "--json"]
        summary = self.fit(*margin).json()
        whole = summary["joint_objective"] + 2 * summary["empty_objective"]
        self.assertAlmostEqual(summary["gain"], 1 - summary["objective"] / whole, places=9)
        self.assertGreater(summary["gain"], 0.5)
        self.assertLessEqual(summary["gap"], 1e-6 * summary["objective"])
        self.assertEqual(len(summary["restart_objectives"]), 20)
        # Restarts find the best split or a worse one, all the same as that of the second restart.
        num_worse = sum(o > 2 * summary["objective"] for o in summary["restart_objectives"])
        worse = self.fit("--restarts", "2", "--crossings", "0", *margin).json()["agreement"]
        self.assertTrue(0 < worse < 1 <= num_worse)
        self.assertAlmostEqual(summary["agreement"], 1 - num_worse * (1 - worse) / 19, places=9)
        self.assertGreater(summary["evaluations"], 20)
        self.assertGreater(summary["evaluations"],  # crossings count, those that do not help as well
                           self.fit("--crossings", "0", *margin).json()["evaluations"])

    def test_confidence_is_in_the_summary_issue26(self):
        summary = self.fit("--json").json()
        self.assertTrue(0.7 < summary["confidence"] <= 1)
        self.assertNotIn("gain", summary)
        self.assertIn(summary["whitening_floor"], (1, 0.3, 0.1, 0.03))
        self.assertEqual(self.fit("--whiten", "0.2", "--json").json()["whitening_floor"], 0.2)
        self.assertEqual(
            self.fail_with(2, "dcp", "X.npy", *self.arguments, "--whiten", "much"),
            "whiten is 'much', must be none or numbers of at least 0, such as 1,0.3,0.1")

    def test_golden_line(self):
        self.save("line.npy", np.array([[-2.], [-1], [1], [2]]))
        self.save("zero.npy", np.array([[0.]]))
        for loss, cost, wanted in (("hinge", 100, 5), ("hinge", 0.5, 1.75),
                                   ("squared-hinge", 1, 2.181818)):
            summary = self.succeed("dcp", "line.npy", "--context", "zero.npy", "-k", "2",
                                   "--preset", "margin", "--loss", loss, "--cost", cost, "--center", "false", "--json").json()
            self.assertAlmostEqual(summary["objective"], wanted, delta=2e-6)
            self.assertEqual(summary["sizes"], [2, 2])

    def test_context_from_classes(self):
        summary = self.succeed("dcp", "X.npy", "--labels", "y.npy", "--select", "0,1",
                               "--context-select", "2", "-k", "2", "--json").json()
        self.assertEqual((summary["n"], summary["num_context"]), (80, 40))
        everything_else = self.succeed("dcp", "X.npy", "--labels", "y.npy", "--context-select", "2",
                                       "-k", "2", "--json").json()
        for key in ("n", "num_context", "objective", "sizes"):
            self.assertEqual(everything_else[key], summary[key], key)
        self.assertIn("nothing is left to split",
                      self.fail_with(2, "dcp", "X.npy", "--labels", "y.npy", "--context-select",
                                     "0,1,2"))
        self.assertIn('has no class "7"',
                      self.fail_with(2, "dcp", "X.npy", "--labels", "y.npy", "--select", "0",
                                     "--context-select", "7"))

    def test_context_is_needed_once(self):
        self.assertIn("the context is missing", self.fail_with(2, "dcp", "X.npy", "-k", "2"))
        self.assertIn("give only one of --context, --context-select and --context-rows",
                      self.fail_with(2, "dcp", "X.npy", "--context", "Z.npy", "--context-select", "1"))

    def test_bad_contexts_are_named(self):
        self.save("wide.npy", np.zeros((3, 7)))
        self.assertEqual(self.fail_with(2, "dcp", "X.npy", "--context", "wide.npy"),
                         "context has 7 columns, points has 4: they must match")
        self.save("empty.npy", np.zeros((0, 4)))
        self.assertIn("empty.npy", self.fail_with(1, "dcp", "X.npy", "--context", "empty.npy"))
        summary = self.succeed("dcp", "X.npy", "--context", "X.npy", "--json").json()
        self.assertTrue(any("120 of 120 samples are also in the context" in w
                            for w in summary["warnings"]), summary["warnings"])

    def test_constraints_hold(self):
        self.write("must.csv", f"{0},{1}\n")
        self.write("cannot.csv", "2,3\n3,4\n")
        known = -np.ones(120, dtype=int)
        known[7] = 1
        self.save("known.npy", known)
        self.fit("--must-link", "must.csv", "--cannot-link", "cannot.csv", "--memberships",
                 "known.npy", "--out", "run")
        labels = self.labels("run")
        self.assertEqual(labels[0], labels[1])
        self.assertNotEqual(labels[2], labels[3])
        self.assertNotEqual(labels[3], labels[4])
        self.assertEqual(labels[7], 1)
        sizes = self.fit("--sizes", "30-45", "--json").json()["sizes"]
        self.assertTrue(all(30 <= size <= 45 for size in sizes), sizes)

    def test_contradictions_are_refused_with_their_smallest_set(self):
        self.write("must.csv", "0,1\n1,2\n5,6\n")
        self.write("cannot.csv", "0,2\n8,9\n")
        self.assertEqual(
            self.fail_with(2, "dcp", "X.npy", *self.arguments, "--must-link", "must.csv",
                           "--cannot-link", "cannot.csv"),
            "no split into 3 parts of 120 samples obeys all constraints; these contradict each "
            "other: samples 0 and 1 together; samples 0 and 2 apart; samples 1 and 2 together: "
            "drop one of them")

    def test_links_name_rows_of_the_input(self):
        self.write("must.csv", "0,500\n")
        self.assertIn("must.csv names row 500",
                      self.fail_with(1, "dcp", "X.npy", *self.arguments, "--must-link", "must.csv"))

    def test_kernels_and_precomputed_agree(self):
        rows = np.flatnonzero(self.classes == 2)
        gram = (self.samples @ self.samples.T).astype(np.float32)
        self.save("K.npy", gram)
        common = ["--labels", "y.npy", "--select", "0,1", "--context-select", "2", "-k", "2",
                  "--cost", "1", "--json"]
        linear = self.succeed("dcp", "X.npy", *common).json()
        given = self.succeed("dcp", "K.npy", "--kernel", "precomputed", *common).json()
        self.assertEqual(len(rows), given["num_context"])
        self.assertAlmostEqual(given["objective"], linear["objective"],
                               delta=1e-3 * linear["objective"])
        self.save("bad.npy", np.where(np.eye(120) > 0, -1, gram).astype(np.float32))
        self.assertIn("not positive semi-definite",
                      self.fail_with(2, "dcp", "bad.npy", "--kernel", "precomputed", *common))

    def test_matrix_of_similarities_must_be_square_issue30(self):
        """Columns of the selected rows were read beyond the end of each row."""
        gram = (self.samples @ self.samples.T).astype(np.float32)
        for name, matrix in {"wide": np.hstack([gram, gram[:, :1]]), "narrow": gram[:, :7]}.items():
            self.save("K.npy", matrix)
            self.assertIn("must be square", self.fail_with(
                1, "dcp", "K.npy", "--kernel", "precomputed", "--labels", "y.npy", "--select", "0,1",
                "--context-select", "2", "-k", "2"), name)

    def test_options_file_from_before_whitening_means_what_it_meant(self):
        self.fit("--preset", "margin", "--out", "before")
        before = json.loads((self.folder / "before" / "summary.json").read_text())
        path = self.folder / "before" / "options.json"
        options = json.loads(path.read_text())
        for name in ("whiten", "cost_per", "min_share"):  # as version 0.1.0 wrote it
            del options["options"][name]
        path.write_text(json.dumps(options))
        again = self.succeed("dcp", "--options", "before", "--out", "again", "--json").json()
        self.assertEqual(again["objective"], before["objective"])
        kept = json.loads((self.folder / "again" / "options.json").read_text())["options"]
        self.assertEqual((kept["whiten"], kept["cost_per"], kept["min_share"]), ("none", "sample", 0))

    def test_paper_preset(self):
        self.fit("--preset", "paper", "--out", "run")
        options = json.loads((self.folder / "run/options.json").read_text())["options"]
        self.assertEqual((options["loss"], options["cost"], options["center"], options["init"]),
                         ("hinge", 100, False, "random"))

    def test_prediction_repeats_the_labels(self):
        for kernel in ("linear", "polynomial"):
            self.fit("--kernel", kernel, "--out", kernel)
            out = self.succeed("predict", kernel, "X.npy").out
            self.assertEqual(list(map(int, out.split())), list(self.labels(kernel)))

    def test_decisions_are_written(self):
        self.fit("--out", "run")
        lines = (self.folder / "run/decisions.csv").read_text().splitlines()
        self.assertEqual(lines[0], "sample,label,margin,part_0,part_1,part_2")
        for line in lines[1:]:
            sample, label, margin, *values = line.split(",")
            values = sorted(map(float, values))
            self.assertAlmostEqual(float(margin), values[2] - values[1], delta=1e-4)


def fnv1a(text):
    """The checksum of a line of a file that keeps a ranking."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


class DcpRankTest(CliTest):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        corners = np.array([[-5, -5], [5, -5], [-5, 5], [5, 5]])
        samples = np.repeat(corners, 20, 0) + (.25, .5) * random.randn(80, 2)
        upright = [(x, 0) + (.3, 5) * random.randn(30, 2) for x in (0, .5)]
        flat = (0, 0) + (5, .3) * random.randn(30, 2)
        self.save("X.npy", np.concatenate([samples, *upright, flat]).astype(np.float32))
        self.save("y.npy", np.repeat([0, 1, 2, 3], [80, 30, 30, 30]))

    arguments = ["dcp", "X.npy", "--labels", "y.npy", "--select", "0", "--rank-contexts"]

    def test_table_and_json(self):
        out = self.succeed(*self.arguments).out
        self.assertRegex(out, r"(?m)^ +rank +context +match +confidence +consensus +stability")
        self.assertRegex(out, r"(?m)^ +4 +3 ")  # the odd one out
        summary = self.succeed(*self.arguments, "--json", "--out", "run").json()
        self.assertEqual(sorted(summary["contexts"][:3]), ["1", "2", "all contexts"])
        self.assertEqual(summary["context"], summary["contexts"][0])
        self.assertEqual(len(summary["context_confidence"]), 4)
        self.assertEqual(sorted(self.run_files("run")),
                         sorted(RUN_FILES + ["columns.safetensors", "contexts.csv", "decisions.csv"]))

    def test_some_classes_and_folders(self):
        summary = self.succeed(*self.arguments, "--context-select", "1,3", "--json").json()
        self.assertEqual(sorted(summary["contexts"]), ["1", "3", "all contexts"])
        X, y = np.load(self.folder / "X.npy"), np.load(self.folder / "y.npy")
        (self.folder / "contexts").mkdir()
        for c in (1, 3):
            self.save(f"contexts/c{c}.npy", X[y == c])
        self.save("S.npy", X[y == 0])
        summary = self.succeed("dcp", "S.npy", "--context", "contexts", "--rank-contexts",
                               "--json").json()
        self.assertEqual(sorted(summary["contexts"]), ["all contexts", "c1", "c3"])
        self.assertIn("rank its files", self.fail_with(2, "dcp", "S.npy", "--context", "contexts"))

    def test_weights_and_constraints_count_issue30(self):
        separations = lambda run: [row["separation"] for row in csv.DictReader(
            (self.folder / run / "contexts.csv").read_text().splitlines())]
        self.succeed(*self.arguments, "--resume", "state.json", "--out", "plain")
        weights = np.r_[np.full(40, 1), np.full(130, 1e-6)]
        self.save("w.npy", weights)
        self.succeed(*self.arguments, "--weights", "w.npy", "--out", "weighted")
        self.assertNotEqual(sorted(separations("weighted")), sorted(separations("plain")))
        self.assertIn("belongs to a ranking of other data or options", self.fail_with(
            2, *self.arguments, "--weights", "w.npy", "--resume", "state.json"))
        self.write("cannot.csv", "0,1\n")
        bound = self.succeed(*self.arguments, "--cannot-link", "cannot.csv", "--json", "--out", "bound").json()
        self.assertEqual(len(bound["contexts"]), 4)
        labels = self.labels("bound")
        self.assertNotEqual(labels[0], labels[1])

    def test_precomputed_kernel_is_ranked_issue30(self):
        X = np.load(self.folder / "X.npy").astype(np.float64)
        self.save("K.npy", (X @ X.T).astype(np.float32))
        plain = ["--whiten", "none", "--center", "false", "--json"]
        linear = self.succeed(*self.arguments, *plain, "--out", "linear").json()
        given = self.succeed("dcp", "K.npy", *self.arguments[2:], *plain, "--kernel", "precomputed",
                             "--out", "given").json()
        self.assertEqual(given["contexts"], linear["contexts"])
        self.assertEqual(list(self.labels("given")), list(self.labels("linear")))
        self.save("S.npy", X[:80].astype(np.float32))
        (self.folder / "contexts").mkdir()
        self.save("contexts/a.npy", X[80:].astype(np.float32))
        self.assertIn("must be rows of INPUT", self.fail_with(
            2, "dcp", "S.npy", "--context", "contexts", "--rank-contexts", "--kernel", "precomputed"))

    def test_vote_of_the_contexts_issue30(self):
        ranking = self.succeed(*self.arguments, "--json", "--out", "first").json()
        summary = self.succeed(*self.arguments, "--vote", "--json", "--out", "vote").json()
        self.assertEqual(summary["contexts"], ranking["contexts"])
        with open(self.folder / "vote/votes.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        votes = np.array([[int(row[name]) for name in summary["contexts"]] for row in rows])
        first = np.loadtxt(self.folder / "first/labels.csv", delimiter=",", skiprows=1, dtype=int)
        np.testing.assert_array_equal(votes[:, 0], first[:, 1])
        # Two parts: the numbering of each context that agrees with the first one most.
        aligned = np.array([v if (v == votes[:, 0]).mean() >= .5 else 1 - v for v in votes.T]).T
        share = aligned.mean(1)
        wanted = np.where(share == .5, votes[:, 0], share > .5)
        elected = np.array([int(row["label"]) for row in rows])
        np.testing.assert_array_equal(elected, wanted)
        np.testing.assert_array_equal(self.labels("vote"), wanted)
        agreement = np.maximum(share, 1 - share)
        np.testing.assert_allclose([float(row["agreement"]) for row in rows], agreement, atol=1e-6)
        self.assertAlmostEqual(summary["vote_agreement"], agreement.mean(), places=6)
        self.assertEqual(summary["sizes"], np.bincount(elected, minlength=2).tolist())
        self.assertIn("add --rank-contexts", self.fail_with(
            2, "dcp", "X.npy", "--labels", "y.npy", "--context-select", "2", "--vote"))

    def test_select_is_needed(self):
        self.assertIn("rank_contexts needs select",
                      self.fail_with(2, "dcp", "X.npy", "--labels", "y.npy", "--rank-contexts"))

    def test_a_stopped_ranking_says_how_to_resume(self):
        summary = self.succeed(*self.arguments, "--time-limit", "0.000001", "--json").json()
        self.assertEqual(summary["termination"], "TimeLimit")
        self.assertTrue(any("0 of 4 contexts" in w and "--resume FILE" in w
                            for w in summary["warnings"]), summary["warnings"])

    def test_finished_contexts_are_kept(self):
        whole = self.succeed(*self.arguments, "--resume", "state.json", "--json").json()
        lines = (self.folder / "state.json").read_text().splitlines(True)
        self.assertEqual(len(lines), 5)
        self.write("state.json", "".join(lines[:3]) + lines[3][:20])  # as a kill leaves it
        again = self.succeed(*self.arguments, "--resume", "state.json", "--json").json()
        for key in ("contexts", "context_match", "context_confidence", "context_consensus", "context_stability"):
            self.assertEqual(again[key], whole[key])
        self.assertIn("belongs to a ranking of other data or options",
                      self.fail_with(2, *self.arguments, "--resume", "state.json", "--cost", "7"))
        self.write("other.json", "tea")
        self.assertIn("other.json does not hold a ranking",
                      self.fail_with(1, *self.arguments, "--resume", "other.json"))

    def test_labels_that_were_kept_are_checked_issue20(self):
        self.succeed(*self.arguments, "--resume", "state.json")
        head, first, *more = (self.folder / "state.json").read_text().splitlines(True)
        split = json.loads(first[:-18])
        for change, message in (
                (lambda labels: labels[:-1], "has 79 labels"),
                (lambda labels: [7] + labels[1:], "has the label 7"),
                (lambda labels: [1 - labels[0]] + labels[1:], None)):
            text = json.dumps({**split, "labels": change(split["labels"])}, separators=(",", ":"))
            self.write("state.json", head + text + first[-18:] + "".join(more))
            self.assertIn("state.json is damaged at line 2",
                          self.fail_with(1, *self.arguments, "--resume", "state.json"))
            if message:
                self.write("state.json", f"{head}{text} {fnv1a(text):016x}\n" + "".join(more))
                self.assertIn(message, self.fail_with(1, *self.arguments, "--resume", "state.json"))

    def test_contexts_of_other_rows_are_not_taken_issue20(self):
        """The selection changes to a class of equal size, or the data to others of equal shape."""
        self.succeed(*self.arguments, "--resume", "state.json")
        changed = ["1" if word == "0" else word for word in self.arguments]
        self.assertIn("belongs to a ranking of other data",
                      self.fail_with(2, *changed, "--resume", "state.json"))
        points = np.load(self.folder / "X.npy")
        self.save("X.npy", points[::-1].copy())
        self.assertIn("belongs to a ranking of other data",
                      self.fail_with(2, *self.arguments, "--resume", "state.json"))


if __name__ == "__main__":
    unittest.main()
