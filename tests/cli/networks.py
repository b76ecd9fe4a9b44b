# SPDX-License-Identifier: Apache-2.0
"""Small ONNX networks, made without the onnx package."""


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


def onnx_model(operator, ints=None):
    """A network of one operator from `x`, 1 x 3 x 48 x 48, to `y`; `ints` are its attributes."""
    def value_info(name, *sizes):
        shape = b"".join(message((1, message((1, size)))) for size in sizes)
        tensor = message((1, 1), (2, shape))
        return message((1, name), (2, message((1, tensor))))

    attributes = [(5, message((1, name), *((8, value) for value in values), (20, 7)))
                  for name, values in (ints or {}).items()]
    node = message((1, "x"), (2, "y"), (3, "only"), (4, operator), *attributes)
    graph = message((1, node), (2, "g"), (11, value_info("x", 1, 3, 48, 48)),
                    (12, value_info("y", 1, 3, 1, 1)))
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 13))))
