# SPDX-License-Identifier: Apache-2.0
"""DLGMM; _estimators.py adds its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._base import FitsAndPredicts
from ._describe import Described
from ._types import Array


class DLGMMBase(TransformerMixin, ClusterMixin, FitsAndPredicts):  # type: ignore[misc]
    """Double-layer Gaussian mixture: clusters images and learns the codebook of their patches
    together; with ``gamma`` above 0, neighbouring patches prefer equal words (SC-DLGMM).

    ``X`` is a list of matrices, one per image, with one row per patch; or one matrix of all patches
    with ``offsets``. A matrix without offsets is one patch per image.

    Attributes
    ----------
    labels_ : ndarray of shape (n_images,)
        The cluster of every image; -1 for an image without patches.
    words_ : ndarray of shape (n_words, n_features)
        The codebook.
    theta_ : ndarray of shape (n_images, n_bands * n_words)
        Posterior mean of every image's log frequencies of words.
    cluster_means_ : ndarray of shape (n_clusters, n_bands * n_words)
        Mean log frequencies of every cluster.
    weights_ : ndarray of shape (n_clusters,)
        Weights of the clusters; they sum to 1.
    bound_terms_ : ndarray of shape (n_iter, 8)
        Terms of the lower bound after every pass.
    patch_words_ : ndarray of shape (n_patches,)
        The most probable word of every patch that was fitted; -1 where a stop came first. None for a
        loaded run: run folders do not keep it.

    References
    ----------
    P. Xie and E. Xing, "Integrating image clustering and codebook learning", 2015.
    """

    _method = "dlgmm"
    _extra_inputs = {
        "offsets": ("array-like of shape (n_images + 1,)",
                    "rows of every image, when X is one matrix: image i has the rows offsets[i] to "
                    "offsets[i + 1]"),
        "grids": ("array-like of shape (n_images, 2)",
                  "rows and columns of every image's patches, which are then in order; needed by "
                  "gamma and by bands"),
        "edges": ("array-like of shape (n_pairs, 2)",
                  "pairs of patches of one image that are neighbours for gamma, in place of the "
                  "grid's; patches are counted from 0 through all images"),
        "image_vectors": ("array-like of shape (n_images, n_numbers)",
                          "further numbers about each whole image, such as an embedding; then "
                          "prediction needs those of new images"),
        "initial_labels": ("array-like of shape (n_images,)", "clusters to start from"),
        "initial_words": ("array-like of shape (n_words, n_features)", "codebook to start from"),
    }

    def _fit(self, X: Any, y: Any, given: dict[str, Any]) -> None:
        patches, inputs = self._images(X, given.pop("offsets"), given.pop("grids"),
                                       given.pop("edges"), given.pop("image_vectors"), reset=True)
        offsets = inputs.get("offsets", np.arange(len(patches) + 1))
        grids = inputs.get("grids")
        inputs.update({name: value for name, value in given.items() if value is not None})
        self._fit_rows(patches, inputs)
        self._offsets, self._grids = np.array(offsets), None if grids is None else np.array(grids)

    def _described(self, X: Any, y: Any, given: dict[str, Any]) -> Described:
        return Described(self.labels_)  # images are made of patches: scores only

    def _images(self, X: Any, offsets: Any, grids: Any, edges: Any, image_vectors: Any, *,
                reset: bool) -> tuple[Array, dict[str, Any]]:
        inputs: dict[str, Any] = {}
        if isinstance(X, (list, tuple)) and len(X) and all(np.ndim(image) == 2 for image in X):
            images = [np.asarray(image) for image in X]
            offsets = np.concatenate([[0], np.cumsum([len(image) for image in images])])
            X = np.concatenate([image for image in images if len(image)] or images[:1])
        if not reset:
            check_is_fitted(self)
        patches = self._rows(X, reset=reset)
        if offsets is not None:
            inputs["offsets"] = np.asarray(offsets)
        if grids is not None:
            inputs["grids"] = np.asarray(grids)
        if edges is not None:
            inputs["edges"] = np.asarray(edges)
        if image_vectors is not None:
            inputs["image_vectors"] = np.asarray(image_vectors, dtype=np.float32)
        return patches, inputs

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.words_ = arrays["words"]
        self.theta_ = result.get("alpha")  # not kept in run folders
        self.patch_words_ = result.get("words")
        self.cluster_means_ = arrays["means"]
        self.weights_ = arrays["weights"]
        self.probabilities_ = result["probabilities"]
        self.bound_terms_ = np.atleast_2d(result["bound_terms"])
        self._n_features_out = len(self.words_)

    def _load(self, result: dict[str, Any]) -> None:
        super()._load(result)
        self.n_features_in_ = self.words_.shape[1]

    def _columns(self) -> dict[str, Any]:
        return {"probabilities": self.probabilities_}

    def _infer(self, X: Any, offsets: Any, grids: Any, edges: Any,
               image_vectors: Any) -> tuple[Array, dict[str, Any], Any]:
        patches, inputs = self._images(X, offsets, grids, edges, image_vectors, reset=False)
        return patches, inputs, self._call("dlgmm_infer", self.model_, patches, inputs,
                                           self._threads())

    def predict(self, X: Any, *, offsets: Any = None, grids: Any = None,
                edges: Any = None, image_vectors: Any = None) -> Array:
        """Return the cluster of new images.

        Parameters
        ----------
        X : list of array-like, or array-like of shape (n_patches, n_features)
            Patches of the images, as in ``fit``.
        offsets, grids, edges, image_vectors
            As in ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_images,)
        """
        labels: Array = self._infer(X, offsets, grids, edges, image_vectors)[2]["labels"]
        return labels

    def predict_proba(self, X: Any, *, offsets: Any = None, grids: Any = None,
                      edges: Any = None, image_vectors: Any = None) -> Array:
        """Return the probability of every cluster given each image.

        Parameters
        ----------
        X : list of array-like, or array-like of shape (n_patches, n_features)
            Patches of the images, as in ``fit``.
        offsets, grids, edges, image_vectors
            As in ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_images, n_clusters)
            Rows sum to 1.
        """
        probabilities: Array = self._infer(X, offsets, grids, edges, image_vectors)[2]["probabilities"]
        return probabilities

    def word_map(self, i: int) -> Array:
        """Return the words of image ``i`` of those that were fitted.

        Parameters
        ----------
        i : int
            The image, counted from 0; negative numbers count from the last one.

        Returns
        -------
        words : ndarray of shape (n_rows, n_columns), or (n_patches,) without ``grids``
            The most probable word of every patch.
        """
        check_is_fitted(self)
        if self.patch_words_ is None:
            raise ValueError("word_map needs the patches that were fitted, and a run folder does not "
                             "keep them: use words_of(X)")
        n_images = len(self._offsets) - 1
        if not -n_images <= i < n_images:
            raise IndexError(f"i is {i}, must be from {-n_images} to {n_images - 1}: "
                             f"{n_images} images were fitted")
        i %= n_images
        words: Array = self.patch_words_[self._offsets[i]:self._offsets[i + 1]]
        return words if self._grids is None else words.reshape(self._grids[i])

    def words_of(self, X: Any, *, offsets: Any = None, grids: Any = None,
                 edges: Any = None, image_vectors: Any = None) -> Array:
        """Return the most probable word of every patch.

        Parameters
        ----------
        X : list of array-like, or array-like of shape (n_patches, n_features)
            Patches of the images, as in ``fit``.
        offsets, grids, edges, image_vectors
            As in ``fit``.

        Returns
        -------
        words : ndarray of shape (n_patches,)
        """
        patches, inputs, inferred = self._infer(X, offsets, grids, edges, image_vectors)
        return self._array("dlgmm_words", self.model_, patches, inputs,
                          inferred["alpha"], self._threads())

    def transform(self, X: Any, *, offsets: Any = None, grids: Any = None,
                  edges: Any = None, image_vectors: Any = None) -> Array:
        """Return the bag of words of every image.

        Parameters
        ----------
        X : list of array-like, or array-like of shape (n_patches, n_features)
            Patches of the images, as in ``fit``.
        offsets, grids, edges, image_vectors
            As in ``fit``.

        Returns
        -------
        counts : ndarray of shape (n_images, n_words)
            How many patches of the image have each word.
        """
        patches, inputs, inferred = self._infer(X, offsets, grids, edges, image_vectors)
        words = self._call("dlgmm_words", self.model_, patches, inputs, inferred["alpha"],
                           self._threads())
        borders = inputs.get("offsets", np.arange(len(patches) + 1))
        image = np.repeat(np.arange(len(borders) - 1), np.diff(borders))
        counts = np.zeros((len(borders) - 1, len(self.words_)), dtype=np.float32)
        np.add.at(counts, (image, words), 1)
        return counts

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return ``word0``, ``word1``, ...: one name per word.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        return np.array([f"word{i}" for i in range(len(self.words_))], dtype=object)


