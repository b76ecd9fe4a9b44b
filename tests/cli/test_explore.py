# SPDX-License-Identifier: Apache-2.0
"""milieu explore: the calls of docs/explorer_api.md."""

import io
import json
import pathlib
import re
import subprocess
import unittest

import numpy as np
from PIL import Image

from explorer import Explorer, ExplorerTest
from support import PROGRAM, environment

LONG = {"method": "kmeans", "set": {"classes": ["0", "1"]},
        "options": {"num_clusters": 2, "num_restarts": 100000000}}
DCP = {"method": "dcp", "set": {"classes": ["0", "1"]}, "context": {"rest": True}}


class CollectionTest(ExplorerTest):
    def test_first_line_of_stdout_is_an_address_that_answers(self):
        explorer = self.vectors()
        self.assertRegex(explorer.address, r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{64}$")
        page = explorer.raw("GET", f"/?token={explorer.token}")
        self.assertEqual(page.status, 200)
        self.assertIn("text/html", page.headers["Content-Type"])
        self.assertIn(b"/assets/app.js", page.body)
        cookie = page.headers["Set-Cookie"]
        for word in (explorer.cookie, "HttpOnly", "SameSite=Strict"):
            self.assertIn(word, cookie)
        self.assertEqual(explorer.get("/assets/app.js").headers["Content-Type"], "text/javascript")
        self.assertEqual(explorer.get("/assets/app.css").headers["Content-Type"], "text/css")
        self.assertEqual(explorer.stop(), 0)

    def test_vectors(self):
        explorer = self.vectors()
        collection = explorer.get("/api/collection").json()
        self.assertEqual(collection["kind"], "vectors")
        self.assertEqual((collection["n"], collection["d"]), (120, 16))
        self.assertEqual(collection["classes"][1], {"name": "1", "count": 30})
        classes = explorer.get("/api/collection/classes").array("<i4")
        self.assertEqual(list(classes), list(self.classes))
        names = explorer.get("/api/collection/names?from=118&count=10").json()
        self.assertEqual(names, ["118", "119"])

    def test_map_is_the_principal_plane(self):
        explorer = self.vectors()
        shown = explorer.get("/api/collection/map").array("<f4").reshape(-1, 2)
        self.assertEqual(shown.shape, (120, 2))
        self.assertAlmostEqual(float(np.abs(shown).max()), 1, places=5)
        centered = self.points - self.points.mean(0)
        left, values, _ = np.linalg.svd(centered.astype(np.float64), full_matrices=False)
        exact = left[:, :2] * values[:2]
        for axis in range(2):
            self.assertGreater(abs(np.corrcoef(shown[:, axis], exact[:, axis])[0, 1]), 0.9999)

    def test_thumbnails_of_rows_that_are_images(self):
        explorer = self.vectors()
        answer = explorer.get("/api/thumb/7?side=64")
        image = Image.open(io.BytesIO(answer.body))
        self.assertEqual((answer.headers["Content-Type"], image.size), ("image/png", (4, 4)))
        self.assertIn("7", explorer.expect_error(400, "GET", "/api/thumb/7x"))
        self.assertIn("side", explorer.expect_error(400, "GET", "/api/thumb/7?side=9999"))
        explorer.expect_error(400, "GET", "/api/thumb/120")
        explorer.expect_error(400, "GET", "/api/thumb/-1")

    def test_images_have_cached_thumbnails(self):
        explorer = self.photos()
        collection = explorer.get("/api/collection").json()
        self.assertEqual((collection["kind"], collection["feature"]), ("images", "tiny"))
        self.assertEqual(explorer.get("/api/collection/names").json(), self.names)
        answer = explorer.get("/api/thumb/0?side=32")
        self.assertEqual(max(Image.open(io.BytesIO(answer.body)).size), 32)
        kept = list((self.folder / "cache").rglob("thumbs/32/*/*.jpg"))
        self.assertEqual([path.read_bytes() for path in kept], [answer.body])
        self.assertEqual(explorer.get("/api/thumb/0?side=32").body, answer.body)
        # A changed image has another one.
        Image.new("RGB", (40, 20), "blue").save(self.folder / "photos" / self.names[0])
        changed = Image.open(io.BytesIO(explorer.get("/api/thumb/0?side=32").body))
        self.assertEqual(changed.size, (32, 16))

    def test_methods_are_the_declared_options(self):
        methods = {m["name"]: m for m in self.vectors().get("/api/methods").json()}
        dcp = methods["dcp"]
        self.assertTrue(dcp["takes_context"] and dcp["takes_constraints"])
        self.assertTrue(methods["icc"]["takes_context"])
        self.assertFalse(methods["kmeans"]["takes_context"])
        self.assertEqual([name for name, method in methods.items() if method["ranks_contexts"]], ["dcp"])
        self.assertEqual([methods[name]["needs"] for name in ("dcp", "icc", "icc advise", "kmodes")],
                         [["context"], [], ["classes"], ["binary"]])
        fields = {field["name"]: field for field in dcp["fields"]}
        self.assertEqual(fields["num_clusters"]["default"], 2)
        self.assertEqual(fields["num_clusters"]["min"], 1)
        self.assertEqual(fields["loss"]["choices"], ["hinge", "squared-hinge", "huber", "logistic"])
        self.assertTrue(fields["cost"]["min_excluded"])
        self.assertTrue(fields["coef0"]["advanced"])
        self.assertNotIn("rank_contexts", fields)

    def test_wrong_input_is_reported_before_there_is_an_address(self):
        self.assertIn("does not exist", self.fail_with(1, "explore", "nothing.npy", "--no-browser"))
        self.assertIn("INPUT is missing", self.fail_with(2, "explore"))
        self.save("X.npy", np.zeros((3, 2), np.float32))
        self.succeed("kmeans", "X.npy", "-k", "1", "--out", "run", "--quiet")
        self.assertIn("open run/report.html", self.fail_with(2, "explore", "run", "--no-browser"))
        (self.folder / "empty").mkdir()
        self.assertIn("has no images", self.fail_with(1, "explore", "empty", "--no-browser"))
        self.assertIn("port is 70000", self.fail_with(2, "explore", "X.npy", "--port", "70000"))
        explorer = self.vectors()
        taken = self.fail_with(1, "explore", "X.npy", "--no-browser", "--port", explorer.port)
        self.assertIn(f"port {explorer.port} of 127.0.0.1 cannot be used", taken)


class RunTest(ExplorerTest):
    def column(self, explorer, run, name, kind):
        return explorer.get(f"/api/runs/{run}/column/{name}").array(kind)

    def test_dcp_from_request_to_columns(self):
        explorer = self.vectors()
        detail = explorer.run(**DCP, name="first", options={"num_clusters": 2, "seed": 3})
        run = detail["id"]
        self.assertEqual((detail["name"], detail["n"], detail["clusters"]), ("first", 60, 2))
        self.assertGreater(detail["confidence"], 0.5)
        self.assertEqual(list(self.column(explorer, run, "rows", "<i4")), list(range(60)))
        labels = self.column(explorer, run, "labels", "<i4")
        self.assertEqual([part["size"] for part in detail["parts"]],
                         [int((labels == k).sum()) for k in range(2)])
        decisions = self.column(explorer, run, "decisions", "<f4").reshape(60, 2)
        margins = self.column(explorer, run, "margins", "<f4")
        np.testing.assert_allclose(margins, decisions.max(1) - decisions.min(1), rtol=1e-4)
        self.assertEqual(list(decisions.argmax(1)), list(labels))
        self.assertEqual(list(self.column(explorer, run, "context_rows", "<i4")),
                         list(range(60, 120)))
        context = self.column(explorer, run, "context_decisions", "<f4").reshape(60, 2)
        self.assertLess(context.max(), decisions.max(1).min())
        for part in detail["parts"]:
            of_part = np.flatnonzero(labels == part["index"])
            self.assertEqual(part["border"][0], of_part[margins[of_part].argmin()])
            means = self.points[of_part].mean(0)
            distances = ((self.points[of_part] - means) ** 2).sum(1)
            self.assertEqual(part["typical"][0], of_part[distances.argmin()])
            self.assertTrue(part["apart"].endswith("."), part["apart"])
        explorer.expect_error(404, "GET", f"/api/runs/{run}/column/nothing")

    def test_exemplars_come_with_the_curve_of_penalties(self):
        explorer = self.vectors()
        detail = explorer.run(method="exemplar", set={"rest": True}, options={"num_clusters": 4})
        self.assertEqual(len(detail["extras"]["exemplars"]), 4)
        curve = detail["extras"]["penalty_curve"]
        self.assertEqual(curve, sorted(curve))
        self.assertEqual(sorted(penalty for penalty, _ in curve),
                         sorted(detail["summary"]["curve_penalties"]))
        self.assertGreaterEqual(curve[0][1], curve[-1][1])  # a larger penalty, fewer exemplars

    def test_parts_of_images_say_how_far_they_are_from_the_rest(self):
        explorer = self.photos()
        one = explorer.get("/api/collection").json()["classes"][0]["name"]
        detail = explorer.run(method="kmeans", set={"classes": [one]}, options={"num_clusters": 2})
        for part in detail["parts"]:
            self.assertRegex(part["apart"], r"^(Its mean lies (only )?\d+\.\d times its own spread "
                                            r"from the mean of the rest|All its rows are the same)\.$")
        detail = explorer.run(method="kmeans", set={"classes": [one]}, options={"num_clusters": 1})
        self.assertEqual(detail["parts"][0]["apart"], "This is the whole set.")

    def test_shown_command_gives_the_same_labels(self):
        explorer = self.vectors()
        for request in (DCP, {"method": "dcp", "set": {"rows": list(range(5, 50))},
                              "context": {"rows": [70, 100, 90, 65, 117]}},
                        {"method": "kmeans", "set": {"rest": True}, "options": {"num_clusters": 4}}):
            detail = explorer.run(**request)
            command = re.sub(r" --out \S+", " --out again --force", detail["command"])
            program = pathlib.Path(PROGRAM).resolve()
            subprocess.run(["bash", "-c", command.replace("milieu", str(program), 1)],
                           cwd=self.folder, check=True, env=environment(), capture_output=True)
            labels = self.column(explorer, detail["id"], "labels", "<i4")
            self.assertEqual(list(self.labels("again")), list(labels), command)

    def test_progress_comes_before_the_end(self):
        explorer = self.vectors()
        run = explorer.start_run(**LONG)
        events = []
        for event in explorer.events(run):
            events.append(event)
            if len(events) == 3:
                explorer.ask("POST", f"/api/runs/{run}/cancel", {})
        self.assertEqual(events[-1][0], "end")
        self.assertEqual(events[-1][1]["state"], "cancelled")
        seen = [data for name, data in events if name == "progress"]
        self.assertTrue(any(data["state"] == "running" for data in seen), seen[:3])
        for key in ("stage", "restart", "iteration", "objective", "change", "done", "total"):
            self.assertIn(key, seen[0])
        # Late listeners get the end at once.
        self.assertEqual([name for name, _ in explorer.events(run)], ["end"])

    def test_constraints_hold(self):
        explorer = self.vectors()
        free = explorer.run(**DCP)
        labels = self.column(explorer, free["id"], "labels", "<i4")
        a, b = int(np.flatnonzero(labels == 0)[0]), int(np.flatnonzero(labels == 1)[0])
        detail = explorer.run(**DCP, constraints={"memberships": [[b, int(labels[a])]],
                                                  "must_link": [[a, a + 1]],
                                                  "cannot_link": [[a + 1, a + 2]]})
        again = self.column(explorer, detail["id"], "labels", "<i4")
        self.assertEqual(again[b], labels[a])
        self.assertEqual(again[a], again[a + 1])
        self.assertNotEqual(again[a + 1], again[a + 2])

    def test_ranking_of_contexts(self):
        explorer = self.vectors()
        detail = explorer.run(method="dcp", set={"classes": ["0", "1"]}, rank_contexts=True,
                              options={"num_restarts": 5})
        contexts = detail["extras"]["contexts"]
        self.assertEqual(sorted(one["name"] for one in contexts), ["2", "3", "all contexts"])
        self.assertEqual([one["rank"] for one in contexts], [1, 2, 3])
        for one in contexts:
            self.assertEqual(len(one["labels"]), 60)
            self.assertEqual(sum(one["sizes"]), 60)
        self.assertGreaterEqual(contexts[0]["score"], contexts[1]["score"])

    def test_wrong_requests_are_refused_with_the_reason(self):
        explorer = self.vectors()
        for request, reason in (
                ({"method": "nothing", "set": {"rest": True}}, "method is 'nothing'"),
                ({"method": "kmeans"}, "set is missing"),
                ({"method": "kmeans", "set": {}}, "set is empty"),
                ({"method": "kmeans", "set": {"classes": ["9"]}}, "class \"9\""),
                ({"method": "kmeans", "set": {"rows": [120]}}, "row 120"),
                ({"method": "kmeans", "set": {"rows": [-1]}}, "row -1"),
                ({"method": "kmeans", "set": {"rows": ["1"]}}, "whole number"),
                ({"method": "kmeans", "set": {"rest": True}, "context": {"rest": True}}, "no context"),
                ({"method": "dcp", "set": {"classes": ["0"]}}, "context is missing"),
                ({"method": "dcp", "set": {"rest": True}, "context": {"rest": True}}, "context is empty"),
                ({"method": "kmeans", "set": {"rest": True}, "options": {"num_clusters": 0}},
                 "num_clusters is 0, must be at least 1"),
                ({"method": "kmeans", "set": {"rest": True}, "options": {"k": 2}}, "no option 'k'"),
                ({"method": "kmeans", "set": {"rest": True}, "options": {"num_clusters": [2]}},
                 "num_clusters"),
                ({"method": "cac", "set": {"rest": True}}, "needs an image folder"),
                ({"method": "kmodes", "set": {"rest": True}}, "needs vectors of zeros and ones"),
                ({"method": "kmeans", "set": {"rest": True}, "extra": 1}, "no part 'extra'"),
                ({**DCP, "constraints": {"memberships": [[100, 0]]}}, "not in the set"),
                ([1], "must be an object")):
            error = explorer.expect_error(400, "POST", "/api/runs", request)
            self.assertIn(reason, error, request)
        self.assertEqual(explorer.get("/api/runs").json(), [])

    def test_failed_run_reports_the_message_of_the_command(self):
        explorer = self.vectors()
        run = explorer.start_run(method="kmeans", set={"rows": [1, 2]}, options={"num_clusters": 5})
        end = explorer.wait(run)
        self.assertEqual(end["state"], "failed")
        self.assertIn("num_clusters is 5", end["error"])
        explorer.expect_error(409, "GET", f"/api/runs/{run}/column/labels")
        self.assertEqual(explorer.get(f"/api/runs/{run}").json()["parts"], [])

    def test_history_names_and_removal(self):
        explorer = self.vectors()
        first = explorer.run(**DCP)["id"]
        second = explorer.run(method="kmeans", set={"rest": True})["id"]
        answer = explorer.ask("PATCH", f"/api/runs/{first}",
                              {"name": "ones and noughts", "part_names": ["a", "b"]})
        self.assertEqual(answer.status, 200)
        explorer.expect_error(400, "PATCH", f"/api/runs/{first}", {"name": 3})
        explorer.expect_error(400, "PATCH", f"/api/runs/{first}", {"other": "x"})
        self.assertEqual(explorer.stop(), 0)
        again = Explorer(self, "X.npy", "--labels", "y.npy", "--image-size", "4x4")
        runs = again.get("/api/runs").json()
        self.assertEqual({run["id"] for run in runs}, {first, second})
        detail = again.get(f"/api/runs/{first}").json()
        self.assertEqual(detail["name"], "ones and noughts")
        self.assertEqual([part["name"] for part in detail["parts"]], ["a", "b"])
        self.assertEqual(again.ask("DELETE", f"/api/runs/{first}").status, 204)
        again.expect_error(404, "GET", f"/api/runs/{first}")
        self.assertEqual([run["id"] for run in again.get("/api/runs").json()], [second])

    def test_queue_and_cancel(self):
        explorer = self.vectors()
        long = explorer.start_run(**LONG)
        waiting = explorer.start_run(**DCP)
        for name, data in explorer.events(long):
            if name == "progress" and data["state"] == "running" and data["iteration"] > 0:
                break
        explorer.expect_error(409, "DELETE", f"/api/runs/{long}")
        self.assertEqual(explorer.get(f"/api/runs/{waiting}").json()["state"], "queued")
        self.assertEqual(explorer.ask("POST", f"/api/runs/{waiting}/cancel", "", {
            "Content-Type": "application/json"}).status, 202)
        self.assertEqual(explorer.wait(waiting)["state"], "cancelled")
        self.assertEqual(explorer.ask("POST", f"/api/runs/{long}/cancel", {}).status, 202)
        end = explorer.wait(long)
        self.assertEqual(end["state"], "cancelled")
        self.assertEqual(end["clusters"], 2)  # what was valid is kept
        self.assertEqual(len(self.column(explorer, long, "labels", "<i4")), 60)

    def test_full_queue_is_refused(self):
        explorer = self.vectors()
        explorer.start_run(**LONG)
        statuses = [explorer.ask("POST", "/api/runs", {**DCP, "options": {}}).status
                    for _ in range(34)]
        self.assertEqual(statuses[:31], [202] * 31)
        self.assertEqual(statuses[-1], 429)


class TakeAwayTest(ExplorerTest):
    def test_compare(self):
        explorer = self.vectors()
        a = explorer.run(method="kmeans", set={"classes": ["0", "1", "2"]},
                         options={"num_clusters": 3})["id"]
        b = explorer.run(method="kmeans", set={"classes": ["1", "2", "3"]},
                         options={"num_clusters": 3})["id"]
        same = explorer.get(f"/api/compare?a={a}&b={a}").json()
        self.assertEqual((same["ari"], same["rows_in_both"], same["only_a"]), (1, 90, 0))
        other = explorer.get(f"/api/compare?a={a}&b={b}").json()
        self.assertEqual((other["rows_in_both"], other["only_a"], other["only_b"]), (60, 30, 30))
        self.assertEqual(sum(map(sum, other["table"])), 60)
        explorer.expect_error(404, "GET", f"/api/compare?a={a}&b=nothing")
        explorer.expect_error(400, "GET", f"/api/compare?a={a}")

    def test_labels_and_files(self):
        explorer = self.vectors()
        run = explorer.run(**DCP)["id"]
        table = explorer.get(f"/api/runs/{run}/export/labels.csv")
        self.assertIn("attachment", table.headers["Content-Disposition"])
        lines = table.body.decode().splitlines()
        self.assertEqual((lines[0], len(lines)), ("sample,label,part,margin,row,class,by_hand,tags,path", 61))
        labels = explorer.get(f"/api/runs/{run}/export/labels.json").json()
        self.assertEqual([one["label"] for one in labels["samples"]],
                         [int(line.split(",")[1]) for line in lines[1:]])
        files = [one["name"] for one in explorer.get(f"/api/runs/{run}").json()["files"]]
        self.assertIn("decisions.csv", files)
        self.assertNotIn("model.safetensors", files)
        self.assertIn(b"margin", explorer.get(f"/api/runs/{run}/file/decisions.csv").body)
        explorer.expect_error(404, "GET", f"/api/runs/{run}/file/model.safetensors")

    def test_export_of_images_by_part(self):
        explorer = self.photos()
        detail = explorer.run(method="kmeans", set={"classes": ["red", "stripes"]},
                              options={"num_clusters": 2})
        explorer.ask("PATCH", f"/api/runs/{detail['id']}", {"part_names": ["a/../b", ""]})
        for how in ("copy", "link"):
            done = explorer.ask("POST", f"/api/runs/{detail['id']}/export/folders", {"how": how})
            self.assertEqual(done.status, 200, done.body)
            self.assertEqual(done.json()["count"], 10)
            parts = pathlib.Path(done.json()["path"])
            self.assertEqual(sorted(path.name for path in parts.iterdir()), ["Part 2", "a_.._b"])
            images = [path for path in parts.rglob("*") if not path.is_dir()]
            self.assertEqual(len(images), 10)
            self.assertEqual({path.is_symlink() for path in images}, {how == "link"})
            wanted = {(self.folder / "photos" / name).read_bytes() for name in self.names}
            self.assertTrue({path.read_bytes() for path in images} <= wanted)
        explorer.expect_error(400, "POST", f"/api/runs/{detail['id']}/export/folders", {"how": "mv"})

    def test_report_holds_the_page_and_its_data(self):
        explorer = self.photos()
        detail = explorer.run(method="kmeans", set={"classes": ["red", "stripes"]},
                              options={"num_clusters": 2})
        page = explorer.get(f"/api/runs/{detail['id']}/export/report.html").body.decode()
        found = re.search(r'<script type="application/json" id="milieu-report">(.*?)</script>', page)
        data = json.loads(found.group(1))
        self.assertEqual(data["collection"]["n"], 10)
        self.assertEqual(data["runs"][0]["id"], detail["id"])
        self.assertEqual(len(data["thumbs"]["rows_shown"]), 10)
        self.assertIn("<noscript>", page)
        self.assertNotIn("/assets/app", page)
        self.assertEqual(re.findall(r'(?:src|href)="(?:https?:)?//', page), [])


if __name__ == "__main__":
    unittest.main()
