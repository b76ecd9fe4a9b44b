# SPDX-License-Identifier: Apache-2.0
"""The baselines on counts of words; _estimators.py adds their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin

from ._base import PredictsRows
from ._rows import RowsEstimator
from ._types import Array


class CountsEstimator(PredictsRows, RowsEstimator):
    """A method of counts: entries are at least 0. Not one of scikit-learn's clusterers, whose checks
    give negative numbers."""

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_positive_X": True}


class _HasProbabilities(CountsEstimator):
    probabilities_: Array

    def _columns(self) -> dict[str, Any]:
        return {"probabilities": self.probabilities_}

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every cluster (or topic) given each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Counts.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            Rows sum to 1.
        """
        X = self._rows(X)
        return self._array(
            f"{self._method}_probabilities", self.model_, X, self._threads())


class BagsBase(TransformerMixin, CountsEstimator):  # type: ignore[misc]
    """k-means of log counts or of tf-idf.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres of the weighted counts.
    idf_ : ndarray of shape (n_features,)
        Inverse document frequencies; ones for log counts.
    """

    _method = "bags"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.cluster_centers_ = arrays["centers"]
        self.idf_ = arrays["idf"]
        self._n_features_out = self.cluster_centers_.shape[1]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return ``bags0``, ``bags1``, ...: one name per weighted count.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        return np.array([f"bags{i}" for i in range(self._n_features_out)], dtype=object)

    def transform(self, X: Any) -> Array:
        """Return the weighted counts that are clustered.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Counts.

        Returns
        -------
        weighted : ndarray of shape (n_samples, n_features)
        """
        X = self._rows(X)
        return self._array(
            "bags_weighted_counts", self.model_, X)


class TopicsBase(TransformerMixin, _HasProbabilities):  # type: ignore[misc]
    """Latent Dirichlet allocation: topics of counts; a row's label is its strongest topic.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Parameters of every topic's Dirichlet distribution over words.

    References
    ----------
    D. Blei, A. Ng and M. Jordan, "Latent Dirichlet allocation", 2003.
    """

    _method = "topics"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.probabilities_ = result["probabilities"]
        self.components_ = arrays["words"]
        self._n_features_out = len(self.components_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return ``topics0``, ``topics1``, ...: one name per topic.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        names : ndarray of str
        """
        return np.array([f"topics{i}" for i in range(self._n_features_out)], dtype=object)

    def transform(self, X: Any) -> Array:
        """Return the mean topic shares of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Counts.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_topics)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}


class MultinomialsBase(_HasProbabilities):
    """Mixture of multinomials.

    Attributes
    ----------
    weights_ : ndarray of shape (n_clusters,)
        Weights of the clusters; they sum to 1.
    components_ : ndarray of shape (n_clusters, n_features)
        Frequencies of the words in every cluster; rows sum to 1.
    """

    _method = "multinomials"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.probabilities_ = result["probabilities"]
        self.weights_ = arrays["weights"]
        self.components_ = arrays["words"]


class JSOMBase(_HasProbabilities):
    """Topics with a prior per cluster: clusters rows of counts and learns their topics.

    Attributes
    ----------
    weights_ : ndarray of shape (n_clusters,)
        Weights of the clusters; they sum to 1.
    priors_ : ndarray of shape (n_clusters, n_topics)
        Dirichlet parameters of the topics in every cluster.
    components_ : ndarray of shape (n_topics, n_features)
        Dirichlet parameters of the words in every topic.

    References
    ----------
    P. Xie and E. Xing, "Integrating image clustering and codebook learning", 2015.
    """

    _method = "jsom"

    def _set_attributes(self, result: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.probabilities_ = result["probabilities"]
        self.weights_ = arrays["weights"]
        self.priors_ = arrays["priors"]
        self.components_ = arrays["words"]
