# SPDX-License-Identifier: Apache-2.0
"""Names of options and inputs: the library's on one side, Python's on the other."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from . import _core


@lru_cache(maxsize=None)
def fields(method: str) -> dict[str, dict[str, Any]]:
    """Return the option fields of a method by their Python names."""
    return {field["python"]: field for field in _core.declarations[method]["fields"]}


@lru_cache(maxsize=None)
def inputs(method: str) -> dict[str, dict[str, Any]]:
    """Return the further inputs of a method by their Python names."""
    return {entry["python"]: entry for entry in _core.declarations[method]["inputs"]}


@lru_cache(maxsize=None)
def _renaming(method: str) -> tuple[re.Pattern[str], dict[str, str]]:
    names = {"INPUT": "X"}
    for entry in _core.declarations[method]["fields"] + _core.declarations[method]["inputs"]:
        names[entry["flag"]] = entry["python"]
        if entry["name"] != entry["python"] and "_" in entry["name"]:
            names[entry["name"]] = entry["python"]
    # The longest first, so that --context-weights is not read as --context.
    words = sorted(names, key=len, reverse=True)
    pattern = r"(?<![\w-])(" + "|".join(map(re.escape, words)) + r")(?![\w-])"
    return re.compile(pattern), names


def in_python(method: str, message: str) -> str:
    """Say a message of the library with the names that Python's users write.

    Names that are English words, too (distance, covariance), are names at the beginning only.
    """
    subject, verb, rest = message.partition(" is ")
    for field in _core.declarations[method]["fields"]:
        if verb and subject == field["name"]:
            message = field["python"] + verb + rest
    pattern, names = _renaming(method)
    return pattern.sub(lambda found: names[found.group(1)], message)
