# SPDX-License-Identifier: Apache-2.0
"""A running `milieu explore` for tests: started, asked over HTTP, ended."""

import http.client
import json
import os
import signal
import urllib.parse

import numpy as np

from images import make_folder
from support import CliTest, environment

JSON = {"Content-Type": "application/json"}


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)

    def array(self, kind):
        return np.frombuffer(self.body, dtype=kind)


class Explorer:
    """The process and its address; `ask` sends the token as the cookie that the page would have."""

    def __init__(self, test, *arguments, env=None, prepare=None):
        self.test = test
        more = {"MILIEU_CACHE": str(test.folder / "cache")}
        self.process = test.start("explore", *arguments, "--no-browser",
                                  env={**(env or environment()), **more}, prepare=prepare)
        test.addCleanup(self.close)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(f"no address: {self.process.stderr.read()}")
        parts = urllib.parse.urlparse(self.address)
        self.port = parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]
        self.cookie = f"milieu_token_{self.port}={self.token}"

    def raw(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def ask(self, method, path, body=None, headers=None):
        headers = {"Cookie": self.cookie, **(headers or {})}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers = {**JSON, **headers}
        return self.raw(method, path, body, headers)

    def get(self, path):
        answer = self.ask("GET", path)
        self.test.assertEqual(answer.status, 200, f"{path}: {answer.body[:500]}")
        return answer

    def expect_error(self, status, method, path, body=None, headers=None):
        """The sentence of an error; every one is JSON."""
        answer = self.ask(method, path, body, headers)
        self.test.assertEqual(answer.status, status, f"{path}: {answer.body[:500]}")
        return answer.json()["error"]

    def start_run(self, **request):
        answer = self.ask("POST", "/api/runs", {"options": {}, **request})
        self.test.assertEqual(answer.status, 202, answer.body)
        return answer.json()["id"]

    def events(self, run):
        """The events of a run, until its end: (name, data) each."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request("GET", f"/api/runs/{run}/events", headers={"Cookie": self.cookie})
            answer = connection.getresponse()
            self.test.assertEqual(answer.status, 200)
            name = None
            while line := answer.readline():
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text[7:]
                elif text.startswith("data: "):
                    yield name, json.loads(text[6:])
        finally:
            connection.close()

    def wait(self, run):
        """The RunBrief at the end of a run."""
        events = list(self.events(run))
        self.test.assertEqual(events[-1][0], "end")
        return events[-1][1]

    def run(self, **request):
        """A run from request to detail; it must succeed."""
        run = self.start_run(**request)
        end = self.wait(run)
        self.test.assertEqual(end["state"], "done", end)
        return self.get(f"/api/runs/{run}").json()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=60)

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()


class ExplorerTest(CliTest):
    """Vectors with four classes (X.npy, y.npy), or images in three folders (photos)."""

    def setUp(self):
        super().setUp()
        os.environ.pop("DISPLAY", None)

    def vectors(self, *more, **kwargs):
        random = np.random.RandomState(0)
        classes = np.repeat(np.arange(4), 30)
        points = np.eye(4, 16)[classes] * 6 + random.normal(size=(120, 16))
        self.save("X.npy", points.astype(np.float32))
        self.save("y.npy", classes)
        self.points, self.classes = points.astype(np.float32), classes
        return Explorer(self, "X.npy", "--labels", "y.npy", "--image-size", "4x4", *more, **kwargs)

    def photos(self, *more, **kwargs):
        self.names = make_folder(self.folder / "photos", per_class=5)
        return Explorer(self, "photos", "--feature", "tiny", *more, **kwargs)
