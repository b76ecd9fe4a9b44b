# SPDX-License-Identifier: Apache-2.0
"""Names for parts: --describe with a classifier or with label vectors, and text as context."""

import csv
import json
import unittest

import numpy as np
from explorer import Explorer
from images import make_folder
from networks import DATA, MODELS, onnx_model
from PIL import Image
from support import CliTest, environment

# Hours of a clock: label vectors, and samples around some of them.
HOURS = [f"hour {hour}, {hour} o'clock" for hour in range(12)]


def samples(hours, per_hour=12, seed=1):
    noise = np.random.RandomState(seed).normal(size=(per_hour * len(hours), 12)) / 10
    return (np.eye(12)[np.repeat(hours, per_hour)] + noise).astype(np.float32)


class DescribeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"),
                               XDG_CONFIG_HOME=str(self.folder / "config"))
        self.save("labels.npy", np.eye(12, dtype=np.float32) * 3)
        self.write("names.txt", "".join(f"{name}\n" for name in HOURS))
        self.labels = ["--describe", "labels.npy", "--label-names", "names.txt"]

    def run_milieu(self, *arguments, **more):
        return super().run_milieu(*arguments, **{"env": self.env, **more})

    def titles(self, summary):
        return [part["name"] for part in summary["part_names"]]


class LabelVectorsTest(DescribeTest):
    def setUp(self):
        super().setUp()
        self.save("X.npy", samples([3, 7, 9]))

    def kmeans(self, *arguments):
        return self.succeed("kmeans", "X.npy", "-k", "3", *self.labels, *arguments)

    def test_clusters_get_the_labels_that_set_them_apart(self):
        summary = self.kmeans("--json").json()
        self.assertEqual(sorted(self.titles(summary)), ["hour 3", "hour 7", "hour 9"])
        label = summary["part_names"][0]["labels"][0]
        self.assertEqual(sorted(label), ["label", "lead", "mean", "name", "p", "sure"])
        self.assertEqual(label["sure"], 1)
        self.assertLessEqual(label["p"], 0.05)
        self.assertIn("part 0: hour ", self.kmeans().out)

    def test_the_run_folder_has_the_names_and_repeats_to_the_same_bytes(self):
        summary = self.kmeans("--json", "--out", "run").json()
        run = self.folder / "run"
        rows = list(csv.DictReader((run / "part_names.csv").read_text().splitlines()))
        self.assertEqual([row["name"] for row in rows], self.titles(summary))
        self.assertIn("hour 7", (run / "report.html").read_text())
        self.assertEqual(json.loads((run / "options.json").read_text())["input"],
                         {"path": "X.npy", "describe": "labels.npy", "label_names": "names.txt"})
        self.succeed("kmeans", "--options", "run", "--out", "again", "--threads", "1")
        again = json.loads((self.folder / "again/summary.json").read_text())
        self.assertEqual(again["part_names"], summary["part_names"])
        for name in ("part_names.csv", "labels.csv"):
            self.assertEqual((run / name).read_bytes(), (self.folder / "again" / name).read_bytes())

    def test_other_methods_name_their_parts(self):
        self.save("classes.npy", np.repeat([0, 0, 1], 12))
        dcp = self.succeed("dcp", "X.npy", "--labels", "classes.npy", "--select", "0", "-k", "2",
                           "--context-select", "1", "--sizes", "12", *self.labels, "--json").json()
        self.assertEqual(sorted(self.titles(dcp)), ["hour 3", "hour 7"])
        exemplar = self.succeed("exemplar", "X.npy", "-k", "3", *self.labels, "--json").json()
        for part in exemplar["part_names"]:
            self.assertEqual(part["exemplar"][0]["name"], part["labels"][0]["name"])
        icc = self.succeed("icc", "X.npy", "--labels", "classes.npy", *self.labels, "--json").json()
        self.assertEqual(len(icc["part_names"]), len(icc["sizes"]))

    def test_names_may_be_in_the_file_of_the_vectors(self):
        np.savez(self.folder / "labels.npz", vectors=np.eye(12), names=HOURS)
        summary = self.succeed("kmeans", "X.npy", "-k", "3", "--describe", "labels.npz",
                               "--json").json()
        self.assertEqual(sorted(self.titles(summary)), ["hour 3", "hour 7", "hour 9"])

    def test_mistakes_are_explained(self):
        fail = lambda *arguments: self.fail_with(2, "kmeans", "X.npy", *arguments)  # noqa: E731
        self.assertIn("add --label-names FILE", fail("--describe", "labels.npy"))
        self.assertIn("nothing gives the labels", fail("--label-names", "names.txt"))
        self.save("narrow.npy", np.eye(12, 5))
        self.assertIn("narrow.npy has 5 columns, X.npy has 12: label vectors must be in the samples' "
                      "own space", fail("--describe", "narrow.npy", "--label-names", "names.txt"))
        self.assertIn("X.npy is not an image folder",
                      fail("--describe", "onnx:net.onnx", "--label-names", "names.txt"))
        self.write("few.txt", "one\ntwo\n")
        self.assertIn("few.txt has 2 names, labels.npy has 12 labels: they must match",
                      self.fail_with(1, "kmeans", "X.npy", "--describe", "labels.npy",
                                     "--label-names", "few.txt"))


