# SPDX-License-Identifier: Apache-2.0
"""What each method does from Python beside the general contract."""

import numpy as np
import pytest
import scipy.sparse
from conftest import blobs
from sklearn.cluster import KMeans as ReferenceKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as ReferenceMixture

import milieu


def test_kmeans_reaches_the_objective_of_scikit_learn():
    X, _ = blobs(k=6, n=50, d=8)
    ours = milieu.KMeans(6).fit(X)
    theirs = ReferenceKMeans(6, n_init=10, random_state=0).fit(X)
    assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-6)
    assert ours.score(X) == pytest.approx(-ours.inertia_, rel=1e-4)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1


def test_kmeans_by_cosine_is_spherical():
    X, y = blobs(k=4, n=50, d=8)
    X = X + 20 * np.eye(4, 8)[y]
    lengths = 10 ** np.random.default_rng(0).uniform(-2, 2, len(X))
    ours = milieu.KMeans(4, metric="cosine").fit(X * lengths[:, None])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.array_equal(ours.labels_, np.argmax(unit @ ours.cluster_centers_.T, axis=1))
    assert np.linalg.norm(ours.cluster_centers_, axis=1) == pytest.approx(1, rel=1e-6)
    sums = [np.linalg.norm(unit[ours.labels_ == j].sum(axis=0)) for j in range(4)]
    assert ours.inertia_ == pytest.approx(2 * (len(X) - sum(sums)), rel=1e-4)
    assert ours.score(X) == pytest.approx(-ours.inertia_, rel=1e-3)
    assert adjusted_rand_score(ours.labels_, y) == 1


@pytest.mark.parametrize("kind, reference", [("full", "full"), ("diagonal", "diag"),
                                             ("spherical", "spherical"), ("tied", "tied")])
def test_mixture_agrees_with_scikit_learn(kind, reference):
    X, _ = blobs(k=3, n=200)
    ours = milieu.GaussianMixture(3, covariance_type=kind, tol=1e-9).fit(X)
    theirs = ReferenceMixture(3, covariance_type=reference, tol=1e-9, random_state=0).fit(X)
    order = np.argsort(ours.means_[:, 0])
    other = np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(ours.means_[order], theirs.means_[other], atol=1e-3)
    assert ours.covariances_.shape == theirs.covariances_.shape
    if kind != "tied":
        np.testing.assert_allclose(ours.covariances_[order], theirs.covariances_[other], atol=1e-2)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1, atol=1e-9)


def test_groups_as_lists_sparse_and_compressed_rows_are_the_same():
    X, y = blobs(k=4, n=20)
    lists = [list(np.flatnonzero(y == i % 4)[j:j + 5]) for i in range(4) for j in (0, 5, 10, 15)]
    indptr = np.concatenate([[0], np.cumsum([len(group) for group in lists])])
    indices = np.concatenate(lists)
    matrix = scipy.sparse.csr_matrix((np.ones(len(indices)), indices, indptr), (16, 80))
    fits = [milieu.CAC(4, n_phrases=4, n_init=3).fit(X, context_groups=groups)
            for groups in (lists, matrix, (indptr, indices))]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
    assert fits[0].labels_.shape == (16,)
    assert adjusted_rand_score(fits[0].labels_, np.repeat(range(4), 4)) == 1
    assert fits[0].word_labels_.shape == (80,)
    np.testing.assert_array_equal(fits[0].predict(X, context_groups=lists), fits[0].labels_)


def test_one_set_is_split_by_one_context_issue30():
    random = np.random.default_rng(0)
    wide = (random.normal(size=(600, 2)) * [4, 1]).astype(np.float32)
    narrow = (random.normal(size=(300, 2)) * [0.7, 4]).astype(np.float32)
    icc = milieu.ICC(bandwidth=0.08).fit(wide, context=narrow)
    assert list(icc.n_subclasses_) == [2]
    both = milieu.ICC(bandwidth=0.08).fit(np.concatenate([wide, narrow]), np.repeat([0, 1], [600, 300]))
    np.testing.assert_array_equal(icc.labels_, both.labels_[:600])
    np.testing.assert_array_equal(icc.predict(wide), icc.labels_)
    with pytest.raises(ValueError, match="classes or a context, not both"):
        milieu.ICC().fit(wide, np.zeros(600, int), context=narrow)


