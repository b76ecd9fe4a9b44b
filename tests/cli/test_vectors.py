# SPDX-License-Identifier: Apache-2.0
"""Vectors computed elsewhere for the images of a folder, and the network that a user has set up once."""

import json
import unittest

import numpy as np
from explorer import Explorer
from images import make_folder
from networks import network, node, onnx_model
from support import CliTest, environment


def write_safetensors(path, array, names):
    header = json.dumps({"__metadata__": {"names": "\n".join(names)},
                         "vectors": {"dtype": "F32", "shape": array.shape,
                                     "data_offsets": [0, array.nbytes]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())


class VectorsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"),
                               XDG_CONFIG_HOME=str(self.folder / "config"))
        self.paths = make_folder(self.folder / "photos")
        classes = np.repeat(np.arange(3), 6)
        noise = np.random.RandomState(1).normal(size=(18, 4)) / 10
        self.vectors = (np.eye(3, 4)[classes] + noise).astype(np.float32)
        self.save("v.npy", self.vectors)

    def run_milieu(self, *arguments, **more):
        return super().run_milieu(*arguments, **{"env": self.env, **more})

    def kmeans(self, *arguments):
        return self.succeed("kmeans", "photos", "-k", "3", "--json", *arguments).json()

    def test_rows_belong_to_the_sorted_images(self):
        summary = self.kmeans("--vectors", "v.npy", "--out", "run")
        self.assertEqual((summary["n"], summary["d"]), (18, 4))
        self.assertEqual(summary["metrics"]["accuracy"], 1)
        lines = (self.folder / "run/labels.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines[1:]], self.paths)
        self.assertIn("Images of each cluster", (self.folder / "run/report.html").read_text())
        self.assertEqual(json.loads((self.folder / "run/options.json").read_text())["input"],
                         {"path": "photos", "vectors": "v.npy"})
        again = self.succeed("predict", "run", "photos", "--vectors", "v.npy", "--json").json()
        self.assertEqual(again["sizes"], summary["sizes"])
        self.assertIn("--vectors", self.fail_with(2, "predict", "run", "photos"))

    def test_every_format_gives_the_same(self):
        order = np.random.RandomState(2).permutation(18)
        names = [self.paths[i] for i in order]
        mixed = self.vectors[order]
        self.save("mixed.npy", mixed)
        self.write("names.txt", "\n".join(names) + "\n")
        np.savez(self.folder / "stored.npz", vectors=mixed, names=names)
        np.savez_compressed(self.folder / "packed.npz", embeddings=mixed.astype(np.float64),
                            other=np.zeros((2, 2)), paths=[f"photos/{name}" for name in names])
        write_safetensors(self.folder / "v.safetensors", mixed, names)
        self.write("absolute.txt", "\n".join(str(self.folder / "photos" / name) for name in names) + "\n")
        expected = self.kmeans("--vectors", "v.npy")
        expected.pop("seconds")
        for more in (["mixed.npy", "--vector-names", "names.txt"], ["mixed.npy", "--vector-names", "absolute.txt"], ["stored.npz"], ["packed.npz"],
                     ["v.safetensors"]):
            found = self.kmeans("--vectors", *more)
            found.pop("seconds")
            self.assertEqual(found, expected, more)

    def test_mismatches_are_explained(self):
        self.save("short.npy", self.vectors[:-1])
        self.assertIn("short.npy has 17 rows, photos has 18 images, from blobs/000.png to stripes/005.png",
                      self.fail_with(1, "kmeans", "photos", "-k", "3", "--vectors", "short.npy"))
        self.write("some.txt", "".join(f"{path}\n" for path in self.paths[:-1]) + "none.png\n")
        outcome = self.succeed("kmeans", "photos", "-k", "3", "--vectors", "v.npy", "--vector-names",
                               "some.txt", "--json").json()
        self.assertEqual(outcome["n"], 17)
        self.assertIn("1 of 18 images have no row", " ".join(outcome["warnings"]))
        self.assertIn("give only one of --vectors and --feature",
                      self.fail_with(2, "kmeans", "photos", "-k", "3", "--vectors", "v.npy", "--feature",
                                     "tiny"))
        self.assertIn("v.npy is not an image folder",
                      self.fail_with(2, "kmeans", "v.npy", "-k", "3", "--vectors", "v.npy"))
        self.assertIn("dlgmm takes patches",
                      self.fail_with(2, "dlgmm", "photos", "--vectors", "v.npy", "--clusters", "2"))

    def test_every_method_of_rows_takes_them(self):
        for command in (["dcp", "photos", "--select", "red", "--context-select", "blobs", "-k", "2"],
                        ["icc", "photos"], ["exemplar", "photos", "-k", "3"], ["gmm", "photos", "-k", "3"],
                        ["ncut", "photos", "-k", "3"], ["agglomerative", "photos", "-k", "3"]):
            summary = self.succeed(*command, "--vectors", "v.npy", "--json").json()
            self.assertEqual(summary["d"], 4, command)

    def test_exemplar_learn_takes_one_file_per_set(self):
        make_folder(self.folder / "more", per_class=4)
        noise = np.random.RandomState(5).normal(size=(12, 4)) / 10
        self.save("w.npy", (np.eye(3, 4)[np.repeat(np.arange(3), 4)] + noise).astype(np.float32))
        learn = ["exemplar", "learn", "photos", "more", "--vectors", "v.npy", "--vectors", "w.npy"]
        summary = self.succeed(*learn, "--out", "distance", "--json").json()
        self.assertEqual(summary["n"], 30)
        recorded = json.loads((self.folder / "distance/options.json").read_text())["input"]
        self.assertEqual(recorded["vectors"], "v.npy\nw.npy")
        found = self.succeed("exemplar", "more", "--vectors", "w.npy", "--model", "distance",
                             "--json").json()
        self.assertEqual(found["metrics"]["accuracy"], 1)
        # The same learned from the arrays themselves, by the same candidate distances.
        for name, count in (("v", 6), ("w", 4)):
            self.save(f"{name}_labels.npy", np.repeat(np.arange(3), count))
        rows = self.succeed("exemplar", "learn", "v.npy:v_labels.npy", "w.npy:w_labels.npy",
                            "--distance", "squared-euclidean,l1,rbf", "--json").json()
        self.assertEqual(rows["objective"], self.succeed(
            *learn, "--distance", "squared-euclidean,l1,rbf", "--json").json()["objective"])
        self.assertIn("--vectors is given 1 time for 2 training sets",
                      self.fail_with(2, *learn[:6]))
        self.assertIn("more has 2 columns, photos has 4", self.fail_with(1, *learn[:6], "--vectors",
                                                           self.narrow()))
        self.assertIn("give the vectors themselves as TRAIN", self.fail_with(
            2, "exemplar", "learn", "v.npy:v_labels.npy", "--vectors", "v.npy"))

    def narrow(self):
        self.save("narrow.npy", np.zeros((12, 2), np.float32))
        return "narrow.npy"

    def test_the_explorer_takes_them(self):
        explorer = Explorer(self, "photos", "--vectors", "v.npy", env=self.env)
        state = explorer.get("/api/collection").json()
        self.assertEqual(state["n"], 18)
        run = explorer.start_run(method="kmeans", set={"rows": list(range(18))}, options={"num_clusters": 3})
        for _ in explorer.events(run):
            pass
        self.assertEqual(explorer.get(f"/api/runs/{run}").json()["summary"]["d"], 4)

    def test_a_configured_network_is_the_default_feature(self):
        self.assertEqual(self.kmeans()["d"], 512)  # none is configured: gist
        self.write("mean.onnx", onnx_model("GlobalAveragePool"))
        self.env["MILIEU_NETWORK"] = "mean.onnx:normalize=false"
        direct = self.kmeans("--out", "run")
        self.assertEqual(direct["d"], 3)
        options = json.loads((self.folder / "run/options.json").read_text())
        self.assertEqual(options["input"]["feature"], "onnx:mean.onnx:normalize=false")
        self.succeed("features", "photos", "--out", "f")
        self.assertEqual(np.load(self.folder / "f/onnx-mean.npy").shape, (18, 3))
        self.assertEqual(self.kmeans("--feature", "tiny:size=2")["d"], 4)
        self.assertEqual(self.kmeans("--vectors", "v.npy")["d"], 4)
        # Methods of patches and of words take its map.
        self.write("map.onnx", network(
            [node("AveragePool", ["x"], ["m"], {"kernel_shape": [8, 8], "strides": [8, 8]}, "m"),
             node("GlobalAveragePool", ["m"], ["y"], name="p")], (1, 3, 48, 48)))
        self.env["MILIEU_NETWORK"] = ""
        (self.folder / "config/milieu").mkdir(parents=True)
        self.write("config/milieu/config", "network = ../../map.onnx  # the default\n")
        self.assertEqual(self.kmeans()["d"], 3)
        bags = self.succeed("bags", "photos", "-k", "3", "--json").json()
        self.assertEqual(bags["d"], 200)
        images = self.succeed("dlgmm", "photos", "--words", "4", "--clusters", "2", "--json").json()
        self.assertEqual(images["n"], 18)


if __name__ == "__main__":
    unittest.main()
