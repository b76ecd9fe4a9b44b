# SPDX-License-Identifier: Apache-2.0
"""milieu explore: should a class be split? The advice as a run of the explorer."""

import unittest

import numpy as np

from explorer import Explorer, ExplorerTest

ADVICE = {"method": "icc advise", "options": {}}


class AdviceTest(ExplorerTest):
    def lumps(self, per_class=120, dims=6):
        """Class "two" is in two places, "one" and "three" in one each."""
        random = np.random.RandomState(1)
        classes = np.repeat(["one", "two", "three"], per_class)
        centers = np.zeros((3 * per_class, dims))
        centers[classes == "three", 1] = 12
        centers[np.flatnonzero(classes == "two")[::2], 0] = 12
        centers[np.flatnonzero(classes == "two")[1::2], 0] = -12
        self.save("X.npy", (centers + random.normal(size=centers.shape)).astype(np.float32))
        (self.folder / "y.txt").write_text("\n".join(classes) + "\n")
        return Explorer(self, "X.npy", "--labels", "y.txt")

    def test_verdicts_and_parts(self):
        explorer = self.lumps()
        offered = {m["name"]: m for m in explorer.get("/api/methods").json()}["icc advise"]
        self.assertEqual((offered["needs"], offered["takes_context"]), (["classes"], False))
        self.assertEqual({f["name"]: f["default"] for f in offered["fields"]}["level"], 0.05)
        detail = explorer.run(**ADVICE, set={"classes": ["one", "two", "three"]})
        self.assertIn("milieu icc advise ", detail["command"])
        summary = detail["summary"]
        verdicts = dict(zip(summary["classes"], summary["verdicts"]))
        self.assertEqual(verdicts, {"one": "keep", "two": "split", "three": "keep"})
        self.assertEqual(len(summary["ended_confusions"]), 3)
        self.assertEqual(sorted(part["size"] for part in detail["parts"]), [60, 60, 120, 120])
        # Parts are numbered class by class.
        owners = [part["classes"][0][0] for part in detail["parts"]]
        expected = [name for name, n in zip(summary["classes"], summary["parts"]) for _ in range(n)]
        self.assertEqual(owners, expected)
        run = detail["id"]
        rows = explorer.get(f"/api/runs/{run}/column/rows").array("<i4")
        labels = explorer.get(f"/api/runs/{run}/column/labels").array("<i4")
        self.assertEqual((len(rows), len(set(labels))), (360, 4))
        self.assertIn("advice.csv", {file["name"] for file in detail["files"]})

    def test_options_and_a_set_of_some_classes(self):
        explorer = self.lumps()
        detail = explorer.run(method="icc advise", set={"classes": ["one", "two"]},
                              options={"min_size": 50})
        self.assertEqual(detail["summary"]["verdicts"], ["too few samples"] * 2)
        self.assertIn("--min-size 50", detail["command"])
        refused = explorer.expect_error(400, "POST", "/api/runs",
                                        {**ADVICE, "set": {"rest": True}, "options": {"level": 2}})
        self.assertIn("level is 2", refused)
        refused = explorer.expect_error(400, "POST", "/api/runs", {
            **ADVICE, "set": {"classes": ["one"]}, "context": {"rest": True}})
        self.assertIn("takes no context", refused)

    def test_a_collection_without_classes_is_refused(self):
        self.save("X.npy", np.random.RandomState(0).normal(size=(50, 3)).astype(np.float32))
        explorer = Explorer(self, "X.npy")
        refused = explorer.expect_error(400, "POST", "/api/runs", {**ADVICE, "set": {"rest": True}})
        self.assertIn("icc advise needs classes: start milieu explore with --labels", refused)
        self.assertEqual(explorer.get("/api/runs").json(), [])

    def test_rows_without_a_class_are_refused(self):
        random = np.random.RandomState(0)
        self.save("X.npy", random.normal(size=(100, 3)).astype(np.float32))
        self.save("y.npy", np.array([0] * 49 + [1] * 50 + [-1]))
        explorer = Explorer(self, "X.npy", "--labels", "y.npy", "--truth", "y.npy")
        refused = explorer.expect_error(400, "POST", "/api/runs", {**ADVICE, "set": {"rest": True}})
        self.assertIn("row 99, which has no class", refused)
        names = [c["name"] for c in explorer.get("/api/collection").json()["classes"]]
        detail = explorer.run(**ADVICE, set={"classes": names})
        self.assertEqual((detail["n"], len(detail["parts"])), (99, 2))

    def test_a_cancelled_run_keeps_what_it_has(self):
        """The first class alone would take minutes; it used to hold up the cancelling."""
        explorer = self.lumps(per_class=1500, dims=40)
        request = {"method": "icc advise", "set": {"classes": ["one", "two", "three"]},
                   "options": {"repeats": 1000}}
        run = explorer.start_run(**request)
        for name, data in explorer.events(run):
            if name == "progress" and data["state"] == "running" and data["stage"] == "running":
                break
        self.assertEqual(explorer.ask("POST", f"/api/runs/{run}/cancel", {}).status, 202)
        end = explorer.wait(run)
        self.assertEqual(end["state"], "cancelled")
        detail = explorer.get(f"/api/runs/{run}").json()
        self.assertEqual(detail["summary"]["verdicts"], ["keep"] * 3)
        self.assertIn("stopped early", detail["summary"]["message"])
        self.assertEqual(sum(part["size"] for part in detail["parts"]), 4500)


if __name__ == "__main__":
    unittest.main()
