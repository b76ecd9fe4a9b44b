# SPDX-License-Identifier: Apache-2.0
"""The generated file: up to date, and true to the declarations."""

import inspect
import pathlib
import subprocess
import sys

import pytest
from conftest import all_estimators

from milieu import _names

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_estimators_are_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "scripts/update_python", "--check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cls", all_estimators())
def test_every_option_is_a_parameter_with_its_default(cls):
    parameters = inspect.signature(cls).parameters
    for name, field in _names.fields(cls._method).items():
        if name in cls._hidden:
            continue
        default = parameters[name].default
        if field["kind"] == "str":  # in Python a number that is text in C++ is a number
            default = str(default)
        assert default == (None if name == "n_jobs" else field["default"]), name
        assert f"\n    {name} : " in cls.__doc__, name


@pytest.mark.parametrize("cls", all_estimators())
def test_parameters_have_names_that_python_allows(cls):
    assert all(name.isidentifier() for name in _names.fields(cls._method))
    assert not any(name.startswith("num_") for name in _names.fields(cls._method))


def test_every_public_method_documents_what_goes_in_and_out():
    missing = []
    for cls in all_estimators():
        name = cls.__name__
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if method.startswith("_") or not function.__module__.startswith("milieu"):
                continue
            text = inspect.getdoc(function) or ""
            if len(inspect.signature(function).parameters) > 1 and "Parameters\n---" not in text:
                missing.append(f"{name}.{method}: Parameters")
            if method != "save" and "Returns\n---" not in text:
                missing.append(f"{name}.{method}: Returns")
    assert not missing
