# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the explorer's server: bad, slow and vanishing clients, and an hour of mixed load."""

import http.client
import json
import os
import pathlib
import signal
import socket
import threading
import time
import urllib.parse

import world as w

GARBAGE = [
    b"GET / HTTP/1.1\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\n{",
    b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    b"GET /api/../../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + b"[" * 300000,
    b"\0" * 4096,
    b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    b"GET /api/runs/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
]


class Server:
    """`milieu explore` on a folder, with the token that it prints."""

    def __init__(self, place, *arguments):
        self.process = w.start(place, ["explore", "photos", "--no-browser", *arguments])
        address = urllib.parse.urlparse(self.process.stdout.readline().decode().strip())
        self.port = address.port
        token = urllib.parse.parse_qs(address.query)["token"][0]
        self.headers = {"Cookie": f"milieu_token_{self.port}={token}",
                        "Content-Type": "application/json"}

    def ask(self, method, path, body=None, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, self.headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def state_of(self, run):
        return json.loads(self.ask("GET", f"/api/runs/{run}")[1])

    def wait(self, run, seconds=60):
        """The state in which the run ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [r for r in json.loads(self.ask("GET", "/api/runs")[1]) if r["id"] == run]
            if found and found[0]["state"] not in ("running", "waiting", "queued", "starting"):
                return found[0]["state"]
            time.sleep(0.1)
        return "stuck"

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines()
                    if line.startswith("VmRSS")) / 1024

    def children(self):
        text = pathlib.Path(
            f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return len(text.split())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return w.finish(self.process, 20)


def send_garbage(port, random):
    data = GARBAGE[random.integers(len(GARBAGE))]
    if random.integers(3) == 0:
        data = random.bytes(random.integers(1, 3000))
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        try:
            client.sendall(data)
            if random.integers(2):
                client.settimeout(0.3)
                client.recv(65536)
        except OSError:
            pass


def slow_client(port, seconds):
    """A byte now and then, never a whole request."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            for byte in b"GET / HTTP/1.1\r\nHost: slow\r\n" * 9:
                client.send(bytes([byte]))
                time.sleep(0.1)
                seconds -= 0.1
                if seconds < 0:
                    return
    except OSError:
        pass


def bad_clients(world, random):
    """Bad, slow and vanishing clients cost the others nothing."""
    place = world.fresh("clients")
    server = Server(place)
    try:
        server.ask("GET", "/")
        before = server.descriptors()
        slow = [threading.Thread(target=slow_client, args=(server.port, 3)) for _ in range(20)]
        for thread in slow:
            thread.start()
        worst = 0.0
        for _ in range(30):
            send_garbage(server.port, random)
            begin = time.monotonic()
            status, _ = server.ask("GET", "/api/methods")
            worst = max(worst, time.monotonic() - begin)
            if status != 200:
                return "clients", f"/api/methods answers {status}"
        for thread in slow:
            thread.join()
        end = time.monotonic() + 15  # connections that never ended are closed by the server's limit
        while server.descriptors() > before + 2 and time.monotonic() < end:
            time.sleep(0.2)
        after = server.descriptors()
        bad = f"{before} descriptors before, {after} after" if after > before + 2 else None
        if worst > 2:
            bad = f"an answer took {worst:.1f} s beside slow clients"
        ended = server.stop()
        if ended.code not in (0, 130, 143, -signal.SIGTERM):
            bad = f"SIGTERM gives exit code {ended.code}: {ended.text[-200:]}"
        return f"worst answer {worst:.2f} s", bad
    finally:
        server.process.kill()


def killed_server(world, random):
    """The server killed during a run: the next one has every finished run, whole."""
    place = world.fresh("server")
    server = Server(place)
    request = {"method": "kmeans", "set": {"classes": ["a", "b"]}, "options": {"num_clusters": 3}}
    first = json.loads(server.ask("POST", "/api/runs", request)[1])["id"]
    if server.wait(first) != "done":
        server.process.kill()
        return "server", "a run does not end"
    server.ask("POST", "/api/runs", {**request, "method": "gmm"})
    time.sleep(random.uniform(0, 0.5))
    server.process.kill()
    server.process.wait()
    server = Server(place)
    try:
        runs = json.loads(server.ask("GET", "/api/runs")[1])
        if first not in [run["id"] for run in runs]:
            return "server", "a finished run is gone"
        broken = [run for run in runs if server.ask("GET", f"/api/runs/{run['id']}")[0] != 200]
        return "server", f"{len(broken)} runs cannot be read" if broken else None
    finally:
        server.stop()
