# SPDX-License-Identifier: Apache-2.0
"""What users of scikit-learn expect beside the checks: pickle, threads, fork, Ctrl-C, progress."""

import multiprocessing
import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from conftest import blobs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import milieu
from milieu import DCP, GaussianMixture, ICCClassifier, KMeans


def long_fit():
    """A fit of minutes: many restarts that never converge."""
    rng = np.random.default_rng(0)
    return (GaussianMixture(n_components=40, n_init=10000, tol=0, max_iter=1000),
            rng.normal(size=(20000, 16)).astype(np.float32))


def fitted_arrays(estimator):
    return {name: value for name, value in vars(estimator).items()
            if name.endswith("_") and isinstance(value, np.ndarray)}


def test_pickle_keeps_every_array_and_prediction(fitted):
    estimator, X, _, _ = fitted
    again = pickle.loads(pickle.dumps(estimator))
    assert repr(again) == repr(estimator)
    for name, value in fitted_arrays(estimator).items():
        np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)
    if hasattr(estimator, "predict") and type(estimator).__name__ != "CAC":
        np.testing.assert_array_equal(again.predict(X), estimator.predict(X))


def test_damaged_pickle_is_a_clear_error(fitted):
    estimator = fitted[0]
    state = estimator.__getstate__()
    broken = bytearray(state["_model_bytes"])
    broken[len(broken) // 2] ^= 1
    empty = type(estimator).__new__(type(estimator))
    with pytest.raises(ValueError, match="model"):
        empty.__setstate__({**state, "_model_bytes": bytes(broken)})
    with pytest.raises(ValueError, match="model"):
        empty.__setstate__({**state, "_model_bytes": bytes(broken[:40])})


def test_same_seed_same_bits_for_any_number_of_threads(fitted):
    estimator, X, y, inputs = fitted
    if "n_jobs" not in estimator.get_params():
        pytest.skip("the method has no threads")
    again = clone(estimator).set_params(n_jobs=2).fit(X, y, **inputs)
    for name, value in fitted_arrays(estimator).items():
        np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)


def test_random_state_is_the_seed():
    X, _ = blobs()
    one = KMeans(3, random_state=7, n_init=1).fit(X)
    assert one.summary_["seed"] == 7
    np.random.seed(0)
    first = KMeans(3, random_state=None, n_init=1).fit(X).summary_["seed"]
    np.random.seed(0)
    assert KMeans(3, random_state=None, n_init=1).fit(X).summary_["seed"] == first
    state = np.random.RandomState(3)
    assert KMeans(3, random_state=state, n_init=1).fit(X).summary_["seed"] != first


def interrupted(estimator, X, after=0.5):
    """Seconds from SIGINT until fit returns or raises, and what it raised."""
    sent = []

    def send():
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    raised = None
    try:
        estimator.fit(X)
    except KeyboardInterrupt as error:
        raised = error
    ended = time.monotonic()
    thread.join()
    return ended - sent[0], raised


def test_ctrl_c_stops_a_fit_and_leaves_it_unfitted():
    estimator, X = long_fit()
    seconds, raised = interrupted(estimator, X)
    assert raised is not None
    assert seconds < 1.0  # 0.2 s on an idle machine; tests share the cores
    assert not hasattr(estimator, "model_")


def test_ctrl_c_with_keep_partial_keeps_the_result_so_far():
    estimator, X = long_fit()
    seconds, raised = interrupted(estimator.set_params(keep_partial=True), X)
    assert raised is None
    assert seconds < 1.0
    assert estimator.summary_["termination"] == "Cancelled"
    assert estimator.predict(X).shape == (len(X),)


def test_callback_gets_reports_and_may_stop_the_fit():
    X, _ = blobs()
    reports = []
    KMeans(3, n_init=3, callback=reports.append).fit(X)
    assert reports and {"restart", "iteration", "objective"} <= set(reports[0])

    def stop(report):
        raise RuntimeError("enough")

    estimator, big = long_fit()
    with pytest.raises(RuntimeError, match="enough"):
        estimator.set_params(callback=stop).fit(big)


def test_verbose_draws_a_bar_on_stderr_only(capfd):
    X, _ = blobs()
    KMeans(3, verbose=1).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert "KMeans [" in err
    KMeans(3).fit(X)
    assert capfd.readouterr().err == ""


def test_two_threads_fit_at_once():
    X, _ = blobs(n=300)
    expected = KMeans(5).fit(X).labels_
    found = []
    threads = [threading.Thread(target=lambda: found.append(KMeans(5).fit(X).labels_))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for labels in found:
        np.testing.assert_array_equal(labels, expected)


def test_other_threads_run_while_a_fit_runs():
    estimator, X = long_fit()
    estimator.set_params(n_init=1, max_iter=60)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    estimator.fit(X)
    done.set()
    thread.join()
    assert estimator.summary_["seconds"] > 0.05
    assert len(ticks) > estimator.summary_["seconds"] / 0.01 / 10


def fit_in_child(X):
    return KMeans(4, n_jobs=2).fit(X).labels_


def test_forked_children_fit_with_the_same_bits():
    X, _ = blobs(n=2000)
    expected = fit_in_child(X)  # threads of the parent exist before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for labels in pool.map(fit_in_child, [X, X]):
            np.testing.assert_array_equal(labels, expected)


def test_grid_search_and_pipeline():
    X, y = blobs(k=4)
    search = GridSearchCV(make_pipeline(StandardScaler(), ICCClassifier()),
                          {"iccclassifier__bandwidth": [0.05, 0.2]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_output_as_a_data_frame():
    X, _ = blobs()
    frame = pd.DataFrame(X, columns=list("abcd"))
    kmeans = KMeans(3).set_output(transform="pandas").fit(frame)
    assert kmeans.feature_names_in_.tolist() == list("abcd")
    distances = kmeans.transform(frame)
    assert distances.columns.tolist() == ["kmeans0", "kmeans1", "kmeans2"]


def test_warnings_of_a_run_are_python_warnings():
    X = np.ones((20, 2), np.float32)
    with pytest.warns(milieu.MilieuWarning):
        KMeans(3).fit(X)


def test_float32_rows_are_not_copied():
    """A strided slice of a read-only map of 256 MB is fitted in far less memory than its copy."""
    import resource
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        np.save(path, np.zeros((1, 1), np.float32))
        shape = (1_000_000, 64)
        array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        array[::1000] = 1
        array.flush()
        del array
        X = np.load(path, mmap_mode="r")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        milieu._core.kmeans_fit(X[::2, :32], {"num_clusters": 2, "num_restarts": 1,
                                              "max_iterations": 1, "num_threads": 1}, {}, {})
        # The pages of the map count as resident; a copy of the slice would add 64 MB to them.
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 256 * 1024 + 40 * 1024


def test_dcp_in_a_clone_has_the_same_parameters():
    dcp = DCP(n_clusters=3, cost=7)
    assert clone(dcp).get_params() == dcp.get_params()
