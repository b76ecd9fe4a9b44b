#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file has its licence and copyright (reuse), every bundled part its own, and the bill of materials
names them.

Environment: MILIEU_SOURCE_DIR, MILIEU_BUILD_DIR and MILIEU_DEBS (of `make deb`)."""

import json
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["MILIEU_BUILD_DIR"])
DEBS = pathlib.Path(os.environ["MILIEU_DEBS"])


class Provenance(unittest.TestCase):
    def test_reuse_finds_nothing(self):
        done = subprocess.run(["reuse", "--root", SOURCE, "lint"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def materials(self):
        return json.loads((DEBS / "milieu.spdx.json").read_text(encoding="utf-8"))

    def test_the_bill_names_what_the_page_holds(self):
        lock = json.loads((SOURCE / "web/package-lock.json").read_text(encoding="utf-8"))
        locked = {(place.split("node_modules/")[-1], record["version"])
                  for place, record in lock["packages"].items() if place and not record.get("dev")}
        listed = {(part["name"], part["versionInfo"]) for part in self.materials()["packages"]}
        self.assertLessEqual(locked, listed)
        licences = (BUILD / "page-licences.txt").read_text(encoding="utf-8")
        for name, version in locked:
            self.assertRegex(licences, rf"(?m)^{re.escape(name)} {re.escape(version)}: ")

    def test_the_bill_names_what_is_loaded(self):
        names = {part["name"] for part in self.materials()["packages"]}
        self.assertLessEqual({"milieu", "libc6", "libstdc++6", "libdnnl2", "libtbb12"}, names)
        if (SOURCE / "build/onnxruntime/lib").exists():
            self.assertIn("onnxruntime", names)

    def test_identifiers_are_unique_and_used(self):
        bill = self.materials()
        identifiers = [part["SPDXID"] for part in bill["packages"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        related = {relation["relatedSpdxElement"] for relation in bill["relationships"]}
        self.assertEqual(related, set(identifiers))
        for part in bill["packages"]:
            self.assertRegex(part["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
