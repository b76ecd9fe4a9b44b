# SPDX-License-Identifier: Apache-2.0
"""Work on a Dask cluster: features, context rankings, restarts and grids of options.

Every function takes a ``dask.distributed.Client`` and gives what the same work gives on one machine,
bit for bit: tasks are shards whose borders depend on the data alone. A task whose worker dies is run
again by another one. Workers need Milieu, and for ``extract`` a file system that all of them see.

>>> from dask.distributed import Client            # doctest: +SKIP
>>> import milieu.dask                             # doctest: +SKIP
>>> client = Client("scheduler:8786")              # doctest: +SKIP
>>> milieu.dask.extract(client, "photos", "gist", "features", n_shards=64)  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from . import _core, features
from ._base import seed_of
from ._dcp import Candidates, RankedContext

__all__ = ["extract", "fit", "fit_grid", "rank_contexts"]

RETRIES = 3  # of a task that raises; a task whose worker dies is the scheduler's to run again


def extract(client: Any, images: str | os.PathLike[str], feature: str,
            out: str | os.PathLike[str], *, n_shards: int | None = None, patches: bool = False,
            max_side: int = 1024, n_jobs: int = 1) -> features.Written:
    """Write a feature folder on the workers, one task per shard, and merge it.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.
    images, feature, out, patches, max_side
        As in ``milieu.features.write``; all workers must see the folders under these paths.
    n_shards : int, default=None
        How many tasks; None is four per worker. A folder whose shards are not merged yet must be
        continued with the same number.
    n_jobs : int, default=1
        Threads of one task.

    Returns
    -------
    written : milieu.features.Written
        What the merge found.
    """
    count = n_shards or 4 * max(1, len(client.scheduler_info()["workers"]))
    images, out = os.path.abspath(images), os.path.abspath(out)
    tasks = [client.submit(_write_shard, images, feature, out, f"{i}/{count}", patches, max_side,
                           n_jobs, pure=False, retries=RETRIES) for i in range(1, count + 1)]
    client.gather(tasks)
    return features.merge(out)


def _write_shard(images: str, feature: str, out: str, shard: str, patches: bool, max_side: int,
                 n_jobs: int) -> int:
    done = features.write(images, feature, out, shard=shard, patches=patches, max_side=max_side,
                          n_jobs=n_jobs)
    return done.n_images


def rank_contexts(client: Any, estimator: Any, X: Any,
                  contexts: Mapping[Any, Any] | Sequence[Any], *, n_shards: int | None = None,
                  **inputs: Any) -> list[RankedContext]:
    """Rank contexts on the workers, as ``estimator.rank_contexts`` does here.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.
    estimator : DCP
        Its options count; it stays as it is.
    X, contexts, **inputs
        As in ``DCP.rank_contexts``.
    n_shards : int, default=None
        How many tasks; None is four per worker.

    Returns
    -------
    ranking : list of RankedContext
        Best first.
    """
    given = {"sample_weight": None, "memberships": None, "must_link": None, "cannot_link": None}
    unknown = sorted(set(inputs) - set(given))
    if unknown:
        raise TypeError(f"rank_contexts() has no input {unknown[0]!r}, there are: "
                        f"{', '.join(given)}")
    found = estimator._candidates(X, contexts, {**given, **inputs})
    names = list(found.contexts)
    count = min(len(names), n_shards or 4 * max(1, len(client.scheduler_info()["workers"])))
    worker = _on_one_thread(estimator)
    # Held by the scheduler, not scattered: data that only a dead worker had would be lost.
    rows = client.submit(_identity, found.X, pure=False)
    tasks = []
    for i in range(count):
        part = found.part(names[len(names) * i // count:len(names) * (i + 1) // count])
        tasks.append(client.submit(_split, worker, rows, part.contexts, part.samples, part.inputs,
                                   pure=False, retries=RETRIES))
    known = [split for splits in client.gather(tasks) for split in splits]
    ranking: list[RankedContext] = estimator._rank(found, known)
    return ranking


def _identity(value: Any) -> Any:
    return value


def _split(estimator: Any, X: Any, contexts: Any, samples: Any, inputs: Any) -> Any:
    return estimator._split(Candidates(X, contexts, samples, inputs))


def _copy(estimator: Any) -> Any:
    return clone(estimator)


def _on_one_thread(estimator: Any) -> Any:
    """Return an unfitted copy for a worker: tasks share the cores, and the seed is fixed."""
    copy = _copy(estimator).set_params(callback=None, verbose=0)
    own = copy.get_params()
    if "n_jobs" in own:
        copy.set_params(n_jobs=1)
    if "random_state" in own:  # drawn once, for all tasks and for every time that one is run
        copy.set_params(random_state=seed_of(own["random_state"]))
    return copy


def fit(client: Any, estimator: Any, X: Any, y: Any = None, **inputs: Any) -> Any:
    """Fit an estimator, one task per restart; the best restart is run again for the result.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.
    estimator : estimator
        One whose restarts are independent: KModes, Topics, Multinomials, JSOM.
    X, y, **inputs
        As in its ``fit``.

    Returns
    -------
    estimator : estimator
        A fitted copy, equal to ``estimator.fit(X, y)``.
    """
    choice = _core.declarations[estimator._method].get("best_restart")
    if choice is None:
        raise ValueError(f"{type(estimator).__name__} does not run its restarts one by one: fit it "
                         "here, or as one task among others with fit_grid")
    worker = _on_one_thread(estimator)
    rows = client.submit(_identity, X, pure=False)
    tasks = [client.submit(_restart_objective, worker, restart, rows, y, inputs, pure=False,
                           retries=RETRIES) for restart in range(estimator.n_init)]
    objectives = client.gather(tasks)
    best = (max if choice == "highest" else min)(objectives)
    restart = objectives.index(best)  # the first of equals
    fitted = client.submit(_fit_restart, worker, restart, rows, y, inputs, pure=False,
                           retries=RETRIES).result()
    fitted.set_params(**estimator.get_params())
    fitted.summary_["num_restarts"] = estimator.n_init
    return fitted


def _fit_restart(estimator: Any, restart: int, X: Any, y: Any, inputs: dict[str, Any]) -> Any:
    one = _copy(estimator)
    one._restart = restart
    one.fit(X, y, **inputs)
    del one._restart
    return one


def _restart_objective(estimator: Any, restart: int, X: Any, y: Any,
                       inputs: dict[str, Any]) -> float:
    return float(_fit_restart(estimator, restart, X, y, inputs).summary_["objective"])


def fit_grid(client: Any, estimator: Any, grid: Mapping[str, Sequence[Any]], X: Any, y: Any = None,
             **inputs: Any) -> list[Any]:
    """Fit copies of an estimator with every combination of options, one task each.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.
    estimator : estimator
        Any of Milieu's; its other options stay.
    grid : dict of list
        Values to try by name of the option, as in scikit-learn's ``ParameterGrid``.
    X, y, **inputs
        As in its ``fit``.

    Returns
    -------
    fitted : list of estimator
        In the order of ``ParameterGrid(grid)``. Compare them by ``summary_["objective"]`` where it
        is the same quantity, else by a score of your own.
    """
    worker = _on_one_thread(estimator)
    rows = client.submit(_identity, X, pure=False)
    tasks = [client.submit(_fit_options, worker, options, rows, y, inputs, pure=False,
                           retries=RETRIES) for options in ParameterGrid(grid)]
    return list(client.gather(tasks))


def _fit_options(estimator: Any, options: dict[str, Any], X: Any, y: Any,
                 inputs: dict[str, Any]) -> Any:
    return _copy(estimator).set_params(**options).fit(X, y, **inputs)
