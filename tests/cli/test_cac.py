# SPDX-License-Identifier: Apache-2.0
"""milieu cac: the shared cases (without context it is k-means), then words and phrases."""

import base64
import json
import signal
import unittest

import numpy as np
from PIL import Image

import images
from method_cases import MethodCases
from support import CliTest, blobs


class CacWithoutContextTest(MethodCases, CliTest):
    command = "cac"
    arguments = ["--words", "3"]
    takes_k = False
    one_cluster = ["--words", "1"]
    slow_arguments = ["--words", "200", "--restarts", "10000"]
    extra_files = ["columns.safetensors"]

    def test_without_context_it_is_kmeans(self):
        summary = self.fit("--json", "--scaling", "raw", "--out", "run").json()
        self.assertIn("there is no context", summary["warnings"][0])
        plain = self.succeed("kmeans", "X.npy", "-k", "3", "--json", "--out", "plain").json()
        self.assertEqual(summary["objective"], plain["objective"])
        np.testing.assert_array_equal(self.labels("run"), self.labels("plain"))


def textures(n=300, seed=0):
    """Two halves of an image. Both hold words 0 and 1 in the plane of features; word 2 occurs on the
    left only, word 3 on the right."""
    random = np.random.RandomState(seed)
    positions = random.uniform(0, 100, (n, 2))
    side = (positions[:, 0] > 50).astype(int)
    words = np.where(random.rand(n) < 0.4, random.randint(0, 2, n), 2 + side)
    centers = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
    points = centers[words] + random.normal(size=(n, 2))
    return points.astype(np.float32), positions.astype(np.float32), words, side


def linked_pages(seed=1, num_pages=300):
    """Pages of three topics: columns of words, and links that are six times denser within a topic."""
    random = np.random.RandomState(seed)
    topics = np.arange(num_pages) % 3
    X = random.randn(3, 8)[topics] + 1.2 * random.randn(num_pages, 8)
    chance = np.where(topics[:, None] == topics[None], 18 / num_pages, 1.5 / num_pages)
    links = np.transpose(np.triu(random.rand(num_pages, num_pages) < chance, 1).nonzero())
    return X.astype(np.float32), topics, links.tolist()


