# SPDX-License-Identifier: Apache-2.0
"""Milieu groups images, or any feature vectors, by their context.

The estimators follow scikit-learn's conventions:

>>> import numpy as np
>>> from milieu import DCP
>>> rng = np.random.default_rng(0)
>>> X = np.concatenate([rng.normal((-3, 0), 1, (40, 2)), rng.normal((3, 0), 1, (40, 2))])
>>> context = rng.normal((0, 0), 0.5, (40, 2))
>>> sorted(np.bincount(DCP(n_clusters=2).fit(X, context=context).labels_).tolist())
[40, 40]
"""

from __future__ import annotations

from . import _estimators, crf, features, metrics
from ._advise import ClassAdvice, advise
from ._base import MilieuWarning
from ._core import __version__
from ._dcp import RankedContext, Vote
from ._describe import PartLabel, describe
from ._estimators import *  # noqa: F403
from ._explore import Explorer, explore
from ._runs import load

__all__ = ["ClassAdvice", "Explorer", "MilieuWarning", "PartLabel", "RankedContext", "Vote", "__version__",
           "advise", "crf", "describe", "explore", "features", "load", "metrics"]
__all__ += _estimators.__all__
