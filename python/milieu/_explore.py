# SPDX-License-Identifier: Apache-2.0
"""The explorer on arrays: writes them where the program finds them and starts it."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np

from ._compat import check_matrix
from ._html import as_bytes, png


_MAX_SIDE = 2048  # of an image that is given as an array


def program() -> str:
    """Return the program `milieu`: MILIEU_PROGRAM, the package's own, the build tree's, or PATH's."""
    package = pathlib.Path(__file__).resolve().parent
    candidates = [os.environ.get("MILIEU_PROGRAM"), package / "bin/milieu",
                  package.parents[1] / "release/bin/milieu", shutil.which("milieu")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise FileNotFoundError("the program milieu was not found: install it, or set MILIEU_PROGRAM to "
                            "its path")


class Explorer:
    """A running explorer. Ends with ``close()``, with the block, or with Python."""

    def __init__(self, command: list[str], folder: tempfile.TemporaryDirectory[str]) -> None:
        self._folder = folder
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self.close()
            raise RuntimeError("the explorer did not start: its message is above")
        atexit.register(self.close)

    def close(self) -> None:
        """Stop the explorer and remove its files."""
        atexit.unregister(self.close)
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._folder.cleanup()

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<milieu explorer at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'


def _place(source: pathlib.Path, target: pathlib.Path) -> None:
    """Give a file a second name. The explorer shows no symbolic links that leave its folder."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without such links
        shutil.copyfile(source, target)


def _image_folder(images: Any, folder: pathlib.Path) -> pathlib.Path:
    """Make a folder of the files, or of PNG files from arrays, in the order of the rows."""
    if isinstance(images, (str, os.PathLike)):
        return pathlib.Path(images)
    target = folder / "images"
    target.mkdir()
    for i, image in enumerate(images):
        if isinstance(image, (str, os.PathLike)):
            path = pathlib.Path(image).resolve()
            _place(path, target / f"{i:07d}{path.suffix}")
        else:
            (target / f"{i:07d}.png").write_bytes(png(as_bytes(image, _MAX_SIDE)))
    return target


def explore(X: Any = None, *, labels: Any = None, images: Any = None, port: int = 0,
            browser: bool = True) -> Explorer:
    """Open the explorer on arrays, on images, or on both.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), default=None
        Samples. Without it the images are described by the explorer's own feature.
    labels : array-like of shape (n_samples,), default=None
        Class of every sample.
    images : path-like, or list of path-like or of array-like, default=None
        An image folder, or one image per sample: a file, or an array of shape height x width or
        height x width x 3.
    port : int, default=0
        0 takes any free port.
    browser : bool, default=True
        Whether to open a browser.

    Returns
    -------
    explorer : Explorer
        Has ``url`` and ``close()``; usable in a ``with`` block.
    """
    if X is None and images is None:
        raise ValueError("give X, images, or both")
    holder = tempfile.TemporaryDirectory(prefix="milieu-explore-")
    folder = pathlib.Path(holder.name)
    command = [program(), "explore"]
    if images is not None:
        command.append(str(_image_folder(images, folder)))
    if X is not None:
        np.save(folder / "X.npy", np.ascontiguousarray(check_matrix(X, "X")))
        command += ["--vectors" if images is not None else str(folder / "X.npy")]
        if images is not None:
            command.append(str(folder / "X.npy"))
    if labels is not None:
        (folder / "labels.txt").write_text("".join(f"{label}\n" for label in labels),
                                           encoding="utf-8")
        command += ["--labels", str(folder / "labels.txt")]
    command += ["--port", str(port)] + ([] if browser else ["--no-browser"])
    return Explorer(command, holder)