def test_every_view_has_its_number_of_words_issue30():
    X, y = blobs(k=4, n=30)
    fit = milieu.CAC("5,3", n_phrases=4, n_init=2).fit([X, X[:, :2]])
    assert fit.compositions_.shape[1] == 8
    assert milieu.CAC(3, n_phrases=4, n_init=2).fit([X, X[:, :2]]).compositions_.shape[1] == 6


@pytest.mark.parametrize("kind", ["isomap", "lle"])
def test_surfaces_are_those_of_scikit_learn_issue30(kind):
    from sklearn.datasets import make_swiss_roll
    from sklearn.manifold import Isomap, LocallyLinearEmbedding
    X = make_swiss_roll(300, random_state=0)[0].astype(np.float32)
    icc = milieu.ICC(projection=kind, manifold_neighbors=12).fit(X)
    reference = {"isomap": Isomap, "lle": LocallyLinearEmbedding}[kind]
    places = reference(n_neighbors=12, n_components=2, eigen_solver="dense").fit_transform(X.astype(float))
    ours = icc.transform(X)
    for axis in range(2):
        assert abs(np.corrcoef(ours[:, axis], places[:, axis])[0, 1]) > 0.9999


@pytest.mark.parametrize("groups, message", [
    ([[0, 500]], "500"), ([[0, 0]], "0"), (scipy.sparse.eye(7).tocsr(), "7 columns"),
    (([0, 9], [1]), "offsets|groups"),
])
def test_wrong_groups_are_explained(groups, message):
    X, _ = blobs()
    with pytest.raises(ValueError, match=message):
        milieu.CAC(3).fit(X, context_groups=groups)


def test_cac_takes_links_issue30():
    random = np.random.RandomState(1)
    topics = np.arange(120) % 2
    X = (random.randn(2, 4)[topics] + random.randn(120, 4)).astype(np.float32)
    chance = np.where(topics[:, None] == topics, .1, .01)
    matrix = np.triu(random.rand(120, 120) < chance, 1)
    pairs = np.transpose(matrix.nonzero())
    near = [np.flatnonzero((matrix | matrix.T)[i] | (np.arange(120) == i)) for i in range(120)]
    wanted = milieu.CAC(2, n_phrases=2).fit(X, context_groups=near).labels_
    for links in (pairs, pairs[::-1, ::-1], scipy.sparse.csr_matrix(matrix),
                  scipy.sparse.csr_matrix(matrix | matrix.T)):
        assert (milieu.CAC(2, n_phrases=2).fit(X, links=links).labels_ == wanted).all()
    for links, message in (([[0, 120]], "links names row 120, X has 120 rows"),
                           ([[0., 1.]], "links has type float64"), ([0, 1], "must have two columns"),
                           (scipy.sparse.csr_matrix((3, 4)), r"links has shape \(3, 4\), must be square")):
        with pytest.raises(ValueError, match=message):
            milieu.CAC(2, n_phrases=2).fit(X, links=links)


def test_views_of_the_same_samples():
    X, y = blobs(k=3, n=30)
    views = [X[:, :2], X[:, 2:]]
    cac = milieu.CAC(3, n_phrases=3, n_init=4).fit(views)
    assert cac.labels_.shape == (90,) and cac.word_labels_.shape == (2, 90)
    assert adjusted_rand_score(cac.labels_, y) > 0.9
    assert cac.n_features_in_ == 4
    with pytest.raises(ValueError, match="rows: they must have the same samples"):
        milieu.CAC(3).fit([X, X[:5]])


def test_positions_group_neighbours():
    X, _ = blobs()
    positions = np.random.default_rng(0).random((len(X), 2))
    cac = milieu.CAC(3, n_neighbors=5).fit(X, positions=positions, images=["a"] * 60 + ["b"] * 60)
    assert cac.labels_.shape == (len(X),)


