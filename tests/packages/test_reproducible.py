#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same commit in another folder, at another time, gives the same packages, byte for byte.

Environment: MILIEU_SOURCE_DIR, MILIEU_DEBS (of `make deb`). The second build is made from a clone in a
folder with a longer name, by a compiler without ccache unless MILIEU_QUICK is set."""

import filecmp
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"])
DEBS = pathlib.Path(os.environ["MILIEU_DEBS"])
FETCHED = ("build/node", "build/onnxruntime", "web/node_modules")


class Reproducible(unittest.TestCase):
    def test_a_second_build_gives_the_same_bytes(self):
        changed = subprocess.run(["git", "status", "--porcelain"], cwd=SOURCE, text=True, capture_output=True,
                                 check=True).stdout
        if changed:
            self.skipTest("there are uncommitted changes: a clone would not have them")
        with tempfile.TemporaryDirectory(prefix="milieu-another-folder-with-a-longer-name-") as folder:
            clone = pathlib.Path(folder) / "sources"
            subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", SOURCE, clone], check=True)
            for name in FETCHED:
                if (SOURCE / name).exists():
                    (clone / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copytree(SOURCE / name, clone / name, symlinks=True)
            environment = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}
            if "MILIEU_QUICK" not in os.environ:
                environment["CCACHE_DISABLE"] = "1"
            done = subprocess.run(["packaging/debian/build"], cwd=clone, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            self.compare(clone / "build/package/deb")

    def compare(self, again):
        names = sorted(path.name for path in DEBS.iterdir())
        self.assertEqual(names, sorted(path.name for path in again.iterdir()))
        different = [name for name in names if not filecmp.cmp(DEBS / name, again / name, shallow=False)]
        self.assertEqual(different, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
