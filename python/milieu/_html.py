# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a fitted estimator: figures, sizes, a map, and images of the parts."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Array

if TYPE_CHECKING:
    from ._base import MilieuEstimator

MAX_PARTS = 12
MAX_DOTS = 800
IMAGES_PER_PART = 6
THUMBNAIL = 48
# Distinct in light and dark, and for most colour-blind people (Okabe and Ito, with tints).
COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#882255",
          "#44aa99", "#aa4499", "#117733", "#6699cc"]
STYLE = ("font-family:sans-serif;font-size:13px;border:1px solid #8884;border-radius:6px;"
         "padding:10px 14px;display:inline-block;max-width:720px")


def color_of(part: int) -> str:
    return "#8888" if part < 0 else COLORS[part % len(COLORS)]


def _figures(summary: dict[str, Any]) -> str:
    shown = {"samples": f"{summary['n']:,}", "features": f"{summary['d']:,}",
             "clusters": f"{summary['clusters']:,}", "objective": f"{summary['objective']:.6g}",
             "ended": f"{summary['termination']} after {summary['iterations']:,} iterations",
             "seconds": f"{summary['seconds']:.2f}"}
    for name in ("confidence", "gap", "lower_bound"):
        if isinstance(summary.get(name), float):
            shown[name.replace("_", " ")] = f"{summary[name]:.4g}"
    cells = "".join(f"<td style='padding:0 14px 4px 0;text-align:left'><small>{name}</small><br>"
                    f"<b>{html.escape(value)}</b></td>" for name, value in shown.items())
    return f"<table><tr>{cells}</tr></table>"


def _bars(sizes: list[int], pictures: dict[int, str], names: list[str]) -> str:
    largest = max(sizes, default=1) or 1
    rows = []
    for part in range(min(len(sizes), MAX_PARTS)):
        width = 120 * sizes[part] / largest
        name = html.escape(names[part]) if part < len(names) else ""
        rows.append(f"<tr><td style='text-align:right'>{part}</td><td style='text-align:left'>"
                    f"<span style='display:inline-block;height:10px;width:{width:.0f}px;"
                    f"background:{color_of(part)}'></span> {sizes[part]:,}</td>"
                    f"<td style='text-align:left'><i>{name}</i> {pictures.get(part, '')}</td></tr>")
    if len(sizes) > MAX_PARTS:
        rows.append(f"<tr><td></td><td>and {len(sizes) - MAX_PARTS} more</td><td></td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _thinned(n: int, most: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def plane_of(X: Array) -> Array:
    """Return the two principal coordinates of rows, scaled to the unit square."""
    rows = np.asarray(X, dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    if rows.shape[1] > 2:
        axes = np.linalg.svd(rows, full_matrices=False)[2][:2]
        rows = rows @ axes.T
    elif rows.shape[1] == 1:
        rows = np.hstack([rows, np.zeros_like(rows)])
    span = np.ptp(rows, axis=0)
    return np.asarray((rows - rows.min(axis=0)) / np.where(span > 0, span, 1))


def map_svg(X: Array, labels: Array) -> str:
    """Draw rows in the plane of their two principal axes, coloured by label."""
    rows = _thinned(len(X), MAX_DOTS)
    dots = "".join(f"<circle cx='{5 + 250 * x:.0f}' cy='{175 - 170 * y:.0f}' r='2.5' "
                   f"fill='{color_of(int(labels[row]))}'/>"
                   for row, (x, y) in zip(rows, plane_of(np.asarray(X)[rows]), strict=True))
    note = f" ({len(rows):,} of {len(X):,} samples)" if len(rows) < len(X) else ""
    return (f"<div><small>principal axes{note}</small><br>"
            f"<svg width='260' height='180' role='img' aria-label='map'>{dots}</svg></div>")


def png(image: Array) -> bytes:
    """Return an uint8 image, grey or of three channels, as PNG."""
    height, width = image.shape[:2]
    kind = 0 if image.ndim == 2 else 2
    raw = b"".join(b"\0" + np.ascontiguousarray(row).tobytes() for row in image)

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9))
            + chunk(b"IEND", b""))


def as_bytes(image: Any, most: int = THUMBNAIL) -> Array:
    """Return an image as uint8, scaled down by whole steps until no side is longer than ``most``."""
    array = np.asarray(image)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ValueError(f"an image has the shape {array.shape}, must be height x width or height x "
                         "width x 3")
    step = max(1, -(-max(array.shape[:2]) // most))
    array = array[::step, ::step, :3] if array.ndim == 3 else array[::step, ::step]
    if array.dtype == np.uint8:
        return np.asarray(array)
    low, high = float(array.min()), float(array.max())
    return np.asarray((array - low) / ((high - low) or 1) * 255).astype(np.uint8)


def part_images(images: Any, labels: Array, n_parts: int) -> dict[int, str]:
    """Return a few images of every part as HTML."""
    found = {}
    for part in range(min(n_parts, MAX_PARTS)):
        rows = np.flatnonzero(labels == part)
        chosen = rows[_thinned(len(rows), IMAGES_PER_PART)] if len(rows) else rows
        found[part] = "".join(
            "<img style='height:40px;margin:1px' alt='' src='data:image/png;base64,"
            + base64.b64encode(png(as_bytes(images[row]))).decode() + "'>" for row in chosen)
    return found


def estimator_html(estimator: MilieuEstimator, X: Any = None, images: Any = None) -> str:
    """Return a self-contained fragment, below 300 kB."""
    summary = estimator.summary_
    labels = getattr(estimator, "labels_", np.zeros(0, np.int32))
    pictures = {} if images is None else part_images(images, labels, len(summary["sizes"]))
    names = [part["name"] for part in summary.get("part_names", [])]
    parts = [f"<b>{html.escape(repr(estimator))}</b>", _figures(summary)]
    if summary["sizes"]:
        drawn = map_svg(X, labels) if X is not None and len(X) == len(labels) else ""
        parts.append("<div style='display:flex;gap:16px;flex-wrap:wrap'>"
                     f"{_bars(summary['sizes'], pictures, names)}{drawn}</div>")
    parts += [f"<div>&#9888; {html.escape(text)}</div>" for text in summary["warnings"]]
    return f"<div style='{STYLE}'>{''.join(parts)}</div>"


class Card:
    """What ``show`` returns: a notebook displays it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text
