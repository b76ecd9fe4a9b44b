# SPDX-License-Identifier: Apache-2.0
"""ICC and its classifier; _estimators.py adds their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClusterMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._base import FitsAndPredicts, MilieuEstimator
from ._compat import check_matrix
from ._describe import Described
from ._types import Array


def numbered(y: Any) -> tuple[Array, Array]:
    """Return the classes of y and the number of each sample's class; -1 (a number) is unknown."""
    y = column_or_1d(y)
    known = np.ones(len(y), bool) if y.dtype.kind in "OUS" else y != -1
    classes, places = np.unique(y[known], return_inverse=True)
    numbers = np.full(len(y), -1, dtype=np.int32)
    numbers[known] = places
    return classes, numbers


class _Projects(TransformerMixin, MilieuEstimator):  # type: ignore[misc]
    """Estimators with a projection that their model keeps."""

    def transform(self, X: Any) -> Array:
        """Project samples to the space in which they are compared.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_dims)
        """
        X = self._rows(X)
        return self._array(
            f"{self._method}_project", self.model_, X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return ``icc0``, ``icc1``, ...: one name per coordinate.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        count = len(self.model_.arrays()["origin"])
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(count)], dtype=object)

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}


class ICCBase(_Projects, ClusterMixin, FitsAndPredicts):  # type: ignore[misc]
    """Intra-class clustering: splits every class into sub-classes on the map "density of this class
    minus density of all others", so that the other classes keep parts of a class apart.

    Without ``y`` it is a density clustering that finds the number of clusters.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Sub-class of every sample, counted over all classes; the same as ``subclass_labels_``.
    n_subclasses_ : ndarray of shape (n_classes,)
        How many sub-classes each class has.
    classes_ : ndarray of shape (n_classes,)
        The classes of ``y``; missing when it was not given.
    maxima_ : ndarray of shape (n_subclasses, n_dims)
        Coordinates of the maxima.
    heights_ : ndarray of shape (n_subclasses,)
        Difference of density at the maxima.
    density_maps_ : ndarray of shape (n_classes, cells of axis 1, cells of axis 2, ...)
        Difference of density on the grid; empty without a grid.

    References
    ----------
    J. Yu, Y. Tian, X. Tang et al., "Context-sensitive intra-class clustering", 2013.
    """

    _method = "icc"

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        X = self._rows(X, reset=True)
        inputs = self._inputs(given)
        for name in inputs:
            inputs[name] = check_matrix(inputs[name], name)
        self.__dict__.pop("classes_", None)
        if y is not None:
            check_consistent_length(X, y)
            classes, inputs["classes"] = numbered(y)
            self.classes_: Array = classes
        self._fit_rows(X, inputs)

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> Described:
        classes = np.repeat(np.arange(len(self.n_subclasses_)), self.n_subclasses_)
        rows = np.asarray(X, dtype=np.float32)
        context = given.get("context")
        if context is not None:
            context = np.asarray(context, dtype=np.float32)
        return Described(self.labels_, rows, context, part_classes=classes)

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.subclass_labels_ = self.labels_
        self.n_subclasses_ = arrays["subclasses"]
        self.maxima_ = arrays["maxima"]
        self.heights_ = arrays["heights"]
        maps = arrays["maps"]
        self.density_maps_ = maps.reshape(len(maps), *arrays["grid"]) if maps.size else maps

    def predict(self, X: Any, y: Any = None) -> Array:
        """Return the sub-class of new samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,), default=None
            Their classes. Without them a sample belongs to the class with the largest difference
            of density at its place.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = self._rows(X)
        return self._array(
            "icc_predict", self.model_, X, self._known_classes(y), self._threads())

    def _known_classes(self, y: Any) -> Array | None:
        if y is None:
            return None
        y = column_or_1d(y)
        classes = getattr(self, "classes_", np.array([0]))
        places = np.searchsorted(classes, y)
        found = classes[np.minimum(places, len(classes) - 1)] == y
        if not found.all():
            raise ValueError(f"y has the class {y[~found][0]!r}, the fitted classes are {classes}")
        return np.asarray(places, dtype=np.int32)


class ICCClassifierBase(ClassifierMixin, _Projects):  # type: ignore[misc]
    """A classifier on sub-classes: intra-class clustering splits the classes, discriminant axes
    separate the sub-classes, a quadratic classifier distinguishes them, and sub-classes are mapped
    back to classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    labels_ : ndarray of shape (n_samples,)
        Predicted classes of the training samples, by number.
    subclass_labels_ : ndarray of shape (n_samples,)
        Sub-classes of the training samples.
    n_subclasses_ : ndarray of shape (n_classes,)
        How many sub-classes each class has.

    References
    ----------
    J. Yu, Y. Tian, X. Tang et al., "Context-sensitive intra-class clustering", 2013.
    """

    _method = "icc_classifier"

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        if y is None:
            raise ValueError("ICCClassifier requires y to be passed, but the target y is None")
        X = self._rows(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(X, y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class, must have two or more: nothing is to be learned")
        inputs = {"classes": numbers}
        if given.get("groups") is not None:
            inputs["groups"] = np.unique(column_or_1d(given["groups"]), return_inverse=True)[1]
        self._fit_rows(X, inputs)

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.subclass_labels_ = result.get("subclass_labels")  # not kept in run folders
        self.n_subclasses_ = np.array(result["summary"]["subclasses"])

    def _load(self, result: dict[str, Any]) -> None:
        super()._load(result)
        self.classes_ = np.unique(self.model_.arrays()["class_from_subclass"])

    def predict(self, X: Any) -> Array:
        """Return the class of every sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        X = self._rows(X)
        numbers = self._call("icc_classifier_predict", self.model_, X, self._threads())
        return np.asarray(self.classes_[numbers])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class given each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows sum to 1; columns are in the order of ``classes_``.
        """
        X = self._rows(X)
        return self._array(
            "icc_classifier_probabilities", self.model_, X, self._threads())

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True}
