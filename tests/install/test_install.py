#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into an empty folder and uses it as others would: by find_package, by
pkg-config, as a subdirectory, header by header, and by the program itself.

Environment: MILIEU_BUILD_DIR (a complete build), MILIEU_SOURCE_DIR, MILIEU_CXX (the compiler)."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["MILIEU_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"])
CXX = os.environ["MILIEU_CXX"]
HERE = SOURCE / "tests" / "install"


def run(*command, **kwargs):
    """Runs a command and returns its output; on failure the output is in the exception."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="milieu-install-"))
        # Installed in one place and moved to another: the package must not remember the first.
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "prefix"
        (cls.folder / "first").rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libmilieu.so.0"), None)
        cls.kinds = ["static", "shared"] if cls.library else ["static"]
        # Where programs find the shared library that was built for /usr.
        cls.environment = {**os.environ, "LD_LIBRARY_PATH": str(cls.library.parent if cls.library else "")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def configure(self, project, *definitions, kind=""):
        build = self.folder / (project + kind)
        run("cmake", "-S", HERE / project, "-B", build, "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={CXX}", *definitions)
        return build

    def check_consumer(self, program, kind):
        self.assertIn("kmeans: 2 clusters of 6 x 2", run(program, env=self.environment))
        is_shared = "libmilieu.so.0" in run("ldd", program, env=self.environment)
        self.assertEqual(is_shared, kind == "shared")

    def test_find_package(self):
        for kind in ["", *self.kinds] if self.library else [""]:  # "": what is installed, shared first
            build = self.configure("find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DMILIEU_KIND={kind}",
                                   f"-DMILIEU_EXAMPLES={SOURCE / 'examples'}", kind=kind)
            run("cmake", "--build", build)
            self.check_two_folders(build / "two_folders")
            for program in ("consumer", "consumer_of_all"):
                self.check_consumer(build / program, kind or self.kinds[-1])

    def test_a_kind_that_is_not_installed_is_refused(self):
        if self.library:
            self.skipTest("both kinds are installed")
        with self.assertRaisesRegex(AssertionError, "no component 'shared'"):
            self.configure("find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DMILIEU_KIND=shared",
                           f"-DMILIEU_EXAMPLES={SOURCE / 'examples'}", kind="missing")

    def check_two_folders(self, program):
        """The example of the README on images of stripes against checks."""
        images = self.folder / "images"
        for name, count in (("photos", 8), ("context", 6)):
            (images / name).mkdir(parents=True, exist_ok=True)
            for i in range(count):
                pixels = bytes(255 * ((x // (2 + i % 2 * 3) + (y // 4 if name == "context" else 0)) % 2)
                               for y in range(48) for x in range(48) for _ in range(3))
                (images / name / f"{i}.ppm").write_bytes(b"P6\n48 48\n255\n" + pixels)
        report = self.folder / "report.html"
        environment = {**self.environment, "MILIEU_CACHE": str(self.folder / "cache")}
        out = run(program, images / "photos", images / "context", report, env=environment)
        self.assertIn("dcp: 2 clusters of 8 x", out)
        self.assertIn("Discriminative context partitioning", report.read_text(encoding="utf-8"))

    def test_unknown_component_is_refused(self):
        project = self.folder / "unknown_component"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(x LANGUAGES CXX)\n"
            "find_package(milieu REQUIRED COMPONENTS no_such_module)\n", encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, "no_such_module"):
            run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja",
                f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={CXX}")

    def test_pkg_config(self):
        pc = next(self.prefix.rglob("milieu.pc"))
        environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}
        version = run("pkg-config", "--modversion", "milieu", env=environment).strip()
        self.assertEqual(version, (SOURCE / "VERSION").read_text(encoding="utf-8").strip())
        program = self.folder / "pkg_config_consumer"
        for name, kind in (("milieu", self.kinds[-1]), ("milieu-static", "static")):
            flags = run("pkg-config", "--cflags", "--libs", name, env=environment).split()
            run(CXX, HERE / "consumer.cc", *flags, "-o", program)
            self.check_consumer(program, kind)

    def test_add_subdirectory(self):
        for kind in self.kinds:
            build = self.configure("add_subdirectory", f"-DMILIEU_SOURCE_DIR={SOURCE}", kind=kind,
                                   *(["-DBUILD_SHARED_LIBS=ON", f"-DMILIEU_WARNINGS_AS_ERRORS={os.environ.get('CI', 'OFF')}"]
                                     if kind == "shared" else []))
            run("cmake", "--build", build, "--target", "consumer")
            version = (SOURCE / "VERSION").read_text(encoding="utf-8").strip()
            self.assertEqual(run(build / "consumer").strip(), version)
            self.assertEqual("libmilieu.so.0" in run("ldd", build / "consumer"), kind == "shared")

    def test_the_shared_library_shows_its_interface_only(self):
        if not self.library:
            self.skipTest("built without the shared library")
        self.assertIn("[libmilieu.so.0]", run("readelf", "-d", self.library))
        names = [line.split()[2] for line in run("nm", "-D", "--defined-only", self.library).splitlines()]
        foreign = [name for name in names
                   if not re.match(r"_Z(N[KRO]*|T[VTIS]N|GVN|Th[n0-9]+_NK?|Tv[n0-9_]+_NK?)6milieu", name)]
        self.assertEqual(foreign, [])
        self.assertTrue([name for name in names if name.startswith("_ZN6milieu10fit_kmeansE")])
        # A step of an algorithm, declared in a private header.
        step = "_ZN6milieu8internal8NestedEm12update_wordsE"
        self.assertFalse([name for name in names if name.startswith(step)])
        local = run("nm", next(self.prefix.rglob("libmilieu_cac.a")))
        self.assertIn(step, local, "the step that this test looks for has another name now")

    def test_every_header_compiles_alone(self):
        include = self.prefix / "include"
        headers = sorted(include.rglob("*.h"))
        self.assertGreater(len(headers), 20)

        def compile_header(header):
            name = header.relative_to(include)
            run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include,
                "-x", "c++", "-", input=f"#include <{name}>\n#include <{name}>\n")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_header, headers))

    def test_no_private_header_is_installed(self):
        for header in (self.prefix / "include").rglob("*.h"):
            self.assertNotRegex(header.name, r"_(internal|steps|loops)\.h$")
            self.assertNotIn(header.name, ("jsom_start.h", "icc_examples.h", "page_json.h"))
            text = header.read_text(encoding="utf-8")
            self.assertNotRegex(text, r"#include <(Eigen|nlohmann|CLI|tbb|gtest|gmock)/", header)

    def test_nothing_remembers_the_build(self):
        for file in self.prefix.rglob("*"):
            if file.suffix in (".cmake", ".pc"):
                text = file.read_text(encoding="utf-8")
                for place in (str(BUILD), str(SOURCE), str(self.folder)):
                    self.assertNotIn(place, text, file)

    def test_networks_run_where_the_runtime_is_bundled(self):
        library = next(self.prefix.rglob("milieu/libonnxruntime.so.1"), self.prefix / "none")
        program = self.prefix / "bin" / "milieu"
        if not library.exists() or not program.exists():
            self.skipTest("the runtime is the system's, or there is none")
        self.assertRegex(run(program, "info", env=self.environment), r"networks +ONNX Runtime 1\.")
        self.assertTrue(list(self.prefix.rglob("onnxruntime/LICENSE")))
        library.rename(library.with_suffix(".away"))  # it is this one that was used
        try:
            self.assertIn("cannot be loaded", run(program, "info", env=self.environment))
        finally:
            library.with_suffix(".away").rename(library)

    def test_program_runs(self):
        program = self.prefix / "bin" / "milieu"
        if not program.exists():
            self.skipTest("built without the command line")
        self.assertIn((SOURCE / "VERSION").read_text(encoding="utf-8").strip(),
                      run(program, "--version", env=self.environment))


if __name__ == "__main__":
    unittest.main(verbosity=2)
