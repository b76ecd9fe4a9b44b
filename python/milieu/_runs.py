# SPDX-License-Identifier: Apache-2.0
"""Run folders: what the command line writes is loaded as an estimator, and the other way round."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _names
from ._types import Array

if TYPE_CHECKING:
    from ._base import MilieuEstimator

# The library's name of a method where the command line has another one.
COMMANDS = {"icc_classifier": "icc classify", "exemplar_learn": "exemplar learn"}


def estimator_class(kind: str) -> type[MilieuEstimator]:
    """Return the estimator of a kind of model."""
    from . import _estimators as module

    for name in module.__all__:
        cls: type[MilieuEstimator] = getattr(module, name)
        if cls._has_model() and cls._model_class().kind == kind:
            return cls
    raise ValueError(f"there is no estimator for models of the kind '{kind}'")


def load(path: str | os.PathLike[str]) -> Any:
    """Load a run of the command line, or one that an estimator saved.

    Parameters
    ----------
    path : path-like
        A run folder.

    Returns
    -------
    estimator : object
        The fitted estimator of the run's method, with its labels, options and figures.

    Raises
    ------
    OSError
        The folder or one of its files cannot be read.
    ValueError
        It is not a run folder with a model, or its model is damaged or newer than this version.
    """
    folder = pathlib.Path(path)
    model_path = folder / "model.safetensors"
    if folder.is_dir() and not model_path.exists():
        raise ValueError(f"{folder} has no model.safetensors: it is not a run folder with a model")
    data = model_path.read_bytes()
    cls = estimator_class(_core.model_kind(data, str(model_path)))
    estimator = cls(**parameters_of(cls, read_json(folder / "options.json")))
    summary = read_json(folder / "summary.json")
    result = {**summary, **read_columns(folder / "columns.safetensors"),
              "model": cls._model_class().from_bytes(data), "summary": summary}
    if (folder / "labels.csv").exists():
        result["labels"] = read_labels(folder / "labels.csv")
    estimator._load(result)
    return estimator


def read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} is not a JSON object")
    return value


def parameters_of(cls: type[MilieuEstimator], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a run by Python's names; what the estimator does not have is left out."""
    given = options.get("options", {})
    parameters = {}
    for name, field in _names.fields(cls._method).items():
        if name in cls._hidden or field["name"] not in given:
            continue
        value = given[field["name"]]
        parameters[name] = (value or None) if name == "n_jobs" else number_or_text(value)
    return parameters


def number_or_text(value: Any) -> Any:
    """Return the number in a text of digits: such options may be more than a number."""
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value) if "." in value else int(value)
    return value


def read_labels(path: pathlib.Path) -> Array:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([int(row[-1]) for row in rows], dtype=np.int32)


def read_columns(path: pathlib.Path) -> dict[str, Array]:
    if not path.exists():
        return {}
    columns: dict[str, Array] = _core.read_columns(str(path))
    return {name: array[:, 0] if array.shape[1] == 1 else array for name, array in columns.items()}


def run_dict(estimator: MilieuEstimator, X: Any, y: Any, names: Any, images: Any) -> dict[str, Any]:
    """Return what the extension module turns into a run folder or a report."""
    truth = class_names = None
    if y is not None:
        classes, truth = np.unique(np.asarray(y), return_inverse=True)
        class_names = [str(name) for name in classes]
    labels = getattr(estimator, "labels_", None)
    return {
        "method": COMMANDS.get(estimator._method, estimator._method),
        "options": {name: value for name, value in estimator._options().items()},
        "labels": np.zeros(0, np.int32) if labels is None else labels,
        "model": estimator.model_.to_bytes(),
        "summary": estimator.summary_, "columns": estimator._columns(), "files": {},
        "points": None if X is None else np.asarray(X, dtype=np.float32),
        "names": None if names is None else [str(name) for name in names],
        "truth": truth, "class_names": class_names,
        "root": None if images is None else os.fspath(images),
    }
