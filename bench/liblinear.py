# SPDX-License-Identifier: Apache-2.0
"""Debian's liblinear (package liblinear-dev, 2.3) called by ctypes: the time of its training alone."""
import ctypes
import time

import numpy as np

DUAL, PRIMAL = 1, 2  # solvers of linear.h with the L2 loss

NODE = np.dtype([("index", "<i4"), ("padding", "<i4"), ("value", "<f8")])


class Problem(ctypes.Structure):
    _fields_ = [("l", ctypes.c_int), ("n", ctypes.c_int), ("y", ctypes.c_void_p),
                ("x", ctypes.c_void_p), ("bias", ctypes.c_double)]


class Parameter(ctypes.Structure):
    _fields_ = [("solver_type", ctypes.c_int), ("eps", ctypes.c_double), ("C", ctypes.c_double),
                ("nr_weight", ctypes.c_int), ("weight_label", ctypes.c_void_p),
                ("weight", ctypes.c_void_p), ("p", ctypes.c_double), ("init_sol", ctypes.c_void_p)]


class Model(ctypes.Structure):
    _fields_ = [("param", Parameter), ("nr_class", ctypes.c_int), ("nr_feature", ctypes.c_int),
                ("w", ctypes.POINTER(ctypes.c_double)), ("label", ctypes.c_void_p),
                ("bias", ctypes.c_double)]


def load():
    """The library, silent. Structures are those of 2.3: another version is refused."""
    library = ctypes.CDLL("liblinear.so.4")
    version = ctypes.c_int.in_dll(library, "liblinear_version").value
    if version != 230:
        raise OSError(f"liblinear is version {version}, must be 230")
    library.silence = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)  # kept alive
    library.set_print_string_function(library.silence)
    library.train.restype = ctypes.POINTER(Model)
    return library


def train(library, rows, signs, cost, solver, tolerance):
    """Seconds of processor time, and J = 1/2 |w|^2 + cost sum [1 - y f]^2 that it ends at.

    The bias is a column of ones, charged like the others; zeros are left out, as its files do.
    """
    rows = np.hstack([rows, np.ones((len(rows), 1))]).astype(float)
    counts = (rows != 0).sum(1)
    starts = np.concatenate([[0], np.cumsum(counts + 1)])
    nodes = np.zeros(starts[-1], NODE)
    nodes["index"] = -1
    at = np.flatnonzero(rows.ravel())
    places = at // rows.shape[1] + np.arange(len(at))
    nodes["index"][places] = at % rows.shape[1] + 1
    nodes["value"][places] = rows.ravel()[at]
    pointers = (nodes.ctypes.data + starts[:-1] * NODE.itemsize).astype(np.uint64)
    signs = np.ascontiguousarray(signs, float)
    problem = Problem(len(rows), rows.shape[1], signs.ctypes.data, pointers.ctypes.data, -1)
    parameter = Parameter(solver, tolerance, cost, 0, None, None, 0.1, None)
    began = time.process_time()
    model = library.train(ctypes.byref(problem), ctypes.byref(parameter))
    seconds = time.process_time() - began
    plane = np.ctypeslib.as_array(model.contents.w, (rows.shape[1],)) * signs[0]
    losses = np.maximum(0, 1 - signs * (rows @ plane)) ** 2
    objective = 0.5 * plane @ plane + cost * losses.sum()
    library.free_and_destroy_model(ctypes.byref(model))
    return seconds, objective
