# SPDX-License-Identifier: Apache-2.0
"""The wheel, made offline, installed into an empty environment and used."""

import os
import pathlib
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from networks import onnx_model  # noqa: E402

USE = """
import numpy as np, milieu, pathlib
assert "site-packages" in milieu.__file__, milieu.__file__
X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
estimator = milieu.KMeans(2).fit(X)
estimator.save("run", X)
assert milieu.load("run").inertia_ == estimator.inertia_
image = np.full((48, 48, 3), (40, 80, 120), np.uint8)
rows = milieu.features.extract([image], "onnx:pool.onnx:preset=unit").X
assert abs(rows - np.array([[1, 2, 3]]) / 14 ** 0.5).max() < 1e-5, rows
"""


def test_wheel_installs_into_an_empty_environment(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation",
           "--quiet", "-w", str(tmp_path), str(ROOT)]
    # pip comes with the interpreter that tests run with, or with the environment below.
    environment = tmp_path / "venv"
    venv.EnvBuilder(system_site_packages=True, with_pip=True).create(environment)
    python = str(environment / "bin/python")
    pip[0] = python
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(pip, check=True, env=clean)
    wheels = list(tmp_path.glob("milieu-*.whl"))
    assert len(wheels) == 1
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    str(wheels[0])], check=True, env=clean)
    (tmp_path / "pool.onnx").write_bytes(onnx_model("GlobalAveragePool"))
    subprocess.run([python, "-c", USE], check=True, env=clean, cwd=tmp_path)
