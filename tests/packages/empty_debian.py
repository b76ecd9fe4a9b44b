# SPDX-License-Identifier: Apache-2.0
"""Debian 12 in a folder, made by mmdebstrap from the registry that this machine's own apt is set up for.
Needs root."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# What apt and dpkg keep for themselves, and what the installation of other packages refreshes (openssh-client,
# which OpenMPI brings, makes a group, and the old lists of groups stay as copies).
NOT_OURS = re.compile(r"^(var/(lib/(apt|dpkg|systemd)|cache|log)/|etc/(ld\.so\.cache|mtab|resolv\.conf)|"
                      r"etc/(g?shadow|group|passwd)-|proc/|sys/|dev/|tmp/|run/|packages/|user/)")


def run(*command, **more):
    """Runs a command and returns its output; on failure the output is in the exception."""
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def apt_sources():
    """The files of this machine's apt that name Debian's own registry."""
    places = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
    return [path for path in places if path.is_file() and re.search(
        r"(?m)^(Suites:.*\bbookworm\b|deb .*\sbookworm\s)", path.read_text(encoding="utf-8"))]


class Root:
    """Debian 12 in a folder. Commands run in it as root; /user is their home."""

    def __init__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="milieu-root-"))
        self.place.chmod(0o755)
        run("mmdebstrap", "--mode=root", "--variant=apt", "bookworm", self.place, *apt_sources())
        proxies = pathlib.Path("/etc/apt/apt.conf.d").glob("*")
        for path in proxies:  # how the registry is reached from here
            if re.search(r"(?i)proxy|verify|retries", path.read_text(encoding="utf-8", errors="replace")):
                shutil.copy(path, self.place / "etc/apt/apt.conf.d" / path.name)
        (self.place / "user").mkdir()
        shutil.copy("/etc/resolv.conf", self.place / "etc/resolv.conf")
        self.mounted = []
        for folder in ("proc", "dev"):
            self.mount(f"/{folder}", self.place / folder)

    def mount(self, folder, place):
        place.mkdir(parents=True, exist_ok=True)
        run("mount", "--bind", folder, place)
        self.mounted.append(place)

    def do(self, command, network=True):
        unshared = [] if network else ["unshare", "--net"]
        return run(*unshared, "chroot", self.place, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/user",
                   "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "/bin/sh", "-ec", command)

    def apt(self, words):
        return self.do(f"apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 {words}")

    def files(self):
        """Every file that an installation may leave, with its content."""
        found = {}
        for folder, folders, names in os.walk(self.place):
            below = os.path.relpath(folder, self.place) + "/" if folder != str(self.place) else ""
            folders[:] = [name for name in folders if not NOT_OURS.match(f"{below}{name}/")]
            found |= {below + name: "folder" for name in folders}
            for name in names:
                path = pathlib.Path(folder) / name
                if path.is_symlink():
                    found[below + name] = os.readlink(path)
                elif path.is_file() and not NOT_OURS.match(below + name):
                    found[below + name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def remove(self):
        for place in self.mounted:
            subprocess.run(["umount", place], check=False)
        if not any(os.path.ismount(place) for place in self.mounted):  # never delete what is outside
            shutil.rmtree(self.place)
