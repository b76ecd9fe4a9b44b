# SPDX-License-Identifier: Apache-2.0
"""milieu explore: corrections by hand, kept in the run's folder, exported, and run again."""

import csv
import io
import json
import unittest

import numpy as np

from explorer import Explorer, ExplorerTest

DCP = {"method": "dcp", "set": {"classes": ["0"]}, "context": {"rest": True}}


class EditsTest(ExplorerTest):
    def exported(self, explorer, run, query=""):
        text = explorer.get(f"/api/runs/{run}/export/labels.csv{query}").body.decode()
        return list(csv.DictReader(io.StringIO(text)))

    def patch(self, explorer, run, body):
        answer = explorer.ask("PATCH", f"/api/runs/{run}", body)
        self.assertEqual(answer.status, 200, answer.body)

    def labels_of(self, explorer, run):
        return explorer.get(f"/api/runs/{run}/column/labels").array("<i4")

    def test_moves_names_and_tags_of_any_method_are_exported(self):
        explorer = self.vectors()
        run = explorer.run(method="kmeans", set={"rest": True}, options={"num_clusters": 4})["id"]
        before = self.exported(explorer, run)
        first = int(before[0]["label"])
        other = (first + 1) % 4
        edits = {"moves": [[0, other], [1, 4], [2, -1]], "tags": [[0, "odd"], [0, "blurred"]],
                 "num_parts": 5, "history": {"at": 1, "steps": [{"what": "by hand"}]}}
        self.patch(explorer, run, {"edits": edits})
        self.patch(explorer, run, {"part_names": ["", "", "", "", "mine"]})
        rows = self.exported(explorer, run)
        self.assertEqual([row["label"] for row in rows[:3]], [str(other), "4", "-1"])
        self.assertEqual((rows[1]["part"], rows[2]["part"]), ("mine", ""))
        self.assertEqual([row["by_hand"] for row in rows[:4]], ["1", "1", "1", "0"])
        self.assertEqual(rows[0]["tags"], "odd;blurred")
        self.assertEqual([row["label"] for row in rows[3:]], [row["label"] for row in before[3:]])
        self.assertEqual([row["label"] for row in self.exported(explorer, run, "?original")],
                         [row["label"] for row in before])
        self.assertEqual(list(self.labels_of(explorer, run)), [int(row["label"]) for row in before])
        as_json = explorer.get(f"/api/runs/{run}/export/labels.json").json()
        self.assertEqual((as_json["parts"][4], as_json["samples"][0]["tags"]), ("mine", ["odd", "blurred"]))
        detail = explorer.get(f"/api/runs/{run}").json()
        self.assertEqual({key: detail["edits"][key] for key in edits}, edits)
        report = explorer.get(f"/api/runs/{run}/export/report.html").body.decode()
        data = json.loads(report.split('id="milieu-report">')[1].split("</script>")[0])
        self.assertEqual([part["name"] for part in data["runs"][0]["parts"]][4], "mine")

    def test_edits_outlive_the_explorer(self):
        explorer = self.vectors()
        run = explorer.run(method="kmeans", set={"rest": True}, options={"num_clusters": 2})["id"]
        self.patch(explorer, run, {"edits": {"moves": [[5, -1]], "num_parts": 2}})
        before = self.exported(explorer, run)
        explorer.kill()
        again = Explorer(self, "X.npy", "--labels", "y.npy", "--image-size", "4x4")
        self.assertEqual(self.exported(again, run), before)
        self.assertEqual(before[5]["label"], "-1")

    def test_wrong_edits_are_refused_and_nothing_changes(self):
        explorer = self.vectors()
        run = explorer.run(method="kmeans", set={"classes": ["0"]}, options={"num_clusters": 2})["id"]
        before = self.exported(explorer, run)
        for edits, reason in ((3, "must be an object"), ({"moved": []}, "no part 'moved'"),
                              ({"moves": [[99, 0]]}, "row 99"), ({"moves": [[0, 2]]}, "part 2"),
                              ({"moves": [[0, -2]]}, "part -2"), ({"moves": [0]}, "pairs"),
                              ({"moves": [["x", 0]]}, "row"), ({"tags": [[0, 5]]}, "texts"),
                              ({"num_parts": 10**9}, "num_parts")):
            error = explorer.expect_error(400, "PATCH", f"/api/runs/{run}", {"edits": edits})
            self.assertIn(reason, error)
        self.assertEqual(self.exported(explorer, run), before)

    def test_damaged_edits_are_named_and_not_overwritten(self):
        explorer = self.vectors()
        run = explorer.run(method="kmeans", set={"classes": ["0"]}, options={"num_clusters": 2})["id"]
        self.patch(explorer, run, {"edits": {"moves": [[0, 1]], "num_parts": 2}})
        path = next(self.folder.rglob("edits.json"))
        path.write_text(path.read_text()[:20])
        self.assertIn("edits.json", explorer.get(f"/api/runs/{run}").json()["edits_problem"])
        answer = explorer.ask("PATCH", f"/api/runs/{run}", {"edits": {"moves": [], "num_parts": 2}})
        self.assertNotEqual(answer.status, 200)
        self.assertEqual(len(path.read_text()), 20)
        self.assertNotEqual(explorer.ask("GET", f"/api/runs/{run}/export/labels.csv").status, 200)

    def unequal(self):
        """A large and a small group to split, and a context."""
        random = np.random.RandomState(1)
        centers = np.zeros((80, 8))
        centers[:36, 0], centers[36:40, 1] = 5, 5
        points = centers + random.normal(size=(80, 8))
        self.save("X.npy", points.astype(np.float32))
        self.save("y.npy", np.repeat([0, 1], 40))
        return Explorer(self, "X.npy", "--labels", "y.npy")

    def test_corrected_run_keeps_its_parts_issue24(self):
        explorer = self.unequal()
        first = explorer.run(**DCP)["id"]
        labels = self.labels_of(explorer, first)
        large = int(np.bincount(labels).argmax())
        sizes = np.bincount(labels, minlength=2)
        margins = explorer.get(f"/api/runs/{first}/column/margins").array("<f4")
        of_large = np.flatnonzero(labels == large)
        moved = np.sort(of_large[np.argsort(margins[of_large])[:4]]).tolist()
        corrected = labels.copy()
        corrected[moved] = 1 - large
        detail = explorer.run(
            **DCP, constraints={"memberships": [[row, 1 - large] for row in moved],
                                "must_link": [], "cannot_link": []},
            initial=[[row, int(label)] for row, label in enumerate(corrected)],
            part_names=["many", "few"], follows={"run": first, "how": "corrected"})
        after = self.labels_of(explorer, detail["id"])
        self.assertTrue((after[moved] == 1 - large).all())
        rest = np.setdiff1d(np.arange(40), moved)
        # Above a half: the parts have not exchanged their numbers, as they do without the start.
        self.assertGreater((after[rest] == labels[rest]).mean(), 0.5, (sizes, np.bincount(after)))
        self.assertEqual([part["name"] for part in detail["parts"]], ["many", "few"])
        names = {row["part"] for row in self.exported(explorer, detail["id"])}
        self.assertEqual(names, {"many", "few"})

    def test_initial_labels_must_cover_the_set(self):
        explorer = self.unequal()
        error = explorer.expect_error(400, "POST", "/api/runs", {**DCP, "initial": [[0, 1]]})
        self.assertIn("no part for row 1", error)
        error = explorer.expect_error(400, "POST", "/api/runs", {
            "method": "kmeans", "set": {"rest": True}, "initial": [[0, 1]]})
        self.assertIn("takes no initial labels", error)


if __name__ == "__main__":
    unittest.main()
