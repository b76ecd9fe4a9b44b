# SPDX-License-Identifier: Apache-2.0
"""What all estimators share: options, checks, fitting, saving, pickling."""

from __future__ import annotations

import html
import os
import sys
import warnings
import weakref
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core, _describe, _names
from ._compat import set_tags, validate_rows
from ._html import Card, estimator_html
from ._progress import reporter
from ._runs import run_dict
from ._types import Array

# scikit-learn excuses its KMeans from the same check for the same reason.
DRAWS = {"check_sample_weights_invariance":
         "samples of weight 0 are counted where samples are drawn at random"}

# Parameters of every estimator that are not options of its method.
CONTROL = ("verbose", "callback", "keep_partial")


def num_threads(n_jobs: int | None) -> int:
    """Translate scikit-learn's n_jobs: None and -1 are all cores, -2 all but one."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return n_jobs


def seed_of(random_state: Any) -> int:
    """Translate scikit-learn's random_state; a number is the seed itself."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class MilieuWarning(UserWarning):
    """Something that a result's reader should know."""


def warn(text: str) -> None:
    """Warn at the line of the user's program that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("milieu."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, MilieuWarning, stacklevel=level)


class MilieuEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators; the subclasses in _estimators.py are generated."""

    _method: str  # the library's name
    _hidden: tuple[str, ...] = ()  # options that make no sense from Python
    _restart: int | None = None  # the only restart to run (milieu.dask); None: all

    verbose: int
    callback: Any
    keep_partial: bool

    # Options and calls ---------------------------------------------------------------------

    def _options(self) -> dict[str, Any]:
        """Return the options by the library's names."""
        options = {}
        for name, field in _names.fields(self._method).items():
            if name in self._hidden:
                continue
            value = getattr(self, name)
            if name == "random_state":
                value = seed_of(value)
            elif name == "n_jobs":
                value = num_threads(value)
            options[field["name"]] = self._option_value(field, value)
        return options

    def _option_value(self, field: dict[str, Any], value: Any) -> Any:
        # Text options that hold numbers (bandwidth, penalty) take numbers, too.
        if field["kind"] == "str" and isinstance(value, (int, float, np.number)):
            return repr(value if isinstance(value, (int, float)) else value.item())
        return value

    def _threads(self) -> int:
        return num_threads(getattr(self, "n_jobs", None))

    def _call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the core; its errors speak of Python's names."""
        try:
            return getattr(_core, function)(*arguments)
        except ValueError as error:
            raise ValueError(_names.in_python(self._method, str(error))) from None

    def _array(self, function: str, *arguments: Any) -> Array:
        array: Array = self._call(function, *arguments)
        return array

    def _inputs(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs that are given, by the library's names."""
        declared = _names.inputs(self._method)
        return {declared[name]["name"]: value for name, value in given.items()
                if value is not None}

    # Fitting -------------------------------------------------------------------------------

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        if not reset:
            check_is_fitted(self)
        return validate_rows(self, X, reset=reset)

    def _fit_rows(self, X: Array | None, inputs: dict[str, Any]) -> dict[str, Any]:
        """Fit to checked rows; sets what all fitted estimators have."""
        with reporter(self.verbose, self.callback, type(self).__name__) as callback:
            control: dict[str, Any] = {"callback": callback, "keep_partial": self.keep_partial}
            if self._restart is not None:
                control["restart"] = self._restart
            result: dict[str, Any] = self._call(f"{self._method}_fit", X, self._options(), inputs,
                                                control)
        self._take(result)
        if X is not None:
            self._fitted_rows = weakref.ref(X)  # for the map in notebooks; X itself is not kept
        return result

    def _take(self, result: dict[str, Any]) -> None:
        summary = result["summary"]
        self.model_ = result["model"]
        self.summary_ = summary
        if "labels" in result:
            self.labels_: Array = result["labels"]
        if "part_names" in summary:
            self.part_names_ = [_describe.labels_of(part) for part in summary["part_names"]]
        elif hasattr(self, "part_names_"):
            del self.part_names_
        self.n_iter_ = summary["iterations"]
        self.objective_ = summary["objective"]
        self._set_attributes(result, self.model_.arrays())
        for text in summary["warnings"]:
            warn(_names.in_python(self._method, text))

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Set the attributes of this method; `arrays` are the model's. A loaded run's `result` has
        the summary and the columns of the run folder in place of what the core gives."""

    def _load(self, result: dict[str, Any]) -> None:
        """Take a loaded run."""
        self.n_features_in_ = result["summary"]["d"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MilieuWarning)
            self._take(result)

    def _columns(self) -> dict[str, Any]:
        """Return the columns that the run folder keeps (docs/format.md)."""
        return {}

    def save(self, path: str | os.PathLike[str], X: Any = None, *, y: Any = None,
             names: Any = None, images: Any = None, force: bool = False) -> None:
        """Write a run folder that the command line reads: ``milieu predict``, ``info``, ``score``.

        Parameters
        ----------
        path : path-like
            The folder to write.
        X : array-like of shape (n_samples, n_features), default=None
            The samples that were fitted; the report then shows their map.
        y : array-like of shape (n_samples,), default=None
            True classes, for the report's figures.
        names : list of str, default=None
            Names of the samples.
        images : path-like, default=None
            A folder; the report shows the images ``images/name`` of the samples.
        force : bool, default=False
            Whether an older run folder is replaced.
        """
        check_is_fitted(self)
        from . import _images

        _images.write_run(os.fspath(path), run_dict(self, X, y, names, images), force)

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": [np.float32]}

    def __sklearn_tags__(self) -> Any:
        ours: dict[str, Any] = {}
        for cls in reversed(type(self).__mro__):  # as older versions of scikit-learn collect them
            if issubclass(cls, MilieuEstimator) and "_more_tags" in vars(cls):
                ours.update(cls._more_tags(self))
        theirs: Any = super()  # older versions do not have it
        return set_tags(theirs.__sklearn_tags__(), ours)

    # Notebooks -----------------------------------------------------------------------------

    def show(self, X: Any = None, images: Any = None) -> Card:
        """Show the result in a notebook: figures, sizes, a map of X, and images of the parts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The samples that were fitted; while they are in memory they are known already.
        images : list of array-like, default=None
            One image per sample, height x width or height x width x 3.

        Returns
        -------
        card : object
            A notebook displays it.
        """
        check_is_fitted(self)
        return Card(estimator_html(self, self._remembered_rows() if X is None else X, images))

    def _remembered_rows(self) -> Any:
        rows = self.__dict__.get("_fitted_rows")
        return None if rows is None else rows()

    def _repr_html_(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        if "summary_" not in self.__dict__:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return estimator_html(self, self._remembered_rows())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # Pickle: the model's own bytes, with its version ---------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        theirs: Any = super()
        state: dict[str, Any] = dict(theirs.__getstate__())
        model = state.pop("model_", None)
        state.pop("_fitted_rows", None)
        if model is not None:
            state["_model_bytes"] = model.to_bytes()
            # Arrays that are views of the model are taken from it again.
            for name, value in list(state.items()):
                if isinstance(value, np.ndarray) and value.base is model:
                    state[name] = np.array(value)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        data = state.pop("_model_bytes", None)
        super().__setstate__(state)
        if data is not None:
            self.model_ = self._model_class().from_bytes(data)

    @classmethod
    def _has_model(cls) -> bool:
        return hasattr(_core, f"{cls._method}_model")

    @classmethod
    def _model_class(cls) -> Any:
        return getattr(_core, f"{cls._method}_model")


class FitsAndPredicts(MilieuEstimator):
    """Estimators that label what they are fitted to."""

    def _fit_and_name(self, X: Any, y: Any, given: dict[str, Any], describe: Any,
                      label_names: Any) -> None:
        """Fit; then name the parts, where labels are given."""
        if describe is None and label_names is not None:
            raise ValueError("label_names is given without describe: give label vectors or scores")
        estimator: Any = self  # every method has its own _fit
        estimator._fit(X, y, given)
        if describe is None:
            return
        names = _describe.name_parts(self, self._described(X, y, given), describe, label_names)
        self.summary_["part_names"] = names
        self.part_names_ = [_describe.labels_of(part) for part in names]

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> _describe.Described:
        """Return what describe is about."""
        return _describe.Described(self.labels_, np.asarray(X, dtype=np.float32))

    def fit_predict(self, X: Any, y: Any = None, **inputs: Any) -> Array:
        """Fit, and return the labels.

        Parameters
        ----------
        X, y
            As in ``fit``.
        **inputs
            The keywords of ``fit``.

        Returns
        -------
        labels : ndarray
            ``labels_``.
        """
        estimator: Any = self  # the generated subclass has fit
        labels: Array = estimator.fit(X, y, **inputs).labels_
        return labels


class PredictsRows(FitsAndPredicts):
    """Estimators whose model labels new rows."""

    def predict(self, X: Any) -> Array:
        """Label new samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples, with the features of those that were fitted.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The label of every sample.
        """
        X = self._rows(X)
        return self._array(f"{self._method}_predict", self.model_, X, self._threads())
