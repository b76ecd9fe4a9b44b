# SPDX-License-Identifier: Apache-2.0
"""milieu explore under attack and failure: strangers, odd paths, broken requests, slow clients, files that go
away, disks that fill, a killed server."""

import http.client
import os
import pathlib
import resource
import signal
import socket
import threading
import time
import unittest

from PIL import Image

from explorer import Explorer, ExplorerTest
from images import make_folder

LONG = {"method": "kmeans", "set": {"classes": ["0", "1"]},
        "options": {"num_clusters": 2, "num_restarts": 100000000}}


def send(port, data, wait=True):
    """Raw bytes to the server; what came back until it closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while wait and (piece := connection.recv(65536)):
                answer += piece
            return answer
        except (BrokenPipeError, ConnectionResetError):
            return b""


class StrangerTest(ExplorerTest):
    def test_nothing_without_the_token(self):
        explorer = self.vectors()
        for path in ("/", "/assets/app.js", "/api/collection", "/api/runs", "/api/thumb/0",
                     "/api/nothing", f"/?token={'0' * 64}", "/api/collection?token="):
            for headers in ({}, {"Cookie": "milieu_token_1=x; a=b"},
                            {"Cookie": f"milieu_token_{explorer.port}={'0' * 64}"}):
                answer = explorer.raw("GET", path, headers=headers)
                self.assertEqual(answer.status, 401, path)
                self.assertNotIn(explorer.token.encode(), answer.body)
        # A wrong token in the address is not excused by the right cookie.
        answer = explorer.ask("GET", "/api/collection?token=wrong")
        self.assertEqual(answer.status, 401)
        self.assertEqual(explorer.raw("POST", "/api/runs", "{}", {
            "Content-Type": "application/json"}).status, 401)

    def test_other_hosts_are_refused(self):
        explorer = self.vectors()
        good = f"127.0.0.1:{explorer.port}"
        for host in ("evil.example", f"evil.example:{explorer.port}", "127.0.0.1", "localhost",
                     "127.0.0.1:1", f"{good}.evil.example", f"evil@{good}", "", f"[::1]:{explorer.port}"):
            answer = explorer.ask("GET", "/api/collection", headers={"Host": host})
            self.assertEqual(answer.status, 403, host)
        for host in (good, f"localhost:{explorer.port}"):
            self.assertEqual(explorer.ask("GET", "/api/collection", headers={"Host": host}).status, 200)
        two = send(explorer.port, (f"GET /api/collection?token={explorer.token} HTTP/1.1\r\n"
                                   f"Host: {good}\r\nHost: evil.example\r\n\r\n").encode())
        self.assertIn(b" 403 ", two.split(b"\r\n")[0])
        none = send(explorer.port,
                    f"GET /api/collection?token={explorer.token} HTTP/1.1\r\n\r\n".encode())
        self.assertIn(b" 403 ", none.split(b"\r\n")[0])

    def test_other_origins_and_sites_are_refused(self):
        explorer = self.vectors()
        own = f"http://127.0.0.1:{explorer.port}"
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{explorer.port}",
                       "http://127.0.0.1:1", f"{own}.evil.example"):
            for method in ("GET", "POST"):
                answer = explorer.ask(method, "/api/runs", "{}" if method == "POST" else None,
                                      {"Origin": origin, "Content-Type": "application/json"})
                self.assertEqual(answer.status, 403, origin)
        self.assertEqual(explorer.ask("GET", "/api/runs", headers={"Origin": own}).status, 200)
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200),
                             ("none", 200)):
            answer = explorer.ask("GET", "/api/runs", headers={"Sec-Fetch-Site": site})
            self.assertEqual(answer.status, status, site)

    def test_forms_of_other_pages_cannot_post(self):
        explorer = self.vectors()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = explorer.ask("POST", "/api/runs", '{"method": "kmeans"}', {"Content-Type": kind})
            self.assertEqual(answer.status, 415, kind)

    def test_only_this_machine_is_listened_to(self):
        explorer = self.vectors()
        listening = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        port = f"{explorer.port:04X}"
        addresses = [line[1] for line in listening if line[1].endswith(":" + port) and line[3] == "0A"]
        self.assertEqual(addresses, [f"0100007F:{port}"])
        if os.path.exists("/proc/net/tcp6"):
            self.assertNotIn(f":{port} 0000", pathlib.Path("/proc/net/tcp6").read_text())

    def test_answers_carry_the_guards_of_browsers(self):
        explorer = self.vectors()
        page = explorer.get("/")
        policy = page.headers["Content-Security-Policy"]
        self.assertIn("default-src 'self'", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        for path in ("/", "/api/collection", "/api/thumb/0"):
            self.assertEqual(explorer.get(path).headers["X-Content-Type-Options"], "nosniff")


class PathTest(ExplorerTest):
    ODD = ("/../X.npy", "/%2e%2e/X.npy", "/..%2fX.npy", "//etc/passwd", "/etc/passwd", "/X.npy",
           "/assets/../X.npy", "/assets/%2e%2e%2fX.npy", "/assets/..\\X.npy", "/assets/", "/%00",
           "/assets/app.js%00.png", "/%c0%ae%c0%ae/X.npy", "/api", "/api/", "/api/../assets/app.js",
           "/api/runs/../collection", "/api/runs//", "/api/collection/", "/api/thumb", "/api/thumb/",
           "/api/thumb/0/1", "/" + "a" * 900, "/API/collection", "/api/%72uns%2f", "/file:///etc/passwd")

    def test_odd_paths_lead_nowhere(self):
        explorer = self.vectors()
        run = explorer.run(method="kmeans", set={"rest": True})["id"]
        odd_files = ("..%2fexplore.json", "%2e%2e%2fexplore.json", "..", ".", "%2fetc%2fpasswd",
                     "..%2f..%2f..%2fX.npy", "labels.csv%00.png", "model.safetensors", "nothing.png",
                     "labels.csv/", "./labels.csv", "%5c..%5cexplore.json")
        paths = [*self.ODD, *(f"/api/runs/{run}/file/{name}" for name in odd_files),
                 *(f"/api/runs/{name}" for name in ("..", "%2e%2e", "..%2fruns", run + "%00", run + "/")),
                 f"/api/runs/{run}/export/..%2flabels.csv", f"/api/runs/{run}/column/..%2frows"]
        for path in paths:
            connection = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=30)
            connection.putrequest("GET", path, skip_host=False)
            connection.putheader("Cookie", explorer.cookie)
            connection.endheaders()
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            self.assertIn(answer.status, (400, 404), path)
            self.assertIn(b'{"error":', body, path)
        self.assertEqual(explorer.get("/api/collection").json()["n"], 120)

    def test_links_out_of_the_folder_are_not_followed(self):
        outside = self.folder / "outside"
        outside.mkdir()
        Image.new("RGB", (50, 50), "red").save(outside / "secret.png")
        photos = self.folder / "photos"
        (photos / "red").mkdir(parents=True)
        (photos / "red" / "link.png").symlink_to(outside / "secret.png")
        (photos / "linked").symlink_to(outside)
        explorer = self.photos()
        warnings = " ".join(explorer.get("/api/collection").json()["warnings"])  # not without a word
        self.assertIn("2 images are links to files outside the folder", warnings)
        names = explorer.get("/api/collection/names").json()
        self.assertIn("red/link.png", names)  # it is listed, as everywhere in Milieu
        for name in names:
            row = names.index(name)
            if "link" in name:
                error = explorer.expect_error(404, "GET", f"/api/thumb/{row}")
                self.assertIn("outside the folder", error)
            else:
                explorer.get(f"/api/thumb/{row}")
        # A file that becomes a link later, too.
        victim = photos / self.names[0]
        victim.unlink()
        victim.symlink_to(outside / "secret.png")
        error = explorer.expect_error(404, "GET", f"/api/thumb/{names.index(self.names[0])}?side=48")
        self.assertIn("outside the folder", error)
        # And one that becomes a pipe does not block a thread for ever.
        victim.unlink()
        os.mkfifo(victim)
        explorer.expect_error(404, "GET", f"/api/thumb/{names.index(self.names[0])}?side=48")


class BrokenRequestTest(ExplorerTest):
    def test_malformed_requests_get_an_answer_or_a_closed_door(self):
        explorer = self.vectors()
        host = f"Host: 127.0.0.1:{explorer.port}\r\nCookie: {explorer.cookie}\r\n"
        for data in (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03",
                     b"GET / HTTP/9.9\r\n\r\n", b"FOO / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nA" * 3,
                     b"GET / HTTP/1.1\r\n: x\r\n\r\n", b"\0" * 5000, b"G" * 20000,
                     b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 20000 + b"\r\n",
                     f"GET /%zz%2 HTTP/1.1\r\n{host}\r\n".encode(),
                     f"POST /api/runs HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
                     f"Content-Length: -5\r\n\r\n".encode(),
                     f"POST /api/runs HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
                     f"Content-Length: 99999999999999999999\r\n\r\n".encode(),
                     f"POST /api/runs HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
                     f"Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode(),
                     f"GET / HTTP/1.1\r\n{host}Range: bytes=0-1,5-3,9-,-\r\n\r\n".encode()):
            answer = send(explorer.port, data)
            if answer:
                self.assertRegex(answer.split(b"\r\n")[0], rb"^HTTP/1\.1 (200|4\d\d) ", data[:60])
        self.assertEqual(explorer.get("/api/collection").json()["n"], 120)

    def test_bodies_that_are_not_requests(self):
        explorer = self.vectors()
        for body in ("", "{", "[]", "null", "3", '"x"', '{"method": 3}', "\xff", "{" * 5000,
                     "[" * 200000, '{"set": {"rows": "all"}, "method": "kmeans"}',
                     '{"method": "kmeans", "set": {"rows": [1e30]}}',
                     '{"method": "kmeans", "set": {"rest": true}, "options": {"seed": 1e400}}',
                     '{"method": "kmeans", "set": {"rest": true}, "name": "' + "x" * 300 + '"}'):
            answer = explorer.ask("POST", "/api/runs", body.encode("latin-1"),
                                  {"Content-Type": "application/json"})
            self.assertIn(answer.status, (400, 411), body[:60])
            self.assertIn("error", answer.json())
        self.assertEqual(explorer.get("/api/runs").json(), [])

    def test_methods_that_a_path_does_not_take(self):
        explorer = self.vectors()
        for method, path in (("DELETE", "/api/collection"), ("PUT", "/api/runs"), ("DELETE", "/"),
                             ("POST", "/api/methods"), ("PATCH", "/api/runs"), ("OPTIONS", "/api/runs"),
                             ("TRACE", "/"), ("POST", "/")):
            explorer.expect_error(405, method, path, {} if method in ("POST", "PATCH") else None)

    def test_limits_of_bodies(self):
        explorer = self.vectors()
        self.assertIn("too large", explorer.expect_error(
            413, "POST", "/api/runs", b" " * (9 << 20), {"Content-Type": "application/json"}))
        answer = explorer.ask("POST", "/api/runs", b"{}", {"Content-Type": "application/json",
                                                           "Content-Encoding": "gzip"})
        self.assertEqual(answer.status, 415)

    def test_a_huge_image_is_refused_by_its_header(self):
        explorer = self.photos()
        bomb = (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (60000).to_bytes(4, "big") * 2 +
                b"\x08\x02\x00\x00\x00")
        (self.folder / "photos" / self.names[0]).write_bytes(bomb + b"\0" * 100)
        explorer.expect_error(404, "GET", "/api/thumb/0?side=64")


class SlowClientTest(ExplorerTest):
    def test_a_thousand_slow_or_broken_connections_leave_it_answering(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        if hard != resource.RLIM_INFINITY and hard < 2000:
            self.skipTest(f"only {hard} open files are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
        explorer = self.vectors()
        parts = (b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
                 f"POST /api/runs?token={explorer.token} HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\n"
                 "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{".encode(), b"\0\1\2")
        slow = []
        self.addCleanup(lambda: [one.close() for one in slow])
        worst = 0
        for i in range(1000):
            connection = socket.create_connection(("127.0.0.1", explorer.port), timeout=30)
            slow.append(connection)
            try:
                connection.sendall(parts[i % len(parts)])
            except OSError:
                pass  # closed on us to make room: that is what we want
            if i % 100 == 99:
                began = time.monotonic()
                self.assertEqual(explorer.get("/api/collection").json()["n"], 120)
                worst = max(worst, time.monotonic() - began)
        self.assertLess(worst, 3)
        self.assertIsNone(explorer.process.poll())

    def test_two_visitors_at_once(self):
        explorer = self.vectors()
        run = explorer.start_run(**LONG)
        ends = []

        def watch():
            ends.append(explorer.wait(run))

        watchers = [threading.Thread(target=watch) for _ in range(2)]
        for watcher in watchers:
            watcher.start()
        first = next(explorer.events(run))  # a reload: a third one connects, gets the state, and leaves
        self.assertEqual(first[0], "progress")
        other = explorer.start_run(method="kmeans", set={"rest": True})
        self.assertEqual(explorer.ask("POST", f"/api/runs/{run}/cancel", {}).status, 202)
        for watcher in watchers:
            watcher.join(timeout=60)
        self.assertEqual([end["state"] for end in ends], ["cancelled"] * 2)
        self.assertEqual(explorer.wait(other)["state"], "done")


class OddNameTest(ExplorerTest):
    def test_control_characters_and_other_bytes_in_names_issue20(self):
        """Line breaks, escapes and bytes that are not UTF-8 in the names of images and classes."""
        make_folder(self.folder / "photos", per_class=4)
        photos = os.fsencode(self.folder / "photos")
        names = sorted(path for path in pathlib.Path(os.fsdecode(photos)).glob("*/*.png"))
        odd = [b"line\nbreak", b"car\rriage", b"esc\x1b[31m", b"del\x7f", b"caf\xe9", b"\xff,\"q\""]
        for path, name in zip(names, odd):
            os.rename(path, os.path.join(os.fsencode(path.parent), name + b".png"))
        os.rename(os.path.join(photos, b"red"), os.path.join(photos, b"r\ne\x1bd"))
        explorer = Explorer(self, "photos", "--feature", "color")
        explorer.get("/api/collection")
        detail = explorer.run(method="dcp", set={"classes": ["r\ne\x1bd"]},
                              context={"classes": ["stripes"]}, options={"num_clusters": 2})
        self.assertEqual(len(detail["parts"]), 2)
        run = explorer.run(method="kmeans", set={"rows": list(range(12))},
                           options={"num_clusters": 2})["id"]
        for name in ("labels.csv", "labels.json", "report.html"):
            answer = explorer.ask("GET", f"/api/runs/{run}/export/{name}")
            self.assertEqual(answer.status, 200, f"{name}: {answer.body[:300]}")
        done = explorer.ask("POST", f"/api/runs/{run}/export/folders", {"how": "copy"})
        self.assertEqual(done.status, 200, done.body)
        self.assertEqual(done.json()["count"], 12)


class LimitsTest(ExplorerTest):
    def test_folders_are_private_issue20(self):
        explorer = self.vectors()
        explorer.run(method="kmeans", set={"classes": ["0", "1"]}, options={"num_clusters": 2})
        found = 0
        for path in (self.folder / "cache/explore").rglob("*"):
            found += 1
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        self.assertGreater(found, 3)

    def test_a_body_of_brackets_takes_no_memory_issue20(self):
        explorer = self.vectors()
        before = self.peak_memory(explorer)
        body = b"[" * 4_000_000
        answer = explorer.ask("POST", "/api/runs", body, {"Content-Type": "application/json"})
        self.assertIn(answer.status, (400, 413))
        self.assertLess(self.peak_memory(explorer) - before, 100_000)
        quoted = b'{"method": "' + b"[" * 100 + b'"}'
        error = explorer.expect_error(400, "POST", "/api/runs", quoted,
                                      {"Content-Type": "application/json"})
        self.assertNotIn("nested", error)

    def peak_memory(self, explorer):
        status = pathlib.Path(f"/proc/{explorer.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])

    def test_two_lengths_are_refused_issue20(self):
        explorer = self.vectors()
        request = (f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\n"
                   f"Cookie: {explorer.cookie}\r\nContent-Type: application/json\r\n"
                   "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        self.assertIn(b" 400 ", send(explorer.port, request.encode()).split(b"\r\n")[0])

    def test_little_address_space_is_enough_issue20(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        explorer = self.vectors(prepare=limit)
        explorer.get("/api/collection")
        explorer.process.send_signal(signal.SIGTERM)
        explorer.process.wait(timeout=20)


class BadWorldTest(ExplorerTest):
    def test_the_folder_disappears(self):
        explorer = self.photos()
        done = explorer.run(method="kmeans", set={"rest": True}, options={"num_clusters": 2})
        (self.folder / "photos").rename(self.folder / "gone")
        explorer.expect_error(404, "GET", "/api/thumb/1")
        run = explorer.start_run(method="kmeans", set={"rest": True})
        end = explorer.wait(run)
        self.assertEqual(end["state"], "failed")
        self.assertIn("photos", end["error"])
        self.assertEqual(explorer.get(f"/api/runs/{done['id']}").json()["n"], 15)
        failed = explorer.ask("POST", f"/api/runs/{done['id']}/export/folders", {"how": "copy"})
        self.assertEqual(failed.status, 503)
        (self.folder / "gone").rename(self.folder / "photos")
        explorer.get("/api/thumb/1")

    def test_the_folder_of_runs_disappears(self):
        explorer = self.vectors("--runs", "runs")
        done = explorer.run(method="kmeans", set={"rest": True})["id"]
        (self.folder / "runs").rename(self.folder / "gone")
        self.assertEqual(explorer.get("/api/runs").json()[0]["id"], done)
        explorer.expect_error(404, "GET", f"/api/runs/{done}/file/labels.csv")
        explorer.run(method="kmeans", set={"rest": True})  # made again

    def test_the_disk_is_full(self):
        # A limit on the size of files simulates it: every write beyond 2000 bytes fails.
        explorer = self.vectors("--runs", "runs", prepare=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (2000, 2000)))
        run = explorer.start_run(method="kmeans", set={"rest": True})
        end = explorer.wait(run)
        self.assertEqual(end["state"], "failed")
        self.assertRegex(end["error"], "too large|write|written")
        rows = list(range(119))
        answer = explorer.ask("POST", "/api/runs", {
            "method": "dcp", "set": {"rows": rows}, "context": {"rest": True}, "options": {},
            "name": "x" * 200, "constraints": {"memberships": [[row, 0] for row in rows],
                                               "must_link": [], "cannot_link": []}})
        self.assertEqual(answer.status, 503, answer.body)
        self.assertIn("cannot be kept", answer.json()["error"])
        self.assertEqual(explorer.get("/api/collection").json()["n"], 120)

    def test_a_killed_server_loses_no_finished_run(self):
        explorer = self.vectors("--runs", "runs")
        done = explorer.run(method="kmeans", set={"rest": True})["id"]
        run = explorer.start_run(**LONG)
        waiting = explorer.start_run(method="kmeans", set={"rest": True})
        for name, data in explorer.events(run):
            if name == "progress" and data["iteration"] > 0:
                break
        explorer.kill()
        # Its child notices, stops, and keeps what it has: the pipe closes when it has ended.
        explorer.process.stderr.read()
        summary = self.folder / "runs" / run / "run" / "summary.json"
        deadline = time.monotonic() + 60
        while not summary.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        again = Explorer(self, "X.npy", "--labels", "y.npy", "--image-size", "4x4", "--runs", "runs")
        states = {one["id"]: one["state"] for one in again.get("/api/runs").json()}
        self.assertEqual(states, {done: "done", run: "cancelled", waiting: "failed"})
        self.assertEqual(len(again.get(f"/api/runs/{run}/column/labels").array("<i4")), 60)

    def test_ctrl_c_stops_the_run_and_keeps_it(self):
        explorer = self.vectors("--runs", "runs")
        run = explorer.start_run(**LONG)
        for name, data in explorer.events(run):
            if name == "progress" and data["iteration"] > 0:
                break
        explorer.process.send_signal(signal.SIGINT)
        self.assertEqual(explorer.process.wait(timeout=60), 0)
        self.assertTrue((self.folder / "runs" / run / "run" / "summary.json").exists())

    def test_odd_things_in_the_folder_of_runs(self):
        runs = self.folder / "runs"
        (runs / "a").mkdir(parents=True)
        (runs / "a" / "explore.json").write_text("{")
        (runs / "b").mkdir()
        (runs / "b" / "explore.json").write_text('{"id": "../b", "name": 3}')
        (runs / "c").mkdir()
        (runs / "c" / "explore.json").write_text('{"id": "c", "n": "x", "request": 7}')
        (runs / "file").write_text("")
        explorer = self.vectors("--runs", "runs")
        self.assertEqual([one["id"] for one in explorer.get("/api/runs").json()], ["c"])
        self.assertEqual(explorer.get("/api/runs/c").json()["state"], "failed")


if __name__ == "__main__":
    unittest.main()
