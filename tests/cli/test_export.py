# SPDX-License-Identifier: Apache-2.0
"""milieu export: a result for other programs."""

import csv
import io
import json
import unittest
import zipfile

import numpy as np

from images import make_folder
from support import CliTest


class ExportTest(CliTest):
    def run_of_images(self):
        self.names = make_folder(self.folder / "photos")
        self.succeed("kmeans", "photos", "--feature", "tiny", "-k", "2", "--out", "run", "--quiet")

    def test_csv_has_path_class_and_part_of_every_image(self):
        self.run_of_images()
        text = self.succeed("export", "run").out
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), len(self.labels("run")))
        self.assertEqual([int(row["label"]) for row in rows], list(self.labels("run")))
        for row in rows:
            self.assertEqual(row["part"], f"Part {int(row['label']) + 1}")
            self.assertEqual(row["class"], row["sample"].split("/")[0])
            self.assertTrue((self.folder / row["path"]).is_file(), row["path"])
        self.assertIn("wrote out.csv", self.succeed("export", "run", "--to", "out.csv").out)
        self.assertEqual((self.folder / "out.csv").read_text(), text)

    def test_json_and_coco_name_the_parts(self):
        self.run_of_images()
        data = json.loads(self.succeed("export", "run", "--format", "json").out)
        self.assertEqual(data["parts"], ["Part 1", "Part 2"])
        coco = json.loads(self.succeed("export", "run", "--format", "coco").out)
        self.assertEqual([one["name"] for one in coco["categories"]], data["parts"])
        self.assertEqual([one["category_id"] - 1 for one in coco["annotations"]],
                         [one["label"] for one in data["samples"]])

    def test_changes_by_hand_hold(self):
        self.run_of_images()
        first = int(self.labels("run")[0])
        edits = {"version": 1, "num_parts": 3, "moves": [[0, 2]], "tags": [[1, "odd"]],
                 "part_names": ["", "", "mine"]}
        (self.folder / "run" / "edits.json").write_text(json.dumps(edits))
        read = lambda *more: list(csv.DictReader(io.StringIO(self.succeed("export", "run", *more).out)))
        self.assertEqual((read()[0]["part"], read()[1]["tags"]), ("mine", "odd"))
        self.assertEqual(int(read("--original")[0]["label"]), first)
        (self.folder / "run" / "edits.json").write_text("{")
        self.assertIn("edits.json", self.fail_with(1, "export", "run"))

    def test_zip_is_read_by_others_issue24(self):
        self.run_of_images()
        self.succeed("export", "run", "--format", "folders", "--to", "sorted")
        done = self.succeed("export", "run", "--format", "zip", "--to", "sorted.zip")
        self.assertIn(f"{len(self.labels('run'))} images zipped into sorted.zip", done.out)
        with zipfile.ZipFile(self.folder / "sorted.zip") as archive:
            self.assertIsNone(archive.testzip())
            found = {name: archive.read(name) for name in archive.namelist()}
        self.assertEqual(found, {path.relative_to(self.folder / "sorted").as_posix(): path.read_bytes()
                                 for path in (self.folder / "sorted").rglob("*") if path.is_file()})
        self.assertIn("sorted.zip exists", self.fail_with(2, "export", "run", "--format", "zip", "--to", "sorted.zip"))
        self.assertIn("--to is missing", self.fail_with(2, "export", "run", "--format", "zip"))

    def test_folders_hold_each_image_once(self):
        self.run_of_images()
        done = self.succeed("export", "run", "--format", "folders", "--to", "sorted")
        self.assertIn(f"{len(self.labels('run'))} images copied into sorted", done.out)
        files = [path for path in (self.folder / "sorted").rglob("*") if path.is_file()]
        self.assertEqual(len(files), len(self.labels("run")))
        self.assertIn("sorted exists",
                      self.fail_with(2, "export", "run", "--format", "folders", "--to", "sorted"))
        self.succeed("export", "run", "--format", "folders", "--to", "linked", "--links")
        self.assertTrue(all(path.is_symlink() and path.exists()
                            for path in (self.folder / "linked").rglob("*.*")))

    def test_wrong_use_is_explained(self):
        self.save("X.npy", np.random.RandomState(0).normal(size=(9, 2)).astype(np.float32))
        self.succeed("kmeans", "X.npy", "-k", "2", "--out", "rows", "--quiet")
        self.assertIn("not a run folder", self.fail_with(2, "export", "."))
        self.assertIn("must be csv", self.fail_with(2, "export", "rows", "--format", "xml"))
        self.assertIn("--to is missing", self.fail_with(2, "export", "rows", "--format", "folders"))
        self.assertIn("not image files", self.fail_with(2, "export", "rows", "--format", "coco"))
        self.assertIn("--links goes with", self.fail_with(2, "export", "rows", "--links"))
        rows = list(csv.DictReader(io.StringIO(self.succeed("export", "rows").out)))
        self.assertEqual([row["sample"] for row in rows], [str(i) for i in range(9)])


if __name__ == "__main__":
    unittest.main()
