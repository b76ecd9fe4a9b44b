#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts that guard the tree find what they are for: each is copied into a small artificial tree with
one fault at a time. Environment: MILIEU_SOURCE_DIR."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(os.environ["MILIEU_SOURCE_DIR"]) / "scripts"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="milieu-scripts-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.write("src/milieu/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nadd_subdirectory(base)\n"
                   "add_subdirectory(data)\nadd_subdirectory(testing)\n")
        self.write("src/milieu/base/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nmilieu_add_module(base SOURCES a.cc a.h)\n")
        self.write("ARCHITECTURE.md", "## Layers\n\n| `base` | x |\n| `data` | x |\n"
                                      "| `testing` | x |\n\n## Rest\n")
        self.write("src/milieu/base/a.cc", SPDX + '#include "milieu/base/a.h"\n')
        self.write("src/milieu/base/a.h", SPDX + "#pragma once\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_script(self, name, *arguments, **environment):
        target = self.root / "scripts" / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(SCRIPTS / name, target)
        return subprocess.run([target, *arguments], env={**os.environ, **environment}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def expect_finding(self, script, *parts):
        done = self.run_script(script)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertTrue(any(all(part in line for part in parts)
                            for line in done.stdout.splitlines()), f"{parts}\n{done.stdout}")


class Audit(Tree):
    def test_clean_tree_passes(self):
        done = self.run_script("audit")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_unlisted_sources_and_tests(self):
        self.write("src/milieu/base/lost.cc", SPDX)
        self.write("src/milieu/base/lost_test.cc", SPDX)
        self.write("tests/cases/lost_case.cc", SPDX)
        self.write("bench/speed/lost.h", SPDX)
        self.write("python/bindings/lost.cc", SPDX)
        self.expect_finding("audit", "src/milieu/base/lost.cc", "in no CMakeLists.txt")
        self.expect_finding("audit", "src/milieu/base/lost_test.cc", "in no CMakeLists.txt")
        self.expect_finding("audit", "tests/cases/lost_case.cc", "in no CMakeLists.txt")
        self.expect_finding("audit", "bench/speed/lost.h", "in no CMakeLists.txt")
        self.expect_finding("audit", "python/bindings/lost.cc", "in no CMakeLists.txt")

    def test_python_tests_that_are_not_run(self):
        self.write("tests/cli/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\n"
                   "foreach(name told)\n  add_test(NAME ${name})\nendforeach()\n")
        self.write("tests/cli/test_told.py", "# SPDX-License-Identifier: Apache-2.0\n")
        self.assertEqual(self.run_script("audit").returncode, 0)
        self.write("tests/cli/test_lost.py", "# SPDX-License-Identifier: Apache-2.0\n")
        self.expect_finding("audit", "tests/cli/test_lost.py", "is not run")

    def test_names_made_by_a_macro_are_listed(self):
        self.write("tests/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nadd_x(one)\nlist(APPEND s x_${name}.cc)\n")
        self.write("tests/x_one.cc", SPDX)
        self.assertEqual(self.run_script("audit").returncode, 0)
        self.write("tests/x_two.cc", SPDX)
        self.expect_finding("audit", "tests/x_two.cc")

    def test_lower_layers_do_not_include_higher_ones(self):
        self.write("src/milieu/base/a.cc", SPDX + '#include "milieu/data/points.h"\n')
        self.expect_finding("audit", "a.cc:2", "base may not include data")

    def test_layers_of_the_page_are_those_of_the_build(self):
        self.write("ARCHITECTURE.md", "## Layers\n\n| `data` | x |\n| `base` | x |\n\n## Rest\n")
        self.expect_finding("audit", "ARCHITECTURE.md", "they must match")

    def test_private_headers_stay_private(self):
        listing = "# SPDX-License-Identifier: Apache-2.0\nmilieu_add_module(data SOURCES b.cc)\n"
        self.write("src/milieu/data/CMakeLists.txt", listing)
        self.write("src/milieu/data/b.cc", SPDX + '#include "milieu/base/a_internal.h"\n')
        self.expect_finding("audit", "b.cc:2", "private to base")
        self.write("src/milieu/data/b.cc", SPDX + '#include "milieu/base/deep/a_steps.h"\n')
        self.expect_finding("audit", "b.cc:2", "private to base")

    def test_public_headers_export_and_private_ones_do_not(self):
        self.write("src/milieu/data/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\n"
                   "milieu_add_module(data SOURCES b.h own.h b_steps.h INTERNAL own.h)\n")
        self.write("src/milieu/data/b.h", SPDX + "namespace milieu {\n")
        self.expect_finding("audit", "b.h:2", "namespace MILIEU_API milieu {")
        self.write("src/milieu/data/b.h", SPDX + "namespace MILIEU_API milieu {\n")
        self.write("src/milieu/data/b_steps.h", SPDX + "namespace milieu::internal {\n")
        self.assertEqual(self.run_script("audit").returncode, 0)
        self.write("src/milieu/data/b_steps.h", SPDX + "namespace MILIEU_API milieu {\nnamespace internal {\n")
        self.expect_finding("audit", "b_steps.h:2", "exports nothing")

    def test_loops_are_private_too(self):
        self.write("src/milieu/data/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nmilieu_add_module(data SOURCES b.cc)\n")
        self.write("src/milieu/data/b.cc", SPDX + '#include "milieu/base/a_loops.h"\n')
        self.expect_finding("audit", "b.cc:2", "private to base")

    def test_tests_and_benches_say_why_they_look_inside(self):
        for top in ("tests", "bench"):
            self.write(f"{top}/CMakeLists.txt",
                       "# SPDX-License-Identifier: Apache-2.0\nadd_executable(x x.cc)\n")
            include = '#include "milieu/base/a_steps.h"'
            self.write(f"{top}/x.cc", SPDX + include + "\n")
            self.expect_finding("audit", f"{top}/x.cc:2", "say why beside it")
            self.write(f"{top}/x.cc", SPDX + include + "  // private: times one step\n")
            self.assertEqual(self.run_script("audit").returncode, 0)
        # A reason does not help inside the library.
        self.write("src/milieu/data/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nmilieu_add_module(data SOURCES b.cc)\n")
        self.write("src/milieu/data/b.cc", SPDX + include + "  // private: it is fast\n")
        self.expect_finding("audit", "b.cc:2", "private to base")

    def test_headers_that_are_not_installed_stay_in_their_module(self):
        spdx = "# SPDX-License-Identifier: Apache-2.0\n"
        self.write("src/milieu/base/CMakeLists.txt", spdx + "milieu_add_module(base\n  SOURCES a.cc a.h "
                   "deep/own.h other.h\n  INTERNAL deep/own.h\n  TESTS test_other.h)\n")
        own = "namespace milieu::internal {\nint f();\n}\n"
        header = self.write("src/milieu/base/deep/own.h", SPDX + own)
        self.write("src/milieu/base/other.h", SPDX)
        self.write("src/milieu/data/CMakeLists.txt", spdx + "milieu_add_module(data SOURCES b.cc)\n")
        include = SPDX + '#include "milieu/base/deep/own.h"\n'
        self.write("src/milieu/data/b.cc", include)
        self.expect_finding("audit", "b.cc:2", "not installed (INTERNAL)")
        self.write("src/milieu/data/b.cc", SPDX + '#include "milieu/base/other.h"\n')
        self.write("apps/CMakeLists.txt", spdx + "add_executable(x x.cc)\n")
        self.write("apps/x.cc", include)
        self.assertEqual(self.run_script("audit").returncode, 0)
        # They may use private libraries, as they are not installed; their names are internal.
        header.write_text(SPDX + "#include <Eigen/Core>\n" + own, encoding="utf-8")
        self.assertEqual(self.run_script("audit").returncode, 0)
        header.write_text(SPDX + own.replace("::internal", ""), encoding="utf-8")
        self.expect_finding("audit", "own.h", "outside milieu::internal")

    def test_instruction_sets_have_one_vocabulary(self):
        spdx = "# SPDX-License-Identifier: Apache-2.0\n"
        for line in ("return _mm256_min_ps(a, b);\n", "__m512i v;\n", "#include <immintrin.h>\n"):
            self.write("src/milieu/base/a.cc", SPDX + line)
            self.expect_finding("audit", "a.cc:2", "name in linalg/simd.h")
        self.write("src/milieu/base/a.cc", SPDX + '#include "milieu/linalg/simd_bits.h"\n')
        self.expect_finding("audit", "a.cc:2", "compiled per instruction set")
        self.write("src/milieu/CMakeLists.txt", spdx + "add_subdirectory(linalg)\n"
                   "add_subdirectory(base)\nadd_subdirectory(data)\nadd_subdirectory(testing)\n")
        self.write("ARCHITECTURE.md", "## Layers\n\n| `linalg` | x |\n| `base` | x |\n| `data` | x |\n"
                                      "| `testing` | x |\n\n## Rest\n")
        self.write("src/milieu/linalg/CMakeLists.txt",
                   spdx + "milieu_add_module(linalg SOURCES simd_bits.h)\n")
        self.write("src/milieu/linalg/simd_bits.h", SPDX + "#include <immintrin.h>\n")
        self.write("src/milieu/base/a.cc", SPDX)
        self.write("src/milieu/base/CMakeLists.txt",
                   spdx + "milieu_add_module(base SOURCES a.cc a.h b_loops.cc)\n")
        self.write("src/milieu/base/b_loops.cc", SPDX + '#include "milieu/linalg/simd_bits.h"\n')
        self.assertEqual(self.run_script("audit").returncode, 0)

    def test_pages_of_methods_begin_with_a_command_and_an_image(self):
        page = "# foo\n\n```sh\nmilieu foo photos\n```\n\n![What it finds](../images/foo.png)\n"
        self.write("docs/algorithms/foo.md", page)
        self.expect_finding("audit", "foo.md", "images/foo.png does not exist")
        self.write("docs/images/foo.png", "")
        self.assertEqual(self.run_script("audit").returncode, 0)
        for wrong in (page.replace("![", "["), page.replace("milieu foo", "foo")):
            self.write("docs/algorithms/foo.md", wrong)
            self.expect_finding("audit", "foo.md", "must have a command and an image")

    def test_csv_is_not_written_by_hand(self):
        self.write("src/milieu/base/a.cc", SPDX + 'text += fmt::format("{},{:.3f}\\n", a, b);\n')
        self.expect_finding("audit", "a.cc:2", "use CsvWriter")
        self.write("src/milieu/base/a.cc", SPDX + 'text += fmt::format("{}, {}\\n", a, b);\n')
        self.assertEqual(self.run_script("audit").returncode, 0)

    def test_private_headers_are_in_their_namespace(self):
        listing = ("# SPDX-License-Identifier: Apache-2.0\n"
                   "milieu_add_module(base SOURCES a.cc a.h a_steps.h)\n")
        self.write("src/milieu/base/CMakeLists.txt", listing)
        header = self.write("src/milieu/base/a_steps.h",
                            SPDX + "namespace milieu {\nint f();\n}\n")
        self.expect_finding("audit", "a_steps.h", "outside milieu::internal")
        header.write_text(SPDX + "namespace milieu::internal {\nint f();\n}\n", encoding="utf-8")
        self.assertEqual(self.run_script("audit").returncode, 0)

    def test_full_folders(self):
        names = [f"f{i}.cc" for i in range(33)]
        self.write("src/milieu/base/CMakeLists.txt",
                   "# SPDX-License-Identifier: Apache-2.0\nmilieu_add_module(base SOURCES a.cc a.h "
                   + " ".join(names) + ")\n")
        for name in names:
            self.write(f"src/milieu/base/{name}", SPDX)
        self.expect_finding("audit", "folder src/milieu/base has 35 source files")
        self.write("tests/many/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\n" + " ".join(names))
        for name in names:
            self.write(f"tests/many/{name}", SPDX)
        self.expect_finding("audit", "folder tests/many has 33 source files")

    def test_translated_phrases(self):
        for text in ("// start of all ran" "dom numbers\n", "// X.npy is no fol" "der of images\n",
                     "// one fi" "le a class\n", "// parts that are tol" "d apart\n",
                     "// X.npy is missing: name anot" "her file\n", "// 8 bits a chan" "nel\n",
                     "// one k" "ey a line\n", "// names with commas betw" "een\n"):
            self.write("src/milieu/base/a.cc", SPDX + text)
            self.expect_finding("audit", "a.cc:2", "reads as translated")
        self.write("src/milieu/base/a.cc", SPDX + "// one row at a time, one row a time\n")
        self.assertEqual(self.run_script("audit").returncode, 0)

    def test_public_headers_hide_private_libraries(self):
        self.write("src/milieu/base/a.h", SPDX + "#include <Eigen/Core>\n")
        self.expect_finding("audit", "a.h:2", "Eigen")

    def test_long_functions_and_files(self):
        body = "".join(f"  f({i});\n" for i in range(80))
        self.write("src/milieu/base/a.cc", SPDX + "namespace x {\n\nvoid g() {\n" + body + "}\n\n}\n")
        self.expect_finding("audit", "a.cc:4", "function of 82 lines")
        member = SPDX + "class A {\n public:\n  explicit A(int x) : x_{x} {\n" + body + "  }\n};\n"
        self.write("src/milieu/base/a.cc", member)
        self.expect_finding("audit", "a.cc", "function of")
        self.write("src/milieu/base/a.cc", SPDX + "// line\n" * 500)
        self.expect_finding("audit", "a.cc:1", "501 lines")

    def test_long_types_and_tables_are_no_functions(self):
        members = "".join(f"  int f{i}() {{ return {i}; }}\n" for i in range(90))
        table = "".join(f"    {{{i}, ')'}},  // f() {{\n" for i in range(90))
        self.write("src/milieu/base/a.cc", SPDX + "struct A : B {\n" + members + "};\n"
                   + "constexpr int kTable[] = {\n" + table + "};\n")
        self.assertEqual(self.run_script("audit").returncode, 0)

    def test_small_rules(self):
        for text, complaint in ((SPDX + "int x; \n", "ends with a blank"),
                                (SPDX + "int x;", "newline"),
                                ("int x;\n", "no SPDX line"),
                                (SPDX + "// TO" + "DO: more\n", "without an issue"),
                                (SPDX + 'auto p = "/ho' + 'me/me/x";\n', "path of one machine")):
            self.write("src/milieu/base/a.cc", text)
            self.expect_finding("audit", "a.cc", complaint)
        self.write("src/milieu/base/a.cc", SPDX + "// TO" + "DO(#12): more\n")
        self.assertEqual(self.run_script("audit").returncode, 0)


class References(Tree):
    def test_unknown_and_double_keys(self):
        self.write("docs/references.bib", "@article{Yuan08,\n  title = {x}\n}\n")
        self.write("src/milieu/base/a.cc", "// [Yuan08, Eq. 5], an [array] and [a link](Not99)\n")
        self.assertEqual(self.run_script("check_references").returncode, 0)
        self.write("src/milieu/base/a.cc", "// [Yuan08; " + "Nobody99,\n// section 3]\n")
        self.expect_finding("check_references", "a.cc:1", "Nobody99")
        self.write("src/milieu/base/a.cc", "")
        self.write("docs/references.bib", "@article{Yuan08,\n}\n@book{Yuan08,\n}\n")
        self.expect_finding("check_references", "Yuan08 is defined 2 times")

    def test_equations_that_no_source_cites_are_noted(self):
        self.write("docs/references.bib", "@article{Yuan08,\n}\n")
        self.write("docs/algorithms/cac.md", "[Yuan08, Eq. 5] and [Yuan08, Eq. 6]\n")
        self.write("src/milieu/base/a.cc", "// [Yuan08, Eq. 5]\n")
        done = self.run_script("check_references")
        self.assertEqual(done.returncode, 0)
        self.assertIn("[Yuan08, Eq. 6]", done.stdout)
        self.assertNotIn("[Yuan08, Eq. 5]", done.stdout)


class OptionTables(Tree):
    def test_tables_are_filled_and_checked(self):
        program = self.write("milieu", '#!/bin/sh\necho "table of $3"\n')
        program.chmod(0o755)
        page = self.write("docs/algorithms/foo.md",
                          "a\n<!-- options:foo -->\nold\n<!-- /options -->\nb\n")
        self.assertEqual(
            self.run_script("update_docs", "--check", MILIEU_PROGRAM=str(program)).returncode, 1)
        self.assertIn("old", page.read_text(encoding="utf-8"))
        self.assertEqual(self.run_script("update_docs", MILIEU_PROGRAM=str(program)).returncode, 0)
        self.assertEqual(page.read_text(encoding="utf-8"),
                         "a\n<!-- options:foo -->\ntable of foo\n<!-- /options -->\nb\n")
        self.assertEqual(
            self.run_script("update_docs", "--check", MILIEU_PROGRAM=str(program)).returncode, 0)


class Benches(unittest.TestCase):
    def test_every_speed_script_takes_json_and_builds_its_program_issue19(self):
        """bench/run passes --json to all of them; make bench builds no benchmark in build/release."""
        scripts = sorted((SCRIPTS.parent / "bench/speed").glob("*.py"))
        self.assertGreater(len(scripts), 10)
        for script in scripts:
            text = script.read_text(encoding="utf-8")
            self.assertIn('add_argument("--json"', text, script.name)
            self.assertNotRegex(text, r"build/release/bin/milieu_\w+_bench", script.name)

    def test_one_target_builds_every_benchmark(self):
        cmake = (SCRIPTS.parent / "bench/CMakeLists.txt").read_text(encoding="utf-8")
        programs = set(re.findall(r"add_executable\((\w+)", cmake))
        target = re.search(r"add_custom_target\(milieu_benches DEPENDS([^)]*)\)", cmake)
        self.assertEqual(programs, set(target.group(1).split()))


class CheckAll(Tree):
    """Stages are those of a Makefile whose tests fail while the file `broken` exists."""

    def setUp(self):
        super().setUp()
        stages = "test-all tidy asan tsan fuzz torture coverage packages abi docs-site"
        self.write("Makefile", f"{stages}:\n\t@echo $@ >> ran.txt\n"
                               "\t@test $@ != tsan -o ! -e broken\n")
        self.write(".gitignore", "build\nran.txt\nbroken\nscripts\n")
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
            subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *command],
                           cwd=self.root, check=True)

    def ran(self):
        path = self.root / "ran.txt"
        lines = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def test_stages_that_passed_on_a_commit_are_not_run_again(self):
        self.write("broken", "")
        done = self.run_script("check_all")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("tsan FAILED", done.stdout)
        self.assertEqual(len(self.ran()), 10)
        (self.root / "broken").unlink()
        done = self.run_script("check_all")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.ran(), ["tsan"])
        self.assertIn("all stages passed", done.stdout)
        self.write("more.txt", "an uncommitted change")
        self.run_script("check_all", "asan")
        self.assertEqual(self.ran(), ["asan"])

    def test_unknown_stage(self):
        done = self.run_script("check_all", "asn")
        self.assertEqual(done.returncode, 2)
        self.assertIn("stage is 'asn', must be one of", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
