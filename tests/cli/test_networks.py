# SPDX-License-Identifier: Apache-2.0
"""Networks as features: small made ones, and those of the shared folder, where it is present, beside
onnxruntime-node and Pillow."""

import csv
import json
import random
import resource
import subprocess
import unittest

import numpy as np
from images import make_folder
from networks import DATA, FLOAT, INT64, MODELS, SOURCE, network, node, onnx_model, weight
from PIL import Image
from support import CliTest, environment

ORACLE = SOURCE / "build" / "onnxruntime-node"
IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class NetworkTest(CliTest):
    def setUp(self):
        super().setUp()
        self.env = environment(MILIEU_CACHE=str(self.folder / "cache"))
        runtime = self.succeed("info", "--json").json()["networks"]
        if not runtime.startswith("ONNX Runtime"):
            self.skipTest(runtime)

    def run_milieu(self, *arguments, **more):
        return super().run_milieu(*arguments, **{"env": self.env, **more})

    def features(self, feature, *more, source="photos", out="f"):
        return self.succeed("features", source, "--feature", feature, "--out", out, *more)

    def load(self, out="f", part=""):
        """The only feature of the folder, or a part of it: descriptors, grids, ..."""
        (found,) = [path for path in (self.folder / out).glob("onnx*.npy")
                    if path.name.split(".")[1:-1] == [part] * bool(part)]
        return np.load(found)

    def save_photos(self, pixels, folder="photos"):
        (self.folder / folder).mkdir()
        for i, image in enumerate(pixels):
            Image.fromarray(image).save(self.folder / folder / f"{i:03}.png")


