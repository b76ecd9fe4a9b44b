# SPDX-License-Identifier: Apache-2.0
"""Small ONNX networks, made without the onnx package, and where the real ones are."""

import os
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = SOURCE.parent / "shared"
MODELS = pathlib.Path(os.environ.get("MILIEU_MODELS", SHARED / "models"))
DATA = pathlib.Path(os.environ.get("MILIEU_DATA", SHARED / "data"))
FLOAT, BYTE, INT64, HALF = 1, 2, 7, 10


def message(*fields):
    """Protocol buffers by hand: (number, value), value a whole number, bytes or text."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def value_info(name, sizes, kind=FLOAT):
    """Sizes are numbers; None: any."""
    dims = b"".join(message((1, message((2, "N") if size is None else (1, size)))) for size in sizes)
    return message((1, name), (2, message((1, message((1, kind), (2, dims))))))


def attribute(name, value):
    """A whole number or a list of them."""
    if isinstance(value, int):
        return message((1, name), (3, value), (20, 2))
    return message((1, name), *((8, v) for v in value), (20, 7))


def node(operator, inputs, outputs, ints=None, name="only"):
    attributes = [(5, attribute(key, value)) for key, value in (ints or {}).items()]
    return message(*((1, i) for i in inputs), *((2, o) for o in outputs), (3, name), (4, operator),
                   *attributes)


def weight(name, kind, sizes, raw=None, file=None):
    """A weight with its bytes, or with the name of the file that begins with them."""
    place = [(9, raw)] if file is None else [
        (13, message((1, "location"), (2, file))), (14, 1)]
    return message(*((1, size) for size in sizes), (2, kind), (8, name), *place)


def network(nodes, sizes, weights=(), outputs=("y",), kind=FLOAT, opset=13):
    """A network from `x` of these sizes to `outputs`, whose shapes the runtime finds out."""
    graph = message(*((1, n) for n in nodes), (2, "g"), *((5, w) for w in weights),
                    (11, value_info("x", sizes, kind)), *((12, message((1, o))) for o in outputs))
    return message((1, 8), (7, graph), (8, message((1, ""), (2, opset))))


def onnx_model(operator, ints=None, sizes=(1, 3, 48, 48)):
    """A network of one operator from `x` to `y`; `ints` are its attributes."""
    return network([node(operator, ["x"], ["y"], ints)], sizes)
