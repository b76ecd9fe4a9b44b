#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine without a network, node, OpenMPI and Python's headers: set-up and configuration say what is
left out, the build goes through, and the tests of what is missing are listed as skipped.

Environment: MILIEU_SOURCE_DIR. Needs root. The sources are cloned to their own path in an empty Debian,
so that ccache, if it is in use here, serves the objects."""

import os
import pathlib
import re
import shutil
import unittest

from empty_debian import Root, run

SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"]).resolve()
LEFT_OUT = ("npm", "libopenmpi-dev", "openmpi-bin", "python3-dev", "pybind11-dev", "chromium")
SKIPPED = ("web/all", "cli/explore", "mpi/few", "python/all")


class Without(unittest.TestCase):
    def setUp(self):
        self.root = Root()
        self.addCleanup(self.root.remove)
        inside = self.root.place / str(SOURCE).lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--no-hardlinks", SOURCE, inside)
        if shutil.which("ccache"):
            cache = run("ccache", "--get-config", "cache_dir").strip()
            self.root.mount(cache, self.root.place / "user/.cache/ccache")
        listed = run(SOURCE / "scripts/setup", "--list", "test").split()
        self.root.apt("update")
        self.root.apt("install " + " ".join(sorted(set(listed) - set(LEFT_OUT))))

    def do(self, command):
        return self.root.do(f"cd {SOURCE} && export CI=true && git config --global --add safe.directory '*' && {command}",
                            network=False)

    def test_what_is_missing_is_left_out(self):
        setup = self.do("scripts/setup build")
        self.assertIn("setup: skipped: npm could not be installed", setup)
        self.assertIn("setup: skipped: the explorer", setup)
        self.assertIn("setup: skipped: ONNX Runtime", setup)
        configured = self.do("cmake --preset release -Wno-dev -DMILIEU_BUILD_TESTS=ON")
        for message in ("MPI is not installed", "The explorer is left out", "Python package: skipped",
                        "ONNX Runtime is not used or was not found"):
            self.assertIn(message, configured)
        self.do("cmake --build build/release --target milieu_cli milieu_base_test")
        self.assertIn("no explorer, no networks", self.do("build/release/bin/milieu --version"))
        self.do("build/release/bin/milieu demo --out /user/demo")
        out = self.do("ctest --test-dir build/release -R '^(" + "|".join(SKIPPED) + ")$'")
        for name in SKIPPED:
            self.assertRegex(out, rf"{re.escape(name)} \.+\*\*\*Skipped")
        self.assertIn("100% tests passed", out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
