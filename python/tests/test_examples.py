# SPDX-License-Identifier: Apache-2.0
"""The gallery: every example runs, its context method beats its baseline, and it leaves a picture."""

import pathlib
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
sys.path.insert(0, str(EXAMPLES))


def run(name, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    results = __import__(name).main(str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    return results


def test_two_contexts_give_two_splits(tmp_path):
    results = run("dcp_two_contexts", tmp_path)
    assert min(results.values()) > 0.9  # k-means has one split only: at most one factor is right


def test_strings_are_split_by_what_the_context_lies_between(tmp_path):
    results = run("dcp_strings", tmp_path)
    assert min(results.values()) > 0.9  # two factors, one k-means


def test_neighbours_give_regions(tmp_path):
    results = run("cac_mosaic", tmp_path)
    assert results["cac"] > results["k-means"] + 0.2


def test_other_class_keeps_sub_classes_apart(tmp_path):
    results = run("icc_subclasses", tmp_path)
    assert results["subclasses"] == [3, 1]
    assert results["icc"] > results["lda"] + 0.1


def test_learned_distance_beats_k_means_that_is_told_the_number(tmp_path):
    results = run("learn_distance", tmp_path)
    assert results["learned"] > results["k-means"]


def test_words_and_clusters_are_found_together(tmp_path):
    results = run("dlgmm_codebook", tmp_path)
    assert results["dlgmm"] > results["k-means of pixels"]
