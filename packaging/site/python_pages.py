# SPDX-License-Identifier: Apache-2.0
"""The Python reference: names, signatures and docstrings of the built package."""

import json
import subprocess
import sys

MODULES = ["milieu", "milieu.crf", "milieu.dask", "milieu.features", "milieu.metrics"]

# Run by an interpreter that has the package in its path, so that this one does not load it.
INSPECT = """
import importlib, inspect, json, sys
found = []
for module_name in sys.argv[1:]:
    module = importlib.import_module(module_name)
    names = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
    entries = []
    for name in names:
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        try:
            signature = str(inspect.signature(value))
        except (ValueError, TypeError):
            signature = "(...)"
        methods = []
        if inspect.isclass(value):
            for key, member in vars(value).items():
                if not key.startswith("_") and inspect.isroutine(member):
                    methods.append((key, str(inspect.signature(member)), inspect.getdoc(member) or ""))
        entries.append((name, signature, inspect.getdoc(value) or "", methods))
    found.append((module_name, inspect.getdoc(module) or "", entries))
print(json.dumps(found))
"""


def block(text):
    return f"```text\n{text.rstrip()}\n```\n\n" if text.strip() else ""


def write(python_dir, out):
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", INSPECT, *MODULES], text=True, capture_output=True,
                          check=False, env={"PYTHONPATH": str(python_dir), "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        sys.exit(f"site: the Python package cannot be read: {done.stderr}")
    text = "# Python\n\nEvery public name of the package, with its docstring.\n\n"
    for module, doc, entries in json.loads(done.stdout):
        text += f"## {module}\n\n{block(doc)}"
        for name, signature, words, methods in entries:
            text += f"### {module}.{name}\n\n```python\n{name}{signature}\n```\n\n{block(words)}"
            for key, arguments, method_words in methods:
                text += f"```python\n{name}.{key}{arguments}\n```\n\n{block(method_words)}"
    (out / "python.md").write_text(text, encoding="utf-8")
