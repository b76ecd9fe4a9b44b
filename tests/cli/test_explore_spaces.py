# SPDX-License-Identifier: Apache-2.0
"""milieu explore: features beside the first, maps by neighbours, sizes and dates of files."""

import os
import time
import unittest

import numpy as np

from explorer import Explorer, ExplorerTest

PATIENCE = 60  # seconds


class SpacesTest(ExplorerTest):
    def until(self, what, test):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = test()
            if value is not None:
                return value
            time.sleep(0.02)
        raise AssertionError(f"waited in vain for: {what}")

    def neighbor_map(self, explorer, query=""):
        def ask():
            answer = explorer.ask("GET", f"/api/collection/neighbor-map{query}")
            self.assertIn(answer.status, (200, 202), answer.body)
            return answer if answer.status == 200 else None
        return self.until("the map by neighbours", ask).array("<f4").reshape(-1, 2)

    def described(self, explorer, feature):
        """Adds a feature and waits for it."""
        answer = explorer.ask("POST", "/api/features", {"feature": feature})
        self.assertEqual(answer.status, 202, answer.body)

        def state():
            kept = {one["feature"]: one for one in explorer.get("/api/features").json()["kept"]}
            return None if kept[feature]["state"] == "running" else kept[feature]
        return self.until(f"{feature} is described", state)

    def test_nearest_places_of_the_map_are_rows_of_the_same_class(self):
        explorer = self.vectors()
        places = self.neighbor_map(explorer)
        self.assertEqual(places.shape, (120, 2))
        self.assertLessEqual(np.abs(places).max(), 1.0001)
        distances = np.linalg.norm(places[:, None] - places[None], axis=2)
        np.fill_diagonal(distances, np.inf)
        nearest = distances.argmin(1)
        self.assertGreater((self.classes[nearest] == self.classes).mean(), 0.97)

    def test_the_map_is_kept_and_the_same_again(self):
        explorer = self.vectors()
        first = self.neighbor_map(explorer)
        explorer.stop()
        kept = list((self.folder / "cache").rglob("maps/*.f32"))
        self.assertEqual([path.read_bytes() for path in kept], [first.tobytes()])
        again = self.neighbor_map(self.vectors())
        np.testing.assert_array_equal(again, first)
        kept[0].unlink()  # made again: the same seed, the same bits
        np.testing.assert_array_equal(self.neighbor_map(self.vectors()), first)

    def test_the_map_says_how_far_it_is_and_can_be_cancelled(self):
        random = np.random.RandomState(1)
        self.save("many.npy", random.normal(size=(9000, 32)).astype(np.float32))
        explorer = Explorer(self, "many.npy")

        def layout():
            answer = explorer.ask("GET", "/api/collection/neighbor-map")
            self.assertEqual(answer.status, 202, "the map of 9,000 rows is there at once")
            progress = answer.json()
            return progress if progress["stage"] == "layout" and progress["done"] > 0 else None
        progress = self.until("the layout is under way", layout)
        self.assertEqual((progress["state"], progress["total"]), ("running", 500))
        explorer.ask("DELETE", "/api/collection/neighbor-map")
        self.assertEqual(explorer.stop(), 0)  # at once, not after the layout
        self.assertEqual(list((self.folder / "cache").rglob("maps/*.f32")), [])

    def test_a_second_feature_has_its_own_rows(self):
        explorer = self.photos()
        known = [one["feature"] for one in explorer.get("/api/features").json()["known"]]
        for feature in ("gist", "color", "tiny", "dense-sift"):
            self.assertIn(feature, known)
        one = self.described(explorer, "color")
        self.assertEqual(one["state"], "done", one)
        self.assertNotEqual(one["d"], explorer.get("/api/collection").json()["d"])
        own = explorer.get("/api/collection/map").array("<f4")
        other = explorer.get("/api/collection/map?feature=color").array("<f4")
        self.assertEqual(other.shape, own.shape)
        self.assertFalse(np.allclose(own, other))
        near = explorer.get("/api/like/0?count=3&feature=color").json()
        self.assertEqual(len(near["rows"]), 3)
        self.assertNotEqual(near["distances"], explorer.get("/api/like/0?count=3").json()["distances"])
        detail = explorer.run(method="kmeans", set={"rest": True}, feature="color",
                              options={"num_clusters": 2})
        self.assertIn("--feature color", detail["command"])
        self.assertEqual(detail["request"]["feature"], "color")
        self.assertIn("--feature tiny", explorer.run(method="kmeans", set={"rest": True})["command"])
        # Kept: the next start has it, and its run.
        explorer.stop()
        again = Explorer(self, "photos", "--feature", "tiny")
        self.assertEqual([one["feature"] for one in again.get("/api/features").json()["kept"]], ["color"])
        self.assertEqual(len(again.get(f"/api/runs/{detail['id']}").json()["parts"]), 2)
        again.ask("DELETE", "/api/features?feature=color")
        self.assertEqual(again.get("/api/features").json()["kept"], [])
        again.expect_error(404, "GET", "/api/collection/map?feature=color")

    def nearest(self, row, candidates, count):
        """By brute force, without the row itself."""
        others = np.array([other for other in candidates if other != row])
        distances = np.linalg.norm(self.points[others] - self.points[row], axis=1)
        order = np.argsort(distances, kind="stable")[:count]
        return list(others[order]), distances[order]

    def test_why_a_row_is_in_its_part_issue24(self):
        explorer = self.vectors()
        detail = explorer.run(method="dcp", set={"classes": ["0", "1"]}, context={"classes": ["2"]},
                              options={"num_clusters": 2})
        near = explorer.get(f"/api/runs/{detail['id']}/near/7?count=3").json()
        rows, distances = self.nearest(7, range(60, 90), 3)
        self.assertEqual(near["context"]["rows"], rows)
        np.testing.assert_allclose(near["context"]["distances"], distances, rtol=1e-5)
        self.assertEqual(near["exemplars"], {"rows": [], "distances": []})
        detail = explorer.run(method="exemplar", set={"rest": True}, options={"num_clusters": 4})
        exemplars = detail["extras"]["exemplars"]
        near = explorer.get(f"/api/runs/{detail['id']}/near/{exemplars[0]}?count=9").json()
        self.assertEqual(near["exemplars"]["rows"], self.nearest(exemplars[0], exemplars, 9)[0])
        self.assertEqual(near["context"]["rows"], [])
        explorer.expect_error(400, "GET", f"/api/runs/{detail['id']}/near/120")
        explorer.expect_error(405, "POST", f"/api/runs/{detail['id']}/near/1", {})

    def test_what_cannot_describe_the_images_says_why(self):
        explorer = self.photos()
        one = self.described(explorer, "onnx:none.onnx")
        self.assertEqual(one["state"], "failed")
        self.assertIn("none.onnx", one["error"])
        self.assertIn("none.onnx", explorer.expect_error(409, "GET", "/api/collection/map?feature=onnx:none.onnx"))
        self.assertIn("gits", self.described(explorer, "gits")["error"])
        answer = explorer.expect_error(400, "POST", "/api/runs", {
            "method": "kmeans", "set": {"rest": True}, "options": {}, "feature": "hog"})
        self.assertIn("'hog'", answer)
        explorer.expect_error(400, "POST", "/api/features", {"feature": 3})
        explorer.expect_error(405, "PUT", "/api/features")
        self.assertIn("image folders", self.vectors().expect_error(400, "POST", "/api/features", {"feature": "gist"}))

    def test_sizes_and_dates_are_those_of_the_files(self):
        explorer = self.photos()
        os.utime(self.folder / "photos" / self.names[1], (1_600_000_000, 1_600_000_000))
        facts = explorer.get("/api/collection/files").array("<f8").reshape(-1, 2)
        sizes = [(self.folder / "photos" / name).stat().st_size for name in self.names]
        self.assertEqual(list(facts[:, 0]), sizes)
        self.assertEqual(facts[1, 1], 1_600_000_000)
        self.assertTrue((self.vectors().get("/api/collection/files").array("<f8") == -1).all())


if __name__ == "__main__":
    unittest.main()