class TextAsContextTest(DescribeTest):
    """CLIP's text vectors as rows of the context, with made vectors: the set has two factors, and
    the text says which of them not to split by."""

    def setUp(self):
        super().setUp()
        random = np.random.RandomState(3)
        self.animal, self.ground = np.repeat([0, 1], 40), np.tile([0, 1], 40)
        rows = random.normal(size=(80, 6)) / 20
        rows[:, 0] += np.where(self.animal, 1, -1)
        rows[:, 1] += np.where(self.ground, 1, -1)
        rows[:, 2] += 1
        self.save("clip.npy", rows.astype(np.float32))
        make_folder(self.folder / "photos", per_class=40, size=8, classes=["blobs", "red"])

    def split(self, text, *arguments):
        """The share of images that are split by the animal, and by the ground."""
        np.savez(self.folder / "text.npz", vectors=np.asarray(text, np.float32))
        self.succeed("dcp", "photos", "--vectors", "clip.npy", "--context", "text.npz", "-k", "2",
                     "--out", "run", "--force", *arguments)
        lines = (self.folder / "run/labels.csv").read_text().splitlines()[1:]
        labels = np.array([int(line.split(",")[1]) for line in lines])
        agree = lambda truth: max(np.mean(labels == truth), np.mean(labels != truth))  # noqa: E731
        return agree(self.animal), agree(self.ground)

    def test_the_text_decides_how_images_split(self):
        # Sentences about the ground vary along column 1: no plane along it separates from them.
        ground = [[0, y, 1, 0, 0, 0] for y in np.linspace(-1.5, 1.5, 12)]
        animal = [[x, 0, 1, 0, 0, 0] for x in np.linspace(-1.5, 1.5, 12)]
        self.assertEqual(self.split(ground)[0], 1)
        self.assertEqual(self.split(animal)[1], 1)

    def test_names_do_not_describe_the_text(self):
        np.savez(self.folder / "labels.npz",
                 vectors=[[-1, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, -1, 1, 0, 0, 0],
                          [0, 1, 1, 0, 0, 0]], names=["cat", "dog", "snow", "sand"])
        ground = [[0, y, 1, 0, 0, 0] for y in np.linspace(-1.5, 1.5, 12)]
        self.split(ground, "--describe", "labels.npz")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(sorted(self.titles(summary)), ["cat", "dog"])