def test_icc_finds_merged_classes_again():
    X, y = blobs(k=4, n=100, d=2, spread=10)
    merged = y % 2
    icc = milieu.ICC().fit(X, merged)
    assert icc.n_subclasses_.sum() == len(icc.maxima_)
    assert adjusted_rand_score(icc.subclass_labels_, y) > 0.8
    assert icc.density_maps_.shape == (2, 100, 100)
    np.testing.assert_array_equal(icc.predict(X, merged), icc.labels_)
    assert icc.transform(X).shape == (400, 2)
    with pytest.raises(ValueError, match="class 7"):
        icc.predict(X, np.full(400, 7))


def test_icc_classifier_takes_names():
    X, y = blobs(k=3, n=40)
    names = np.array(["ape", "bee", "cat"])[y]
    classifier = milieu.ICCClassifier().fit(X, names)
    assert classifier.score(X, names) > 0.95
    assert classifier.predict(X[:1])[0] in ("ape", "bee", "cat")
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


def test_exemplars_bound_their_energy():
    X, y = blobs()
    found = milieu.ExemplarClustering(penalty=60).fit(X)
    assert found.lower_bound_ <= found.energy_
    assert 0 <= found.gap_ < 0.01
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    by_matrix = milieu.ExemplarClustering(metric="precomputed", penalty=60).fit(distances)
    assert adjusted_rand_score(by_matrix.labels_, found.labels_) == 1
    assert by_matrix.energy_ == pytest.approx(found.energy_, rel=1e-5)
    pairs = [(i, j, distances[i, j]) for i in range(len(X)) for j in range(len(X)) if i != j]
    by_lists = milieu.ExemplarClustering(penalty=60).fit(X, lists=pairs)
    assert by_lists.energy_ == pytest.approx(found.energy_, rel=1e-5)
    with pytest.raises(ValueError, match="must be square"):
        milieu.ExemplarClustering(metric="precomputed").fit(X)


def test_learned_distance_ignores_noise():
    rng = np.random.default_rng(0)
    sets = []
    y = np.repeat([0, 1, 2], 15)
    for _ in range(3):
        useful = np.array([(0, 0), (9, 0), (0, 9)])[y] + rng.normal(0, 1, (45, 2))
        sets.append((np.hstack([useful, rng.normal(0, 20, (45, 2))]).astype(np.float32), y))
    learner = milieu.DistanceLearner(max_iter=100).fit(sets)
    assert learner.weights_.shape == (4,)
    assert learner.weights_[:2].min() > 10 * learner.weights_[2:].max()
    X, y = sets[0]
    clustered = milieu.ExemplarClustering(metric=learner).fit(X)
    assert adjusted_rand_score(clustered.labels_, y) > 0.9
    assert learner.grouping_ in ("exemplars", "cut")
    mapped = X @ learner.components_  # rank 0 without a full metric
    expected = ((X[:, None] - X[None]) ** 2) @ learner.weights_
    expected += ((mapped[:, None] - mapped[None]) ** 2).sum(axis=2)
    assert learner.components_.shape[1] > 0
    np.testing.assert_allclose(learner.pairwise(X), expected, rtol=1e-3, atol=1e-2)
    scaled = learner.transform(X)
    np.testing.assert_allclose(((scaled[:, None] - scaled[None]) ** 2).sum(axis=2), expected,
                               rtol=1e-3, atol=1e-2)
    assert len(learner.get_feature_names_out()) == scaled.shape[1]
    told = milieu.ExemplarClustering(metric=learner, grouping="cut", n_clusters=3).fit(X)
    assert adjusted_rand_score(told.labels_, y) > 0.9
    plain = milieu.DistanceLearner(max_iter=100, metric=False, validations=0).fit(sets)
    assert plain.components_.shape == (4, 0) and plain.grouping_ == "exemplars"


def test_sparse_groups_of_the_caller_are_not_changed():
    X, _ = blobs()
    indices = [0, 1, 1, 2, 40, 41, 42, 42]  # rows 1 and 42 twice
    groups = scipy.sparse.csr_matrix((np.ones(8), indices, [0, 4, 8]), (2, len(X)))
    milieu.CAC(2, n_phrases=2).fit(X, context_groups=groups)
    assert groups.indices.tolist() == indices and groups.nnz == 8


