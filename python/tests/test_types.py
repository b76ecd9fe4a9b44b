# SPDX-License-Identifier: Apache-2.0
"""mypy --strict and pyright are clean on the package and on a user's program, which runs."""

import pathlib
import runpy
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_user_code_runs():
    runpy.run_path(str(ROOT / "python/tests/user_code.py"), run_name="__main__")


def test_mypy_is_clean(tmp_path):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (scripts/setup test)")
    done = subprocess.run(["mypy", "--cache-dir", str(tmp_path), "--python-executable",
                           sys.executable], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_pyright_is_clean():
    program = ROOT / "build/pyright/node_modules/pyright/index.js"
    if shutil.which("node") is None or not program.exists():
        pytest.skip("pyright is not installed (scripts/setup test)")
    done = subprocess.run(["node", str(program), "--warnings", "--pythonpath", sys.executable],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_mypy_sees_a_wrong_argument(tmp_path):
    """The types say something: a misspelt choice is an error."""
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (scripts/setup test)")
    (tmp_path / "wrong.py").write_text("import milieu\nmilieu.DCP(loss='hing')\n")
    done = subprocess.run(["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"),
                           "--python-executable", sys.executable, str(tmp_path / "wrong.py")],
                          cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**__import__("os").environ, "MYPYPATH": str(ROOT / "python")})
    assert "hing" in done.stdout