class ClassifierTest(DescribeTest):
    """A network whose scores are the mean red, green and blue."""

    def setUp(self):
        super().setUp()
        self.paths = make_folder(self.folder / "photos")
        (self.folder / "net.onnx").write_bytes(onnx_model("GlobalAveragePool"))
        self.write("colors.txt", "red\ngreen\nblue\n")
        self.classifier = ["--describe", "onnx:net.onnx:preset=unit", "--label-names", "colors.txt"]

    def test_images_are_classified(self):
        summary = self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", "--json",
                               *self.classifier).json()
        self.assertEqual(len(summary["part_names"]), 3)
        self.assertIn("red", self.titles(summary))

    def test_vectors_and_selections_keep_the_images_of_their_rows(self):
        self.save("v.npy", np.eye(3, 4)[np.repeat(np.arange(3), 6)].astype(np.float32)
                  + np.random.RandomState(1).normal(size=(18, 4)) / 20)
        summary = self.succeed("dcp", "photos", "--vectors", "v.npy", "--select", "red,blobs",
                               "--context-select", "stripes", "-k", "2", "--sizes", "6", "--json",
                               *self.classifier).json()
        self.assertEqual(sorted(self.titles(summary)), ["blue", "red"])
        np.savetxt(self.folder / "rows.txt", np.arange(6, 18), fmt="%d")  # red and stripes
        summary = self.succeed("kmeans", "photos", "--vectors", "v.npy", "--rows", "rows.txt", "-k",
                               "2", "--json", *self.classifier).json()
        self.assertIn("red", self.titles(summary))

    def test_a_context_folder_is_classified_too(self):
        make_folder(self.folder / "others", classes=["stripes"])
        make_folder(self.folder / "set", classes=["blobs", "red"])
        summary = self.succeed("dcp", "set", "--feature", "color", "--context", "others", "-k", "2",
                               "--sizes", "6", "--json", *self.classifier).json()
        self.assertEqual(sorted(self.titles(summary)), ["blue", "red"])

    def test_patches_and_keypoints_are_named_by_their_images(self):
        dlgmm = self.succeed("dlgmm", "photos", "--words", "6", "--clusters", "3", "--json",
                             *self.classifier).json()
        self.assertEqual(len(dlgmm["part_names"]), len(dlgmm["sizes"]))
        self.assertIn("give a classifier of images instead",
                      self.fail_with(2, "dlgmm", "photos", "--words", "6", *self.labels))
        (self.folder / "textures").mkdir()
        random = np.random.RandomState(3)
        for i in range(4):
            pixels = np.kron(random.rand(20, 20, 1), np.ones((4, 4, 3))) * [255, 80, 80]
            Image.fromarray(pixels.astype(np.uint8)).save(self.folder / f"textures/{i}.png")
        cac = self.succeed("cac", "textures", "--words", "4", "--phrases", "2", "--json",
                           *self.classifier).json()
        self.assertEqual([part["labels"] for part in cac["part_names"]], [[], []])  # all are red

    def test_an_image_that_cannot_be_decoded_is_not_counted(self):
        (self.folder / "photos/red/broken.png").write_bytes(b"no image")
        self.save("v.npy", np.random.RandomState(1).normal(size=(19, 4)).astype(np.float32))
        summary = self.succeed("kmeans", "photos", "--vectors", "v.npy", "-k", "2", "--json",
                               *self.classifier).json()
        self.assertIn("1 image could not be classified", " ".join(summary["warnings"]))

    def test_numbers_of_names_and_scores_must_match(self):
        self.write("colors.txt", "background\nred\ngreen\nblue\n")
        self.succeed("kmeans", "photos", "--feature", "color", "-k", "3", *self.classifier)
        self.write("colors.txt", "red\nblue\n")
        self.assertIn("colors.txt has 2 names, onnx:net.onnx:preset=unit has 3 labels: they must "
                      "match, one name per line, in the order of the labels; if the first label is "
                      "the background, begin with the line background",
                      self.fail_with(1, "kmeans", "photos", "--feature", "color", *self.classifier))

    def test_the_explorer_shows_names_until_others_are_given(self):
        explorer = Explorer(self, "photos", "--feature", "color", *self.classifier, env=self.env)
        run = explorer.run(method="kmeans", set={"rest": True}, options={"num_clusters": 3})
        place = f"/api/runs/{run['id']}"
        named = [part for part in run["parts"] if part["named_by"] == "labels"]
        self.assertIn("red", [part["name"] for part in named])
        for part in run["parts"]:
            labels = ", ".join(label["name"] for label in part["labels"])
            self.assertEqual(part["name"], labels or f"Part {part['index'] + 1}")
        names = ["mine" if part is named[0] else "" for part in run["parts"]]
        self.assertEqual(explorer.ask("PATCH", place, {"part_names": names}).status, 200)
        again = explorer.get(place).json()["parts"][named[0]["index"]]
        self.assertEqual((again["name"], again["named_by"]), ("mine", "hand"))
        self.assertEqual(again["labels"], named[0]["labels"])
        table = explorer.get(f"{place}/export/labels.csv").body.decode()
        self.assertIn(",mine,", table)
        report = explorer.get(f"{place}/export/report.html").body.decode()
        self.assertIn('"named_by":"hand"', report)

    def test_the_explorer_refuses_what_no_run_could_use(self):
        self.assertIn("add --label-names FILE",
                      self.fail_with(2, "explore", "photos", "--feature", "color", "--no-browser",
                                     "--describe", "onnx:net.onnx"))


@unittest.skipUnless((MODELS / "mobilenetv2_tv_fp32.onnx").exists()
                     and (DATA / "caltech101").exists(), "needs shared/models and shared/data")
class ImageNetTest(DescribeTest):
    def test_six_classes_get_their_own_names(self):
        expected = {"Leopards": "cheetah", "grand_piano": "grand piano", "starfish": "starfish",
                    "revolver": "revolver", "airplanes": "airliner", "laptop": "notebook"}
        (self.folder / "photos").mkdir()
        for name in expected:
            (self.folder / "photos" / name).mkdir()
            for path in sorted((DATA / "caltech101" / name).glob("*.jpg"))[:12]:
                (self.folder / "photos" / name / path.name).symlink_to(path)
        self.save("classes.npy", np.repeat(np.arange(6), 12))
        vectors = np.eye(6)[np.repeat(np.arange(6), 12)].astype(np.float32)
        self.save("v.npy", vectors + np.random.RandomState(1).normal(size=vectors.shape) / 50)
        summary = self.succeed(
            "kmeans", "photos", "--vectors", "v.npy", "-k", "6", "--json", "--out", "run",
            "--describe", f"onnx:{MODELS / 'mobilenetv2_tv_fp32.onnx'}:preset=imagenet",
            "--label-names", str(MODELS / "imagenet_labels.txt")).json()
        lines = (self.folder / "run/labels.csv").read_text().splitlines()[1:]
        for line in lines[::12]:
            name, label = line.split(",")
            names = [entry["name"] for entry in summary["part_names"][int(label)]["labels"]]
            self.assertIn(expected[name.split("/")[0]], names)


if __name__ == "__main__":
    unittest.main()
