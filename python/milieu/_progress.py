# SPDX-License-Identifier: Apache-2.0
"""Progress of a fit: a bar in a terminal or a notebook, and the user's callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = dict[str, Any]
Callback = Callable[[Report], object]

_WIDTH = 30


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython  # pyright: ignore[reportMissingImports]
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


class _Bar:
    """One line that is drawn again ten times a second; in a log file, a line every two seconds."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._drawn = -10.0
        self._has_line = False
        self._is_notebook = _in_notebook()
        self._is_log = not self._is_notebook and not sys.stderr.isatty()

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if now - self._drawn < (2.0 if self._is_log else 0.1):
            return
        self._drawn = now
        text = f"{self._title} {self._text(report)}"
        if self._is_log:
            sys.stderr.write(text + "\n")
        else:
            # A terminal erases the rest of the line; a notebook shows a carriage return as it is.
            sys.stderr.write("\r" + (text.ljust(79) if self._is_notebook else text + "\x1b[K"))
        sys.stderr.flush()
        self._has_line = not self._is_log

    @staticmethod
    def _text(report: Report) -> str:
        if report["stage"] == "fit":
            share = (report["restart"] + (report["iteration"] / report["max_iter"]
                                          if report["max_iter"] else 0)) / report["n_init"]
            detail = (f"restart {report['restart'] + 1} of {report['n_init']}, "
                      f"iteration {report['iteration']}, objective {report['objective']:.6g}")
        else:
            share = report["done"] / report["total"] if report["total"] else 0.0
            detail = report["stage"]
        filled = round(_WIDTH * min(1.0, share))
        return f"[{'=' * filled}{' ' * (_WIDTH - filled)}] {detail}"

    def close(self) -> None:
        if self._has_line:
            sys.stderr.write("\n" if self._is_notebook else "\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def reporter(verbose: int, callback: Callback | None, title: str) -> Iterator[Callback | None]:
    """Give the callback that the core calls; None when nobody listens."""
    if not verbose:
        yield callback
        return
    bar = _Bar(title)

    def show_and_call(report: Report) -> None:
        bar(report)
        if callback is not None:
            callback(report)
    try:
        yield show_and_call
    finally:
        bar.close()
