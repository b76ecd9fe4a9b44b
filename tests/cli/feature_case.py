# SPDX-License-Identifier: Apache-2.0
"""A folder of images and a cache for each test, for tests of features and of images as INPUT."""

import csv

import numpy as np

from images import make_folder
from support import CliTest, environment


class FeatureCase(CliTest):
    """Images in three class folders (photos), and the command that describes them."""

    def setUp(self):
        super().setUp()
        self.paths = make_folder(self.folder / "photos")
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"))

    def run_milieu(self, *arguments, **more):
        return super().run_milieu(*arguments, **{"env": self.env, **more})

    def features(self, feature, *more, source="photos", out="f"):
        return self.succeed("features", source, "--feature", feature, "--out", out, *more)

    def computed(self, feature, *more, **places):
        return self.features(feature, "--json", *more, **places).json()["computed"]

    def load(self, name, out="f"):
        return np.load(self.folder / out / f"{name}.npy")

    def rows(self, out="f"):
        with open(self.folder / out / "images.csv", newline="") as file:
            return list(csv.DictReader(file))
