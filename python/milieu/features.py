# SPDX-License-Identifier: Apache-2.0
"""Features of images: every descriptor of the command line, through the same cache."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._base import num_threads, warn
from ._progress import Callback, reporter
from ._types import Array

__all__ = ["Features", "Written", "extract", "merge", "write"]


@dataclass(frozen=True)
class Features:
    """Features of images, one row per image."""

    X: Array
    names: list[str]  # of the images, below their folder; empty for arrays
    classes: Array = field(repr=False)  # by number, -1 for none; empty when there are none
    class_names: list[str]
    columns: list[tuple[str, int, int]]  # name, first column, number of columns of every feature
    feature: str

    @property
    def y(self) -> Array | None:
        """The class of every image by name; None when there are no classes."""
        if len(self.classes) == 0:
            return None
        return np.array([*self.class_names, ""], dtype=object)[self.classes]


@dataclass(frozen=True)
class Written:
    """What was done in a feature folder."""

    out: str
    n_images: int
    n_computed: int  # images that were decoded now
    skipped: list[tuple[str, str]] = field(repr=False)  # path and reason


def write(images: str | os.PathLike[str], feature: str, out: str | os.PathLike[str], *,
          shard: str | None = None, patches: bool = False, max_side: int = 1024,
          n_jobs: int | None = None, verbose: int = 0,
          callback: Callback | None = None) -> Written:
    """Write a feature folder, as ``milieu features`` does, or one of its shards.

    Parameters
    ----------
    images : path-like
        An image folder (sub-folders are classes), or a ``.txt`` that names images.
    feature : str
        A list such as ``"gist,color"``.
    out : path-like
        The feature folder; one that exists is brought up to date.
    shard : str, default=None
        ``"2/8"`` describes the second eighth of the images: other processes, on any machine that
        sees the folder, do the others at the same time, and ``merge`` finishes it. ``"slurm"`` is
        the place of this task in its job array.
    patches : bool, default=False
        Keep the local descriptors as well as the histograms of words.
    max_side, n_jobs, verbose, callback
        As in ``extract``.

    Returns
    -------
    written : Written
        How many images there are, and how many were computed now.
    """
    from . import _images

    os.stat(images)
    with reporter(verbose, callback, "features") as listener:
        done = _images.write_features(os.fspath(images), feature, os.fspath(out), shard or "",
                                      max_side, patches, num_threads(n_jobs),
                                      {"callback": listener})
    return _written(out, done)


def merge(out: str | os.PathLike[str]) -> Written:
    """Finish a feature folder from its shards: the bytes are those of a single ``write``.

    Parameters
    ----------
    out : path-like
        The folder that all shards were written to.

    Returns
    -------
    written : Written
        How many images there are.

    Raises
    ------
    ValueError
        Shards are missing; the message names them.
    """
    from . import _images

    return _written(out, _images.merge_features(os.fspath(out), {"callback": None}))


def _written(out: str | os.PathLike[str], done: dict[str, Any]) -> Written:
    for text in done["warnings"]:
        warn(text)
    return Written(os.fspath(out), done["n_images"], done["n_computed"], done["skipped"])


def _is_arrays(images: Any) -> bool:
    return isinstance(images, np.ndarray) or (
        isinstance(images, Sequence) and len(images) > 0 and hasattr(images[0], "ndim"))


def extract(images: Any, feature: str = "gist", *, max_side: int = 1024, n_jobs: int | None = None,
            verbose: int = 0, callback: Callback | None = None) -> Features:
    """Describe images by features.

    Parameters
    ----------
    images : path-like, list of path-like, or list of ndarray
        An image folder (sub-folders are classes), files, or images in memory: uint8 arrays of
        shape (height, width) or (height, width, 3). Features of folders and files are kept in the
        cache.
    feature : str, default='gist'
        A list such as ``"gist,color"`` or ``"dense-sift:words=400"``; ``milieu help features``
        has them all.
    max_side : int, default=1024
        Scale images down until no side is longer than this; 0 is no limit.
    n_jobs : int, default=None
        Number of threads; None and -1 use all cores.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, default=None
        Called with a dict while images are described.

    Returns
    -------
    features : Features
        ``X``, one row per image, with ``names`` and classes ``y``.
    """
    from . import _images  # brings OpenCV: only when it is needed

    threads = num_threads(n_jobs)
    with reporter(verbose, callback, "features") as listener:
        control = {"callback": listener}
        if _is_arrays(images):
            X = _images.describe_arrays(list(images), feature, max_side, threads, control)
            return Features(X, [], np.zeros(0, np.int32), [], [], feature)
        if isinstance(images, (str, os.PathLike)):
            os.stat(images)  # a missing folder is an OSError, as everywhere in Python
            found = _images.describe_folder(os.fspath(images), feature, str(max_side), threads,
                                            control)
        else:
            found = _describe_files(_images, images, feature, str(max_side), threads, control)
    for text in found["warnings"]:
        warn(text)
    return Features(found["X"], found["names"], found["classes"], found["class_names"],
                    found["columns"], found["feature"])


def _describe_files(module: Any, paths: Sequence[Any], feature: str, max_side: str, threads: int,
                    control: dict[str, Any]) -> dict[str, Any]:
    """Describe files by a list of them, which the library reads."""
    lines = [str(pathlib.Path(path).absolute()) for path in paths]
    with tempfile.TemporaryDirectory(prefix="milieu-") as folder:
        listing = pathlib.Path(folder) / "images.txt"
        listing.write_text("".join(line + "\n" for line in lines), encoding="utf-8",
                           errors="surrogateescape")
        return dict(module.describe_folder(str(listing), feature, max_side, threads, control))