class MadeNetworks(NetworkTest):
    def test_scaled_images_are_those_of_pillow(self):
        noise = np.random.RandomState(3)
        shapes = [(100, 60), (61, 200), (48, 48), (300, 41), (20, 31)]
        photos = [noise.randint(0, 256, (h, w, 3)).astype(np.uint8) for w, h in shapes]
        self.save_photos(photos)
        self.write("same.onnx", onnx_model("Identity"))
        filters = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
        for name, number in filters.items():
            self.features(f"onnx:same.onnx:scale=1:normalize=false:pool=flat:crop=false:interpolation={name}",
                          out=name)
            for pixels, row in zip(photos, self.load(name)):
                expected = np.asarray(Image.fromarray(pixels).resize((48, 48), number), float)
                found = row.reshape(3, 48, 48).transpose(1, 2, 0)
                self.assertLessEqual(np.abs(found - expected).max(), 1, f"{name} {pixels.shape}")
                self.assertLess(np.mean(found != expected), 0.001, f"{name} {pixels.shape}")

    def test_the_centre_is_cropped_as_torchvision_does_it(self):
        pixels = np.random.RandomState(4).randint(0, 256, (75, 130, 3)).astype(np.uint8)
        self.save_photos([pixels])
        self.write("same.onnx", onnx_model("Identity"))
        self.features("onnx:same.onnx:scale=1:normalize=false:pool=flat:resize=55")
        scaled = Image.fromarray(pixels).resize((55 * 130 // 75, 55), Image.BILINEAR)
        left, top = round((scaled.width - 48) / 2), round((55 - 48) / 2)
        expected = np.asarray(scaled.crop((left, top, left + 48, top + 48)), float)
        found = self.load()[0].reshape(3, 48, 48).transpose(1, 2, 0)
        self.assertLessEqual(np.abs(found - expected).max(), 1)

    def test_channels_last_and_several_outputs(self):
        make_folder(self.folder / "photos", per_class=2)
        self.write("last.onnx", network(
            [node("ReduceMean", ["x"], ["y"], {"axes": [1, 2]}, "mean"),
             node("ReduceMax", ["x"], ["z"], {"axes": [1, 2]}, "max")],
            (None, 48, 48, 3), outputs=("y", "z")))
        self.features("onnx:last.onnx:scale=1:normalize=false")
        self.features("onnx:last.onnx:scale=1:normalize=false:layer=z", out="g")
        with open(self.folder / "f/images.csv", newline="", encoding="utf-8") as file:
            paths = [row["path"] for row in csv.DictReader(file)]
        images = [np.asarray(Image.open(self.folder / "photos" / p).convert("RGB"), float) for p in paths]
        np.testing.assert_allclose(self.load(), [i.mean(axis=(0, 1)) for i in images], atol=0.01)
        np.testing.assert_array_equal(self.load("g"), [i.max(axis=(0, 1)) for i in images])

    def test_weights_in_a_file_of_their_own_belong_to_the_checksum(self):
        make_folder(self.folder / "photos", per_class=1)
        self.write("scaled.onnx", network(
            [node("GlobalAveragePool", ["x"], ["p"], name="pool"), node("Mul", ["p", "w"], ["y"])],
            (1, 3, 48, 48), [weight("w", FLOAT, [1], file="scaled.data")]))
        feature = "onnx:scaled.onnx:scale=1:normalize=false"
        self.assertIn("scaled.data, which is not there",
                      self.fail_with(1, "features", "photos", "--feature", feature, "--out", "f"))
        self.write("scaled.data", np.float32(2).tobytes())
        self.features(feature)
        twice = self.load()
        self.write("scaled.data", np.float32(3).tobytes())
        self.assertEqual(self.features(feature, "--json").json()["computed"], 3)
        np.testing.assert_allclose(self.load(), twice * 1.5, rtol=1e-6)

    def test_a_preprocessor_config_beside_the_model_is_followed(self):
        make_folder(self.folder / "photos", per_class=1)
        (self.folder / "net").mkdir()
        self.write("net/model.onnx", onnx_model("GlobalAveragePool", sizes=(None, 3, None, None)))
        self.write("net/preprocessor_config.json", json.dumps(
            {"size": {"height": 48, "width": 48}, "resample": 3, "rescale_factor": 1 / 255,
             "image_mean": [0.5, 0.25, 0], "image_std": [0.5, 0.5, 0.25]}))
        self.features("onnx:net/model.onnx:normalize=false")
        self.features("onnx:net/model.onnx:preset=unit:size=48:normalize=false", out="g")
        np.testing.assert_allclose(self.load(), (self.load("g") - [0.5, 0.25, 0]) / [0.5, 0.5, 0.25],
                                   atol=1e-5)

    def test_tokens_are_patches_without_the_class_token(self):
        make_folder(self.folder / "photos", per_class=2)
        self.write("tokens.onnx", network(
            [node("AveragePool", ["x"], ["a"], {"kernel_shape": [8, 8], "strides": [8, 8]}, "a"),
             node("Reshape", ["a", "s"], ["b"], name="b"),
             node("Transpose", ["b"], ["c"], {"perm": [0, 2, 1]}, "c"),
             node("Concat", ["k", "c"], ["t"], {"axis": 1}, "t"),
             node("Gather", ["t", "i"], ["y"], {"axis": 1}, "class")],
            (1, 3, 48, 48),
            [weight("s", INT64, [3], np.array([1, 3, 36], np.int64).tobytes()),
             weight("i", INT64, [], np.int64(0).tobytes()),
             weight("k", FLOAT, [1, 1, 3], np.float32([7, 8, 9]).tobytes())]))
        self.write("map.onnx", onnx_model("AveragePool", {"kernel_shape": [8, 8], "strides": [8, 8]}))
        for name in ("tokens", "map"):
            self.features(f"onnx-patches:{name}.onnx:normalize=false:words=2", "--patches", out=name)
        for part in ("descriptors", "frames", "grids"):
            np.testing.assert_array_equal(self.load("tokens", part), self.load("map", part))
        self.features("onnx:tokens.onnx:normalize=false:layer=t", out="class")
        np.testing.assert_array_equal(self.load("class"), np.tile([7, 8, 9], (6, 1)))
        # Straight into the methods that take patches.
        feature = "onnx-patches:tokens.onnx"
        clusters = self.succeed("dlgmm", "photos", "--feature", feature, "--words", "4", "--clusters", "2",
                                "--bands", "2", "--gamma", "0.1", "--json").json()
        self.assertEqual(clusters["n"], 6)
        bags = self.succeed("bags", "photos", "--feature", feature + ":words=5", "-k", "2", "--json").json()
        self.assertEqual((bags["n"], bags["d"]), (6, 5))

    def test_the_number_of_threads_changes_no_bit(self):
        make_folder(self.folder / "photos", per_class=4)
        self.write("map.onnx", onnx_model("AveragePool", {"kernel_shape": [8, 8], "strides": [4, 4]}))
        for threads in (1, 2, 5):
            self.features("onnx-patches:map.onnx:words=4", "--patches", "--threads", str(threads),
                          out=f"t{threads}")
        for threads in (2, 5):
            for file in (self.folder / "t1").glob("*.npy"):
                self.assertEqual(file.read_bytes(), (self.folder / f"t{threads}" / file.name).read_bytes())

    def test_a_missing_runtime_is_named(self):
        make_folder(self.folder / "photos", per_class=1)
        self.write("mean.onnx", onnx_model("GlobalAveragePool"))
        self.env["MILIEU_ONNXRUNTIME"] = "none.so"
        error = self.fail_with(1, "features", "photos", "--feature", "onnx:mean.onnx", "--out", "f")
        self.assertIn("ONNX Runtime, which runs networks, cannot be loaded", error)
        self.assertIn("MILIEU_ONNXRUNTIME=FILE", error)


class RealNetworks(NetworkTest):
    def setUp(self):
        super().setUp()
        if not MODELS.is_dir():
            self.skipTest(f"the networks are not there: {MODELS}")

    def oracle(self, model, images, half):
        """The first output for images N x 3 x H x W, one by one."""
        if not (ORACLE / "node_modules").is_dir():
            self.skipTest("onnxruntime-node is not there: run scripts/setup test")
        rows = []
        for image in images:
            kind = np.float16 if half else np.float32
            (self.folder / "in.raw").write_bytes(image.astype(kind).tobytes())
            subprocess.run([SOURCE / "scripts/web", "node", SOURCE / "tests/cli/onnx_oracle.mjs",
                            ORACLE, model, self.folder / "in.raw", self.folder / "out.raw",
                            "float16" if half else "float32", "1", *map(str, image.shape)], check=True)
            rows.append(np.frombuffer((self.folder / "out.raw").read_bytes(), kind).astype(np.float32))
        return np.array(rows)

    def test_numbers_are_those_of_onnxruntime_node(self):
        noise = np.random.RandomState(5)
        photos = [noise.randint(0, 256, (260, 300, 3)).astype(np.uint8),
                  np.asarray(Image.fromarray(noise.randint(0, 256, (9, 7, 3)).astype(np.uint8)).resize(
                      (250, 320), Image.BICUBIC))]
        self.save_photos(photos)
        for model in sorted(MODELS.glob("*.onnx")):
            side = 244 if "int8" in model.name else 224
            shorter = round(side * 256 / 224)
            inputs = []
            for pixels in photos:
                image = Image.fromarray(pixels)
                w, h = image.size
                size = (shorter, shorter * h // w) if w < h else (shorter * w // h, shorter)
                image = image.resize(size, Image.BILINEAR)
                left, top = round((size[0] - side) / 2), round((size[1] - side) / 2)
                image = np.asarray(image.crop((left, top, left + side, top + side)), float)
                inputs.append(((image * (1 / 255) - IMAGENET_MEAN) / IMAGENET_STD).transpose(2, 0, 1))
            expected = self.oracle(model, inputs, "fp16" in model.name)
            self.features(f"onnx:{model}:preset=imagenet:normalize=false", out=model.stem)
            error = np.abs(self.load(model.stem) - expected).max() / np.abs(expected).max()
            self.assertLess(error, 1e-5, model.name)

    def test_six_known_images_get_their_label(self):
        known = {"revolver": "revolver", "scorpion": "scorpion", "soccer_ball": "soccer ball",
                 "trilobite": "trilobite", "butterfly": "monarch", "camera": "reflex camera"}
        (self.folder / "photos").mkdir()
        for name in known:
            image = DATA / "caltech101" / name / "image_0001.jpg"
            if not image.exists():
                self.skipTest(f"the images are not there: {image}")
            (self.folder / "photos" / f"{name}.jpg").symlink_to(image)
        labels = (MODELS / "imagenet_labels.txt").read_text().splitlines()
        for model in ("mobilenetv2_tv_fp32", "mobilenetv2_tv_int8_qdq"):
            self.features(f"onnx:{MODELS}/{model}.onnx:preset=imagenet", out=model)
            for name, row in zip(sorted(known), self.load(model)):
                self.assertTrue(labels[row.argmax() + 1].startswith(known[name]), f"{model} {name}")

    def test_maps_and_tokens_are_patches(self):
        make_folder(self.folder / "photos", per_class=2)
        for model, layer, grid, channels in [
                ("mobilenetv2_tv_embed_fp32", "", 7, 1280),
                ("mobilenetv2_tv_embed_fp32", ":layer=onnx_node!Relu_706", 7, 1280),
                ("squeezenet_fp16", "", 13, 1000), ("vit_micro_random_dynamic", "", 16, 96),
                ("vit_micro_random_ln17", "", 16, 96)]:
            out = f"{model}{len(layer)}"
            self.features(f"onnx-patches:{MODELS}/{model}.onnx{layer}:words=3:preset=imagenet", "--patches",
                          out=out)
            self.assertEqual(self.load(out, "descriptors").shape, (6 * grid * grid, channels))
            np.testing.assert_array_equal(self.load(out, "grids"), np.full((6, 2), grid))
        pooled, mean = "mobilenetv2_tv_embed_fp32", 49
        self.features(f"onnx:{MODELS}/{pooled}.onnx:normalize=false", out="whole")
        self.features(f"onnx-patches:{MODELS}/{pooled}.onnx:normalize=false:words=3", "--patches", out="part")
        patches = self.load("part", "descriptors").reshape(6, mean, 1280)
        whole = np.load(self.folder / "whole" / f"onnx-{pooled}.npy")
        np.testing.assert_allclose(patches.mean(axis=1), whole, atol=1e-4)

    def test_hostile_copies_are_messages(self):
        make_folder(self.folder / "photos", per_class=1, classes=["red"])
        models = [(MODELS / f"{name}.onnx").read_bytes() for name in
                  ("vit_micro_random_ln17", "vit_micro_random_dynamic", "squeezenet_fp16")]
        chance = random.Random(11)
        for round_ in range(40):
            data = bytearray(chance.choice(models))
            if round_ % 4 == 0:
                data = data[:chance.randrange(len(data))]
            for _ in range(chance.choice([1, 3, 10])):
                at = chance.randrange(min(len(data), 20000))
                data[at] = chance.randrange(256)
            self.write("hostile.onnx", bytes(data))
            outcome = self.run_milieu("features", "photos", "--feature", "onnx:hostile.onnx:normalize=false",
                                      "--out", f"f{round_}")
            self.assertIn(outcome.code, (0, 1, 2), outcome.err)
            if outcome.code:
                self.assertRegex(outcome.err, r"^milieu: (hostile\.onnx|.*layer|no image)", outcome.err)
                self.assertNotIn("internal error", outcome.err)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 2 << 20)


if __name__ == "__main__":
    unittest.main()
