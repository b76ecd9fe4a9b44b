#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of `make deb`: checked by lintian, installed by apt from a folder into a Debian 12
that holds nothing else, used there, and removed without a trace.

Environment: MILIEU_DEBS (the folder with the packages), MILIEU_SOURCE_DIR. Needs root, mmdebstrap and the
package registry that this machine's own apt is set up for."""

import functools
import os
import pathlib
import re
import shutil
import unittest

from empty_debian import Root, run

DEBS = pathlib.Path(os.environ["MILIEU_DEBS"]).resolve()
SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"]).resolve()
NAMES = ["libmilieu-dev", "libmilieu0", "milieu", "milieu-mpi", "python3-milieu"]
MAX_MEGABYTES = {"libmilieu-dev": 12, "libmilieu0": 20, "milieu": 4, "milieu-mpi": 4, "python3-milieu": 4}


def debs():
    return sorted(DEBS.glob("*.deb"))


def field(deb, name):
    return run("dpkg-deb", "-f", deb, name).strip()


class Archives(unittest.TestCase):
    def test_there_is_one_of_each(self):
        self.assertEqual(sorted(field(deb, "Package") for deb in debs()), NAMES)
        version = (SOURCE / "VERSION").read_text(encoding="utf-8").strip()
        for deb in debs():
            self.assertEqual(field(deb, "Version"), f"{version}-1")

    def test_lintian_finds_nothing(self):
        out = run("sh", "-c", 'lintian --allow-root --tag-display-limit 0 "$@" || true', "sh", *debs())
        self.assertEqual([line for line in out.splitlines() if re.match("[EW]: ", line)], [])

    def test_every_override_is_explained(self):
        for path in (SOURCE / "packaging/debian").glob("*lintian-overrides"):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines):
                if line and not line.startswith("#"):
                    self.assertTrue(lines[number - 1].startswith("# "), f"not explained: {line}")

    def test_sizes_are_reasonable(self):
        for deb in debs():
            self.assertLess(deb.stat().st_size / 1e6, MAX_MEGABYTES[field(deb, "Package")], deb.name)

    def test_dependencies_were_found(self):
        needs = {field(deb, "Package"): field(deb, "Depends") for deb in debs()}
        for library in ("libc6", "libstdc++6", "libtbb12", "libdnnl2", "libopencv-core406", "libfmt9"):
            self.assertRegex(needs["libmilieu0"], rf"(^|, ){re.escape(library)}\b")
        for name in ("milieu", "milieu-mpi", "python3-milieu", "libmilieu-dev"):
            self.assertRegex(needs[name], r"libmilieu0 \(= ")
        self.assertIn("libopenmpi3", needs["milieu-mpi"])
        self.assertIn("python3-sklearn", needs["python3-milieu"])
        self.assertRegex(needs["python3-milieu"], r"python3 \(>= 3\.\d+\), python3 \(<< 3\.\d+\)")

    def test_licences_of_bundled_parts_are_inside(self):
        listed = run("dpkg-deb", "-c", next(DEBS.glob("libmilieu0_*.deb")))
        self.assertIn("doc/libmilieu0/page-licences.txt", listed)
        if "libonnxruntime.so.1" in listed:
            self.assertIn("doc/libmilieu0/onnxruntime/ThirdPartyNotices.txt", listed)


@functools.lru_cache(maxsize=1)
def root():
    made = Root()
    unittest.addModuleCleanup(made.remove)
    packages = made.place / "packages"
    packages.mkdir()
    for deb in debs():
        shutil.copy(deb, packages)
    index = run("sh", "-c", "dpkg-scanpackages --multiversion . 2>/dev/null", cwd=packages)
    (packages / "Packages").write_text(index, encoding="utf-8")
    (made.place / "etc/apt/sources.list.d/milieu.list").write_text("deb [trusted=yes] file:///packages ./\n")
    made.apt("update")
    made.apt("install g++ cmake ninja-build pkg-config man-db")
    made.before = made.files()
    return made


def block(language, text):
    return re.search(rf"```{language}\n(.*?)```", text, re.S).group(1)


class Installed(unittest.TestCase):
    """In the order of their names: the packages are installed first and removed last."""

    README = (SOURCE / "README.md").read_text(encoding="utf-8")

    def test_1_the_library_is_enough_for_users_of_c(self):
        root().apt("install libmilieu-dev")
        (root().place / "user/main.cc").write_text(block("cpp", self.README))
        (root().place / "user/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(x LANGUAGES CXX)\nadd_executable(my_program main.cc)\n"
            + block("cmake", self.README))
        root().do("cd /user && cmake -G Ninja -S . -B build && cmake --build build")
        self.assertIn("kmeans: 2 clusters of 6 x 2", root().do("/user/build/my_program"))
        root().do("cd /user && g++ main.cc $(pkg-config --cflags --libs milieu) -o by_pkg_config")
        self.assertIn("kmeans: 2 clusters of 6 x 2", root().do("/user/by_pkg_config"))
        self.assertIn("libmilieu.so.0", root().do("ldd /user/by_pkg_config"))

    def test_2_the_program_tells_its_stories(self):
        root().apt("install milieu")
        version = (SOURCE / "VERSION").read_text(encoding="utf-8").strip()
        self.assertIn(f"milieu {version}\n", root().do("milieu --version"))
        out = root().do("cd /user && milieu demo --out demo")
        self.assertIn("dcp: How does this set split", out)
        self.assertGreater((root().place / "user/demo/report.html").stat().st_size, 100000)
        self.assertRegex(root().do("milieu info"), r"networks +ONNX Runtime 1\.")
        self.assertIn("--context-select", root().do("man milieu-dcp | cat"))
        self.assertIn("kmeans++", root().do("bash -c 'source /usr/share/bash-completion/completions/milieu; "
                                            "COMP_WORDS=(milieu kmeans --init \"\"); COMP_CWORD=3; _milieu; "
                                            "echo ${COMPREPLY[@]}'").split())

    def test_3_python_clusters(self):
        root().apt("install python3-milieu")
        (root().place / "user/example.py").write_text(
            "import numpy as np\nrandom = np.random.RandomState(0)\n"
            "np.save('digits.npy', random.rand(60, 4)); np.save('digits_labels.npy', np.arange(60) % 3)\n"
            + block("python", self.README))
        out = root().do("cd /user && python3 example.py 2>/dev/null")  # noise has no clear split: a warning
        self.assertEqual(set(re.findall(r"\d", out)), {"0", "1"})

    def test_4_ranks_give_the_bytes_of_one_machine(self):
        root().apt("install milieu-mpi")
        out = root().do("cd /user && milieu kmeans digits.npy -k 3 --out one --quiet && "
                        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 "
                        "milieu-mpi kmeans digits.npy -k 3 --out two --quiet && cmp one/labels.csv two/labels.csv && "
                        "cmp one/model.safetensors two/model.safetensors && echo same")
        self.assertIn("same", out)

    def test_5_removing_leaves_nothing(self):
        root().apt("install " + " ".join(NAMES))
        self.assertTrue([name for name in root().files() if "milieu" in name])
        root().apt("purge " + " ".join(NAMES))
        left = set(root().files()) - set(root().before)  # before: the list of the local repository
        self.assertEqual([name for name in sorted(left) if "milieu" in name.lower()], [])
        root().apt("autoremove --purge -o APT::AutoRemove::RecommendsImportant=false "
                   "-o APT::AutoRemove::SuggestsImportant=false")
        after = root().files()
        self.assertEqual(sorted(set(after) - set(root().before)), [])
        self.assertEqual(sorted(set(root().before) - set(after)), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