def test_dlgmm_clusters_images_by_their_words():
    rng = np.random.default_rng(0)
    words = rng.normal(0, 10, (4, 3))
    images, truth = [], []
    for i in range(40):
        shares = [0.7, 0.1, 0.1, 0.1] if i % 2 else [0.1, 0.1, 0.1, 0.7]
        drawn = rng.choice(4, 30, p=shares)
        images.append((words[drawn] + rng.normal(0, 0.5, (30, 3))).astype(np.float32))
        truth.append(i % 2)
    dlgmm = milieu.DLGMM(4, n_clusters=2).fit(images)
    assert adjusted_rand_score(dlgmm.labels_, truth) > 0.9
    np.testing.assert_array_equal(dlgmm.predict(images), dlgmm.labels_)
    counts = dlgmm.transform(images)
    assert counts.shape == (40, 4) and (counts.sum(axis=1) == 30).all()
    stacked = milieu.DLGMM(4, n_clusters=2).fit(np.concatenate(images),
                                                offsets=np.arange(0, 1201, 30))
    np.testing.assert_array_equal(stacked.labels_, dlgmm.labels_)
    np.testing.assert_allclose(dlgmm.predict_proba(images).sum(axis=1), 1, atol=1e-6)


def test_dlgmm_maps_the_words_of_the_images_it_was_fitted_to():
    rng = np.random.default_rng(1)
    words = np.array([(0, 0), (20, 0), (0, 20)])
    drawn = rng.integers(0, 3, (10, 2, 5))
    images = [(words[image.ravel()] + rng.normal(0, 0.5, (10, 2))).astype(np.float32)
              for image in drawn]
    dlgmm = milieu.DLGMM(3, n_clusters=2).fit(images, grids=[(2, 5)] * 10)
    for i in range(10):
        nearest = np.argmin(((words[:, None] - dlgmm.words_[None]) ** 2).sum(axis=2), axis=1)
        np.testing.assert_array_equal(dlgmm.word_map(i), nearest[drawn[i]])
    np.testing.assert_array_equal(dlgmm.word_map(-1), dlgmm.word_map(9))
    np.testing.assert_array_equal(np.concatenate([dlgmm.word_map(i).ravel() for i in range(10)]),
                                  dlgmm.words_of(images, grids=[(2, 5)] * 10))
    with pytest.raises(IndexError, match="i is 10, must be from -10 to 9"):
        dlgmm.word_map(10)
    assert milieu.DLGMM(3, n_clusters=2).fit(images).word_map(3).shape == (10,)


def test_metrics_of_known_clusterings():
    truth, labels = [0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 0, 2]
    figures = milieu.metrics.all_metrics(truth, labels)
    assert figures["accuracy"] == pytest.approx(5 / 6)
    assert figures["ari"] == pytest.approx(adjusted_rand_score(truth, labels))
    assert milieu.metrics.matched_accuracy(list("aabbcc"), list("xxyyyz")) == pytest.approx(5 / 6)
    assert milieu.metrics.purity(truth, truth) == 1
    with pytest.raises(ValueError):
        milieu.metrics.all_metrics([0, 1], [0])


def test_dlgmm_takes_vectors_of_whole_images():
    random = np.random.default_rng(1)
    images = [random.normal(size=(15, 3)) for _ in range(40)]
    truth = np.arange(40) % 2
    vectors = random.normal(size=(40, 4)) + 6 * truth[:, None]
    dlgmm = milieu.DLGMM(4, n_clusters=2).fit(images, image_vectors=vectors)
    assert adjusted_rand_score(dlgmm.labels_, truth) == 1
    np.testing.assert_array_equal(dlgmm.predict(images, image_vectors=vectors), dlgmm.labels_)
    assert dlgmm.transform(images, image_vectors=vectors).shape == (40, 4)
    with pytest.raises(ValueError, match="fitted on images with vectors"):
        dlgmm.predict(images)