class CacTest(CliTest):
    def setUp(self):
        super().setUp()
        self.points, self.positions, self.words, self.side = textures()
        self.save("X.npy", self.points)
        self.save("P.npy", self.positions)
        self.save("words.npy", self.words)
        self.save("side.npy", self.side)
        self.arguments = ["cac", "X.npy", "--words", "4", "--phrases", "2"]

    def fit(self, *more):
        return self.succeed(*self.arguments, *more)

    def test_positions_make_words_and_phrases(self):
        summary = self.fit("--positions", "P.npy", "--truth", "side.npy", "--word-truth",
                           "words.npy", "--json", "--out", "run").json()
        self.assertLess(summary["metrics"]["error"], 0.1)
        self.assertLess(summary["word_metrics"]["error"], 0.05)
        self.assertEqual(summary["num_groups"], 300)
        self.assertEqual(len(summary["phrases"]), 2)
        self.assertRegex(summary["phrases"][0], r"^phrase 0 = words \d")
        self.assertEqual(len(summary["step_error"]), len(summary["step_kinds"]))
        self.assertEqual(len(summary["step_word_error"]), len(summary["step_j1"]))
        self.assertAlmostEqual(summary["step_error"][-1], summary["metrics"]["error"])
        self.assertEqual(len(self.labels("run")), 300)
        files = self.run_files("run")
        self.assertEqual(sorted(files), ["columns.safetensors", "labels.csv", "model.safetensors",
                                         "options.json", "phrases.txt", "report.html", "steps.csv",
                                         "summary.json", "words.csv"])
        lines = files["words.csv"].decode().splitlines()
        self.assertEqual(lines[0], "row,view,word,margin")
        self.assertEqual(len(lines), 301)
        header = files["steps.csv"].decode().splitlines()[0]
        self.assertEqual(header, "step,iteration,lambda,j,j1,j2,error,word_error")

    def test_one_truth_serves_both(self):
        summary = self.fit("--positions", "P.npy", "--truth", "words.npy", "--json").json()
        self.assertLess(summary["word_metrics"]["error"], 0.05)
        self.assertEqual(summary["metrics"]["num_classes"], 4)

    def test_lambda_zero_is_kmeans(self):
        self.fit("--positions", "P.npy", "--lambda", "0", "--out", "run")
        self.succeed("kmeans", "X.npy", "-k", "4", "--out", "plain")
        words = [int(line.split(",")[2]) for line in
                 (self.folder / "run/words.csv").read_text().splitlines()[1:]]
        np.testing.assert_array_equal(words, self.labels("plain"))

    def test_groups_are_labelled_not_rows(self):
        with open(self.folder / "g.txt", "w") as file:
            for begin in range(0, 300, 5):
                near = np.argsort(((self.positions - self.positions[begin]) ** 2).sum(1))[:8]
                file.write(f"patch{begin}: {' '.join(map(str, near))}\n")
        self.save("group_side.npy", self.side[::5])
        summary = self.fit("--groups", "g.txt", "--truth", "group_side.npy", "--json", "--out",
                           "run").json()
        self.assertEqual(summary["num_groups"], 60)
        self.assertEqual(sum(summary["sizes"]), 60)
        self.assertNotIn("word_metrics", summary)
        lines = (self.folder / "run/labels.csv").read_text().splitlines()
        self.assertEqual(len(lines), 61)
        self.assertTrue(lines[1].startswith("patch0,"))
        phrase = {int(row): int(label) for row, label in
                  (line.split(",") for line in
                   (self.folder / "run/row_labels.csv").read_text().splitlines()[1:])}
        self.assertEqual(sorted(phrase), list(range(300)))
        groups = [list(map(int, line.split(":")[1].split()))
                  for line in (self.folder / "g.txt").read_text().splitlines()]
        labels = [int(line.split(",")[1]) for line in lines[1:]]
        for row in range(300):  # what most of its groups have, -1 in no group
            votes = [label for label, group in zip(labels, groups) if row in group]
            expected = max((0, 1), key=votes.count) if votes else -1
            self.assertEqual(phrase[row], expected, row)
        both = self.fit("--groups", "g.txt", "--truth", "words.npy", "--json").json()
        self.assertNotIn("metrics", both)
        self.assertIn("error", both["word_metrics"])

    def save_noisy_views(self, classes=10, per_class=40, columns=20):
        """Three views of clouds that overlap: what collapsed to a few clusters."""
        random = np.random.RandomState(3)
        truth = np.arange(classes * per_class) % classes
        views = []
        for view in range(3):
            centers = random.normal(size=(classes, columns))
            points = centers[truth] + 2 * random.normal(size=(len(truth), columns))
            self.save(f"v{view}.npy", ((view + 1) * points).astype(np.float32))
            views.append(points / np.sqrt(((points - points.mean(0)) ** 2).sum() / len(points)))
        self.save("joined.npy", np.hstack(views).astype(np.float32))
        self.save("y.npy", truth)
        return ["cac", "--view", "v0.npy", "--view", "v1.npy", "--view", "v2.npy", "--phrases",
                str(classes), "--truth", "y.npy"]

    def test_views_do_not_collapse_issue25(self):
        command = self.save_noisy_views()
        summary = self.succeed(*command, "--json", "--out", "run").json()
        plain = self.succeed("kmeans", "joined.npy", "-k", "10", "--truth", "y.npy",
                             "--json").json()
        self.assertEqual(len(set(self.labels("run"))), 10)
        self.assertEqual(summary["phrases_used"], 10)
        self.assertLess(summary["metrics"]["error"], plain["metrics"]["error"] + 0.01)

    def test_fewer_clusters_than_asked_for_are_a_warning_issue25(self):
        done = self.succeed(*self.save_noisy_views(), "--phrase-model", "counts", "--out", "run")
        used = len(set(self.labels("run")))
        self.assertLess(used, 10)
        self.assertIn(f"the labels use {used} of 10 phrases", done.out + done.err)
        self.assertIn(f"phrases used: {used}\n", done.out)

    def test_without_neighbours_views_are_kmeans_issue25(self):
        command = self.save_noisy_views(classes=4, per_class=30, columns=5)
        self.succeed(*command, "--view-neighbors", "0", "--out", "run")
        self.succeed("kmeans", "joined.npy", "-k", "4", "--out", "plain")
        np.testing.assert_array_equal(self.labels("run"), self.labels("plain"))

    def test_all_views_are_named_issue25(self):
        done = self.succeed(*self.save_noisy_views(classes=3), "--words", "3")
        self.assertIn("read v0.npy, v1.npy, v2.npy: 120 samples x 60", done.err + done.out)

    def test_group_weights_count(self):
        self.write("g.txt", "0 1 2\n3 4 5\n6 7 8\n")
        self.save("w.npy", np.array([1.0, 0.5, 2.0]))
        plain = self.fit("--groups", "g.txt", "--lambda", "1", "--json").json()
        weighted = self.fit("--groups", "g.txt", "--lambda", "1", "--group-weights", "w.npy",
                            "--json").json()
        self.assertNotEqual(plain["objective"], weighted["objective"])
        self.save("w2.npy", np.ones(2))
        self.assertEqual(
            self.fail_with(1, *self.arguments, "--groups", "g.txt", "--group-weights", "w2.npy"),
            "w2.npy has 2 entries, must have 3: one weight per group")

    def test_views_take_the_place_of_input(self):
        a, classes = blobs(seed=1)
        random = np.random.RandomState(2)
        b = (np.eye(3)[classes] * 8 + random.normal(size=(120, 3))).astype(np.float32)
        self.save("a.npy", a)
        self.save("b.npy", b)
        self.save("y.npy", classes)
        summary = self.succeed("cac", "--view", "a.npy", "--view", "b.npy", "--words", "3",
                               "--phrases", "3", "--truth", "y.npy", "--json", "--out",
                               "run").json()
        self.assertEqual((summary["n"], summary["d"]), (120, 7))
        self.assertEqual(summary["metrics"]["error"], 0)
        self.assertEqual(len(summary["word_metrics"]), 2)
        options = json.loads((self.folder / "run/options.json").read_text())
        self.assertEqual(options["input"]["view"], "a.npy\nb.npy")
        self.assertIn(b"--view a.npy --view b.npy", self.run_files("run")["report.html"])
        self.succeed("cac", "--options", "run", "--out", "again")
        self.assertEqual(self.run_files("run"), self.run_files("again"))
        self.assertIn("INPUT is a.npy", self.fail_with(2, "cac", "a.npy", "--view", "b.npy"))
        self.save("short.npy", b[:5])
        self.assertEqual(self.fail_with(1, "cac", "--view", "a.npy", "--view", "short.npy"),
                         "short.npy has 5 rows, a.npy has 120: views must match")
        one = self.succeed("cac", "--view", "a.npy", "--words", "3", "--json").json()
        self.assertIn("there is no context", one["warnings"][0])

    def test_select_applies_to_everything_of_a_row(self):
        summary = self.fit("--positions", "P.npy", "--labels", "words.npy", "--select", "2,3",
                           "--json").json()
        self.assertEqual(summary["n"], int((self.words >= 2).sum()))
        self.write("g.txt", "\n".join(f"{i} {i + 1}" for i in range(299)))
        self.assertEqual(self.fit("--groups", "g.txt", "--labels", "words.npy", "--select",
                                  "2,3", "--json").json()["num_groups"], 299)

    def test_images_part_the_neighbourhoods(self):
        self.save("images.npy", np.arange(300) % 3)
        summary = self.fit("--positions", "P.npy", "--images", "images.npy", "--neighbors", "4",
                           "--truth", "side.npy", "--json").json()
        self.assertLess(summary["metrics"]["error"], 0.2)

    def test_choices_without_labels_are_curves(self):
        summary = self.fit("--positions", "P.npy", "--tau", "auto", "--restarts", "3",
                           "--json").json()
        self.assertEqual(summary["tau_tried"], [0.1, 0.25, 0.5, 1, 2])
        self.assertEqual(len(summary["tau_stability"]), 5)
        summary = self.succeed("cac", "X.npy", "--positions", "P.npy", "--words", "auto",
                               "--phrases", "2", "--restarts", "2", "--json").json()
        self.assertIn(summary["num_words"], summary["words_tried"])
        self.assertEqual(len(summary["words_tried"]), len(summary["words_stability"]))
        outcome = self.fit("--positions", "P.npy", "--phrases", "auto", "--restarts", "2", "--out",
                           "run")
        self.assertRegex(outcome.out, r"(?m)^ +2 +[01]\.\d+ #")
        lines = (self.folder / "run/stability.csv").read_text().splitlines()
        self.assertEqual(lines[0], "option,value,stability")
        self.assertTrue(lines[1].startswith("phrases,2,"))

    def test_preset_paper_sets_the_published_values(self):
        self.succeed("cac", "X.npy", "--positions", "P.npy", "--preset", "paper", "--out", "run")
        options = json.loads((self.folder / "run/options.json").read_text())["options"]
        self.assertEqual((options["num_words"], options["num_phrases"], options["tau"],
                          options["num_neighbors"], options["scaling"]), ("25", 2, 0.5, 10, "raw"))
        self.succeed("cac", "--view", "X.npy", "--view", "P.npy", "--preset", "paper",
                     "--restarts", "2", "--out", "views")
        options = json.loads((self.folder / "views/options.json").read_text())["options"]
        self.assertEqual((options["num_words"], options["num_phrases"], options["tau"],
                          options["num_restarts"]), ("10", 10, 1, 2))

    def test_every_view_has_its_number_of_words_issue30(self):
        views = ["--view", "X.npy", "--view", "P.npy"]
        summary = self.succeed("cac", *views, "--words", "4,7", "--phrases", "2", "--restarts", "2",
                               "--out", "run", "--json").json()
        self.assertEqual(summary["num_words"], [4, 7])
        options = json.loads((self.folder / "run/options.json").read_text())["options"]
        self.assertEqual(options["num_words"], "4,7")
        self.succeed("cac", "--options", "run", "--out", "again")
        self.assertEqual(self.run_files("run")["labels.csv"], self.run_files("again")["labels.csv"])
        summary = self.succeed("cac", *views, "--words", "4,auto", "--phrases", "2", "--restarts", "2",
                               "--json").json()
        self.assertEqual(summary["num_words"][0] if isinstance(summary["num_words"], list)
                         else summary["num_words"], 4)
        self.assertEqual(len(summary["view_1_words_tried"]), len(summary["view_1_words_stability"]))
        self.assertNotIn("view_0_words_tried", summary)
        # An options file of an earlier version, where the number was one.
        path = self.folder / "run/options.json"
        text = json.loads(path.read_text())
        text["options"]["num_words"] = 5
        path.write_text(json.dumps(text))
        summary = self.succeed("cac", "--options", "run", "--json").json()
        self.assertEqual(summary["num_words"], 5)

    def test_given_labels_are_a_single_start(self):
        summary = self.fit("--positions", "P.npy", "--initial-words", "words.npy",
                           "--initial-phrases", "side.npy", "--json").json()
        self.assertEqual(summary["num_restarts"], 1)
        self.save("high.npy", np.full(300, 7))
        self.assertIn("initial_words[0] is 7",
                      self.fail_with(2, *self.arguments, "--initial-words", "high.npy"))

    def test_bad_input_is_named(self):
        fail = self.fail_with
        self.save("short.npy", self.positions[:7])
        self.assertEqual(fail(1, *self.arguments, "--positions", "short.npy"),
                         "short.npy has 7 rows, X.npy has 300: they must match")
        self.write("beyond.txt", "0 1\n2 300\n")
        self.assertEqual(fail(1, *self.arguments, "--groups", "beyond.txt"),
                         "beyond.txt, line 2: row number 300 must be below 300, the number of "
                         "samples")
        self.write("empty.txt", "")
        self.assertIn("empty.txt", fail(1, *self.arguments, "--groups", "empty.txt"))
        self.write("g.txt", "0 1\n")
        self.assertIn("give only one of --groups, --links and --positions", fail(2, *self.arguments, "--groups", "g.txt",
                                               "--positions", "P.npy"))
        self.assertIn("num_phrases is 2, must be at most the number of groups, 1",
                      fail(2, *self.arguments, "--groups", "g.txt"))
        self.assertIn("--images is given without --positions",
                      fail(2, *self.arguments, "--images", "side.npy"))
        self.assertIn("--group-weights is given without --groups",
                      fail(2, *self.arguments, "--group-weights", "side.npy"))
        self.assertEqual(fail(2, *self.arguments, "--tau", "0"), "tau is 0, must be above 0 or auto")
        self.assertEqual(fail(2, "cac", "X.npy", "--words", "many"),
                         "num_words is 'many', must be a whole number of at least 1 or auto, or one per view "
                         "such as 10,20,5")
        self.assertEqual(fail(2, "cac", "X.npy", "--words", "4,3"),
                         "num_words is '4,3', but there is 1 view: give one number, or one per view")
        self.assertEqual(fail(2, *self.arguments, "--lambda", "-2"),
                         "lambda is -2, must be at least 0 or auto")
        self.assertIn("num_words is 301", fail(2, "cac", "X.npy", "--words", "301"))

    def test_a_run_with_context_stops_at_the_time_limit_and_on_ctrl_c(self):
        random = np.random.RandomState(0)
        self.save("slow.npy", random.rand(20000, 16).astype(np.float32))
        self.save("places.npy", random.rand(20000, 2).astype(np.float32))
        process = self.start("cac", "slow.npy", "--positions", "places.npy", "--words", "50",
                             "--phrases", "5", "--restarts", "100000", "--json", "--time-limit",
                             "2")
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["termination"], "TimeLimit")
        process = self.start("cac", "slow.npy", "--positions", "places.npy", "--words", "50",
                             "--phrases", "5", "--restarts", "100000", "--json")
        CacWithoutContextTest.wait_until_busy(self, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(json.loads(out)["termination"], "Cancelled")

    def test_the_report_is_image_by_image_issue24(self):
        """It listed every keypoint as a grey tile."""
        random = np.random.RandomState(3)
        (self.folder / "photos").mkdir()
        for i in range(3):
            pixels = np.kron(random.rand(20, 30), np.ones((4, 4)))  # squares: blobs of the right size
            Image.fromarray((255 * pixels).astype(np.uint8)).save(self.folder / f"photos/{i}.png")
        self.succeed("cac", "photos", "--words", "4", "--phrases", "2", "--restarts", "1", "--out", "run")
        data, detail = self.report_data("run")
        lines = [line.split(",") for line in (self.folder / "run/row_labels.csv").read_text().split()[1:]]
        self.assertEqual(data["names"], [name for name, label in lines if label != "-1"])
        column = base64.b64decode(data["columns"]["run"]["labels"])
        self.assertEqual(list(np.frombuffer(column, "<i4")), [int(label) for _, label in lines if label != "-1"])
        self.assertEqual(detail["n"], len(data["names"]))
        self.assertEqual(sum(one["words"] for one in detail["extras"]["images"]),
                         sum(detail["summary"]["keypoint_sizes"]))
        self.assertEqual(len(data["thumbs"]["rows_shown"]), len(data["names"]))

    def test_images_give_keypoints_and_overlays(self):
        random = np.random.RandomState(3)
        (self.folder / "pictures").mkdir()
        for name in ("a", "b"):
            noise = random.rand(40, 60)
            pixels = np.kron(noise, np.ones((4, 4)))  # squares: blobs of the right size
            pixels = (255 * np.repeat(pixels[:, :, None], 3, axis=2)).astype(np.uint8)
            header = f"P6 {pixels.shape[1]} {pixels.shape[0]} 255\n".encode()
            self.write(f"pictures/{name}.ppm", header + pixels.tobytes())
        summary = self.succeed("cac", "pictures", "--words", "4", "--phrases", "2", "--overlay",
                               "--json", "--out", "run").json()
        self.assertGreater(summary["n"], 20)
        self.assertEqual(summary["d"], 128)
        for name in ("a", "b"):
            content = (self.folder / f"run/overlay_{name}.ppm.png").read_bytes()
            self.assertTrue(content.startswith(b"\x89PNG"))
        rows = (self.folder / "run/row_labels.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in rows], ["sample", "a.ppm", "b.ppm"])
        self.assertLessEqual({line.split(",")[1] for line in rows[1:]}, {"0", "1"})
        rows = self.succeed("cac", "pictures", "--feature", "tiny", "--words", "2", "--json").json()
        self.assertEqual(rows["n"], 2)
        self.succeed("features", "pictures", "--feature", "sparse-sift:max_scale=2:words=4",
                     "--patches", "--out", "local")
        kept = self.succeed("cac", "local", "--words", "4", "--phrases", "2", "--overlay", "--json",
                            "--out", "of_features").json()
        self.assertEqual(kept["n"], len(np.load(self.folder / "local/sparse-sift.frames.npy")))
        self.assertTrue((self.folder / "of_features/overlay_a.ppm.png").exists())
        new = self.succeed("cac", "predict", "of_features", "local", "--json").json()
        self.assertEqual(new["primitives"], kept["n"])
        self.assertIn("--overlay is given without images",
                      self.fail_with(2, "cac", "X.npy", "--overlay"))
        self.assertIn("its own positions",
                      self.fail_with(2, "cac", "pictures", "--positions", "P.npy"))

    def test_overlay_of_a_png_has_one_extension_issue19(self):
        (self.folder / "photos").mkdir()
        pixels = np.kron(np.random.RandomState(3).rand(40, 60), np.ones((4, 4)))
        images.Image.fromarray((255 * pixels).astype(np.uint8)).save(self.folder / "photos/a.png")
        self.succeed("cac", "photos", "--words", "4", "--phrases", "2", "--overlay", "--out", "run")
        drawn = [path.name for path in (self.folder / "run").glob("overlay_*")]
        self.assertEqual(drawn, ["overlay_a.png"])
        self.assertIn("label images with `milieu cac predict run photos`",
                      self.fail_with(2, "predict", "run", "photos"))
        self.succeed("cac", "predict", "run", "photos", "--quiet")

    def test_links_between_pages_issue30(self):
        """Words of three topics overlap; pages link within their topic six times in seven."""
        X, topics, links = linked_pages()
        self.save("pages.npy", X)
        self.save("topics.npy", topics)
        self.write("links.csv", "# page, page\n" + "".join(f"{a},{b}\n" for a, b in links))
        plain = self.succeed("kmeans", "pages.npy", "-k", "3", "--truth", "topics.npy", "--json").json()
        arguments = ["cac", "pages.npy", "--words", "10", "--phrases", "3", "--truth", "topics.npy", "--json"]
        summary = self.succeed(*arguments, "--links", "links.csv", "--out", "run").json()
        self.assertEqual(len(self.labels("run")), len(X))
        self.assertLess(summary["metrics"]["error"], plain["metrics"]["error"] / 2)
        # The same neighbourhoods, written as groups and as matrices.
        near = [{i} | {a + b - i for a, b in links if i in (a, b)} for i in range(len(X))]
        self.write("near.txt", "".join(" ".join(map(str, sorted(g))) + "\n" for g in near))
        self.succeed(*arguments[:-1], "--groups", "near.txt", "--out", "groups")
        np.testing.assert_array_equal(self.labels("groups"), self.labels("run"))
        for symmetry in ("general", "symmetric"):
            self.write("links.mtx", f"%%MatrixMarket matrix coordinate pattern {symmetry}\n"
                       f"{len(X)} {len(X)} {len(links)}\n" +
                       "".join(f"{max(l) + 1} {min(l) + 1}\n" for l in links))
            self.succeed(*arguments, "--links", "links.mtx", "--out", symmetry)
            np.testing.assert_array_equal(self.labels(symmetry), self.labels("run"))
        some = self.succeed("cac", "pages.npy", "--labels", "topics.npy", "--select", "0,1", "--links",
                            "links.csv", "--words", "6", "--phrases", "2", "--json").json()
        self.assertEqual(some["n"], int((topics < 2).sum()))
        self.write("wrong.csv", "0,1,2\n")
        self.assertIn("link 1 names 3 samples, must name two",
                      self.fail_with(1, *arguments, "--links", "wrong.csv"))
        self.assertIn("give only one of --groups, --links and --positions",
                      self.fail_with(2, *arguments, "--links", "links.csv", "--groups", "near.txt"))

    def test_prediction_of_samples_alone_is_their_word(self):
        self.fit("--positions", "P.npy", "--out", "run")
        out = self.succeed("predict", "run", "X.npy").out.split()
        self.assertEqual(len(out), 300)
        self.assertLessEqual(set(out), set("0123"))

    def test_prediction_of_new_groups_finds_words_and_phrases(self):
        self.fit("--positions", "P.npy", "--out", "run")
        points, positions, words, side = textures(seed=7)
        self.save("new.npy", points)
        self.save("places.npy", positions)
        self.save("new_side.npy", side)
        summary = self.succeed("cac", "predict", "run", "new.npy", "--positions", "places.npy",
                               "--truth", "new_side.npy", "--out", "phrases.npy", "--words-out",
                               "words_out.csv", "--json").json()
        self.assertEqual((summary["primitives"], summary["groups"]), (300, 300))
        self.assertLess(summary["metrics"]["error"], 0.1)
        self.assertEqual(np.load(self.folder / "phrases.npy").shape, (300,))
        self.assertEqual(len((self.folder / "words_out.csv").read_text().splitlines()), 301)
        training = self.succeed("cac", "predict", "run", "X.npy", "--positions", "P.npy").out
        same = np.array(training.split(), dtype=int) == self.labels("run")
        self.assertGreater(same.mean(), 0.95)
        self.write("g.txt", "left: 0 1 2\nright: 3 4\n")
        groups = self.succeed("cac", "predict", "run", "new.npy", "--groups", "g.txt")
        self.assertEqual(len(groups.out.split()), 2)

    def test_prediction_of_new_groups_in_views(self):
        a, classes = blobs(seed=1)
        self.save("a.npy", a)
        self.save("b.npy", a[:, :2] * 3)
        self.succeed("cac", "--view", "a.npy", "--view", "b.npy", "--words", "3", "--phrases", "3",
                     "--out", "run")
        out = self.succeed("cac", "predict", "run", "--view", "a.npy", "--view", "b.npy").out
        np.testing.assert_array_equal(np.array(out.split(), dtype=int), self.labels("run"))

    def test_prediction_of_new_groups_names_what_is_wrong(self):
        self.fit("--positions", "P.npy", "--out", "run")
        self.succeed("kmeans", "X.npy", "-k", "2", "--out", "plain")
        self.save("short.npy", self.positions[:7])
        predict = ["cac", "predict", "run"]
        for arguments, code, words in (
                ([], 2, "INPUT is missing"),
                (["X.npy", "--view", "X.npy"], 2, "both given"),
                (["X.npy"], 2, "new groups need groups, positions or several views"),
                (["X.npy", "--positions", "short.npy"], 1, "short.npy has 7 rows, X.npy has 300"),
                (["X.npy", "--positions", "P.npy", "--truth", "short.npy"], 1, "short.npy"),
                (["X.npy", "--images", "side.npy"], 2, "--images is given without --positions"),
                (["P.npy", "--positions", "P.npy", "--out", "x.txt"], 2, "must end in .csv or .npy"),
                (["--view", "X.npy", "--view", "P.npy"], 2, "there are 2 views, the model has 1")):
            self.assertIn(words, self.fail_with(code, *predict, *arguments), arguments)
        self.assertIn("kmeans", self.fail_with(1, "cac", "predict", "plain", "X.npy",
                                               "--positions", "P.npy"))


if __name__ == "__main__":
    unittest.main()
