# SPDX-License-Identifier: Apache-2.0
"""milieu explore: what single methods have beside parts, and the command line of each."""

import pathlib
import re
import shutil
import subprocess
import unittest

import numpy as np
from PIL import Image

from explorer import Explorer, ExplorerTest
from support import PROGRAM, environment


def most_frequent(values):
    return int(np.bincount(values).argmax())


class MethodTest(ExplorerTest):
    def column(self, explorer, run, name, kind="<i4"):
        return explorer.get(f"/api/runs/{run}/column/{name}").array(kind)

    def check_command(self, explorer, detail):
        """The shown command in a shell gives the same labels.csv."""
        command = detail["command"]
        program = pathlib.Path(PROGRAM).resolve()
        shutil.rmtree(self.folder / "again", ignore_errors=True)
        subprocess.run(["bash", "-c", command.replace("milieu", str(program), 1)],
                       cwd=self.folder, check=True, env=environment(), capture_output=True)
        own = explorer.get(f"/api/runs/{detail['id']}/file/labels.csv").body
        self.assertEqual((self.folder / "again" / "labels.csv").read_bytes(), own, command)

    def textures(self):
        """Images that have keypoints."""
        random = np.random.RandomState(0)
        for name in ("cloth", "rock", "sand"):
            (self.folder / "textures" / name).mkdir(parents=True, exist_ok=True)
            for i in range(3):
                pixels = Image.fromarray(random.randint(0, 255, (16, 20)).astype(np.uint8))
                pixels.resize((60, 48), Image.BICUBIC).save(self.folder / "textures" / name / f"{i}.png")
        return Explorer(self, "textures", "--feature", "tiny")

    def test_words_over_images(self):
        explorer = self.textures()
        classes = [one["name"] for one in explorer.get("/api/collection").json()["classes"]]
        detail = explorer.run(method="cac", set={"classes": classes[:2]},
                              options={"num_words": 4, "num_phrases": 2, "num_restarts": 1})
        run = detail["id"]
        self.check_command(explorer, detail)
        names = explorer.get("/api/collection/names").json()
        rows = self.column(explorer, run, "rows")
        self.assertEqual([names[row] for row in rows],
                         [name for name in names if not name.startswith("sand")])
        found, phrases = {}, {}
        lines = (self.folder / "again" / "labels.csv").read_text().splitlines()[1:]
        for line in lines:  # "name:x,y",label
            name, label = re.fullmatch(r'"(.*):[\d.]+,[\d.]+",(\d+)', line).groups()
            found.setdefault(names.index(name), []).append(int(label))
        self.assertEqual({one["row"]: one["words"] for one in detail["extras"]["images"]},
                         {row: len(labels) for row, labels in found.items()})
        self.assertEqual(len(detail["extras"]["phrases"]), 2)
        for row, labels in found.items():
            over = explorer.get(f"/api/runs/{run}/words/{row}").json()
            self.assertEqual(over["phrases"], labels)
            self.assertEqual(len(over["places"]), 2 * len(labels))
            places = np.reshape(over["places"], (-1, 2))
            self.assertTrue((places >= 0).all() and (places < [over["width"], over["height"]]).all())
            self.assertTrue(all(0 <= word < 4 for word in over["words"]))
            phrases[row] = most_frequent(labels)
        labels = self.column(explorer, run, "labels")
        self.assertEqual({row: label for row, label in zip(rows, labels) if label >= 0}, phrases)
        explorer.expect_error(404, "GET", f"/api/runs/{run}/words/8")  # not in the set
        explorer.expect_error(400, "GET", f"/api/runs/{run}/words/x")
        report = explorer.get(f"/api/runs/{run}/export/report.html").body.decode()
        self.assertIn('"words":{', report)

    def test_cac_that_is_stopped_on_images_keeps_what_it_has_issue24(self):
        explorer = self.textures()
        run = explorer.start_run(method="cac", set={"rest": True}, options={
            "num_words": 4, "num_phrases": 2, "num_restarts": 100000000})
        for name, data in explorer.events(run):
            if name == "progress" and data["done"] > 1:  # starts that are over
                break
        explorer.ask("POST", f"/api/runs/{run}/cancel")
        end = explorer.wait(run)
        self.assertEqual((end["state"], end["clusters"]), ("cancelled", 2))
        labels = self.column(explorer, run, "labels")  # a result for every image
        self.assertEqual(len(labels), 9)
        self.assertTrue(set(labels) <= {0, 1})

    def test_dlgmm_takes_patches_whatever_describes_the_collection(self):
        """It used to be offered, and to fail, where the collection has a feature of whole images."""
        for more in ([], ["--codebook", "words.npy"]):
            if more:
                self.save("words.npy", np.random.RandomState(1).rand(4, 128).astype(np.float32))
            feature = "dense-sift:step=16:words=4" if more else "tiny"
            self.textures().stop()
            explorer = Explorer(self, "textures", "--feature", feature, *more)
            detail = explorer.run(method="dlgmm", set={"rest": True},
                                  options={"num_words": 4, "num_clusters": 2, "num_restarts": 1})
            self.assertEqual((detail["state"], detail["n"]), ("done", 9), detail.get("error"))
            self.assertEqual("step=16" in detail["command"], bool(more))
            explorer.stop()

    def test_damaged_images_are_skipped_and_rows_keep_their_numbers(self):
        (self.folder / "textures" / "cloth").mkdir(parents=True)
        (self.folder / "textures" / "cloth" / "0.jpg").write_text("not an image")
        explorer = self.textures()
        names = explorer.get("/api/collection/names").json()
        self.assertNotIn("cloth/0.jpg", names)
        self.assertIn("cloth/0.jpg", " ".join(explorer.get("/api/collection").json()["warnings"]))
        detail = explorer.run(method="cac", set={"rows": [0, 4, 8]},
                              options={"num_words": 4, "num_phrases": 2, "num_restarts": 1})
        self.assertEqual([one["row"] for one in detail["extras"]["images"]], [0, 4, 8])
        self.assertTrue(any("cloth/0.jpg" in one for one in detail["summary"]["warnings"]))

    def test_groups_are_phrases_of_rows(self):
        random = np.random.RandomState(1)
        groups = [sorted(random.choice(60, 5, replace=False) + 60 * (g % 2)) for g in range(20)]
        (self.folder / "groups.txt").write_text(
            "".join(f"g{i}: {' '.join(map(str, group))}\n" for i, group in enumerate(groups)))
        explorer = self.vectors("--groups", "groups.txt")
        detail = explorer.run(method="cac", set={"rest": True},
                              options={"num_words": 4, "num_phrases": 2})
        self.check_command(explorer, detail)
        said = detail["extras"]["groups"]
        self.assertEqual([one["name"] for one in said], [f"g{i}" for i in range(20)])
        self.assertEqual([one["rows"] for one in said], [list(map(int, group)) for group in groups])
        labels = self.column(explorer, detail["id"], "labels")
        for row in range(120):
            votes = [one["phrase"] for one in said if row in one["rows"]]
            self.assertEqual(labels[row], most_frequent(votes) if votes else -1, row)
        self.assertEqual(len(self.column(explorer, detail["id"], "words")), 120)
        # A part of the rows: every group stays, with the members that are left.
        part = explorer.run(method="cac", set={"classes": ["0", "1"]},
                            options={"num_words": 4, "num_phrases": 2})
        self.assertTrue(all(row < 60 for one in part["extras"]["groups"] for row in one["rows"]))

    def test_places_and_views(self):
        random = np.random.RandomState(2)
        places = random.uniform(size=(120, 2)).astype(np.float32)
        self.save("places.npy", places)
        explorer = self.vectors("--positions", "places.npy")
        detail = explorer.run(method="cac", set={"rest": True},
                              options={"num_words": 4, "num_phrases": 2, "num_neighbors": 3})
        self.check_command(explorer, detail)
        run = detail["id"]
        np.testing.assert_array_equal(self.column(explorer, run, "places", "<f4").reshape(-1, 2), places)
        self.assertEqual(len(self.column(explorer, run, "words")), 120)
        self.assertEqual(len(self.column(explorer, run, "labels")), 120)
        explorer.stop()
        self.save("other.npy", random.normal(size=(120, 3)).astype(np.float32) + places[:, :1])
        views = Explorer(self, "X.npy", "--labels", "y.npy", "--view", "other.npy")
        detail = views.run(method="cac", set={"classes": ["1", "2"]},
                           options={"num_words": 4, "num_phrases": 2})
        self.assertIn("--view X.npy", detail["command"])
        self.check_command(views, detail)
        self.assertEqual(list(self.column(views, detail["id"], "rows")), list(range(30, 90)))

    def test_learned_weights(self):
        random = np.random.RandomState(3)
        points = random.normal(size=(40, 16)).astype(np.float32)
        points[:, 2] += np.repeat([0, 8], 20)
        self.save("old.npy", points)
        self.save("groups.npy", np.repeat([0, 1], 20))
        self.succeed("exemplar", "learn", "old.npy:groups.npy", "--out", "distance", "--quiet")
        explorer = self.vectors("--model", "distance")
        detail = explorer.run(method="exemplar", set={"classes": ["0", "1"]})
        self.check_command(explorer, detail)
        weights = detail["extras"]["weights"]
        self.assertEqual(len(weights), 16)
        self.assertEqual(weights[0]["name"], "column 2")
        shares = [one["weight"] for one in weights]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertAlmostEqual(sum(shares), 1, places=4)
        page = (self.folder / "again" / "report.html").read_text()  # the run folder's own report
        self.assertRegex(page, r'"weights":\[\{"name":"column 2"')

    def test_icc_without_classes_and_kmodes_on_bits_run_from_their_defaults_issue24(self):
        random = np.random.RandomState(4)
        self.save("flat.npy", (np.repeat(np.eye(3, 8), 40, axis=0) * 9
                               + random.normal(size=(120, 8))).astype(np.float32))
        explorer = Explorer(self, "flat.npy")
        self.assertFalse(explorer.get("/api/collection").json()["binary"])
        self.check_command(explorer, explorer.run(method="icc", set={"rest": True}))
        self.save("bits.npy", (random.rand(60, 12) < np.repeat([[0.1], [0.9]], 30, axis=0)).astype(np.float32))
        bits = Explorer(self, "bits.npy")
        self.assertTrue(bits.get("/api/collection").json()["binary"])
        self.check_command(bits, bits.run(method="kmodes", set={"rest": True}))

    def test_commands_of_other_methods(self):
        explorer = self.vectors()
        for request in ({"method": "icc", "set": {"classes": ["0", "2", "3"]}},
                        {"method": "icc", "set": {"classes": ["0", "2"]}, "context": {"classes": ["3"]}},
                        {"method": "exemplar", "set": {"rest": True}, "options": {"num_clusters": 4}}):
            self.check_command(explorer, explorer.run(**request))


if __name__ == "__main__":
    unittest.main()
