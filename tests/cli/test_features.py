# SPDX-License-Identifier: Apache-2.0
"""milieu features: rows and files, resuming, changes, bad images."""

import json
import os
import shutil
import signal
import struct
import time
import unittest
import zlib

import numpy as np
from PIL import Image

from feature_case import FeatureCase
from networks import onnx_model
from images import make_folder, make_pixels


class FeaturesTest(FeatureCase):
    def test_one_array_a_feature_with_the_rows_of_images_csv(self):
        out = self.features("tiny:size=8,color").out
        self.assertIn("18 images, 3 classes: 18 computed", out)
        rows = self.rows()
        self.assertEqual([row["path"] for row in rows], self.paths)
        self.assertEqual([row["class"] for row in rows], [p.split("/")[0] for p in self.paths])
        self.assertEqual({(row["width"], row["height"]) for row in rows}, {("48", "48")})
        self.assertEqual(len({row["hash"] for row in rows}), 18)
        tiny, color = self.load("tiny"), self.load("color")
        self.assertEqual((tiny.shape, tiny.dtype, color.shape), ((18, 64), np.float32, (18, 128)))
        np.testing.assert_allclose(color.sum(axis=1), 1, atol=1e-5)
        grey = np.asarray(Image.open(self.folder / "photos" / self.paths[12]).convert("L"), float)
        means = grey.reshape(8, 6, 8, 6).mean(axis=(1, 3)) / 255
        np.testing.assert_allclose(tiny[12].reshape(8, 8), means, atol=0.005)
        record = json.loads((self.folder / "f/features.json").read_text())
        self.assertEqual(record["features"]["tiny"]["options"]["size"], 8)
        self.assertIn("opencv", record["versions"])

    def test_second_run_computes_nothing_and_writes_nothing(self):
        self.features("tiny,dense-sift:words=5")
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "f").iterdir() if p.is_file()}
        self.assertEqual(self.computed("tiny,dense-sift:words=5"), 0)
        self.assertEqual(self.computed("tiny"), 0)
        self.assertIn("nothing has changed", self.features("tiny").out)
        after = {p: p.stat().st_mtime_ns for p in (self.folder / "f").iterdir() if p.is_file()}
        self.assertEqual(before, after)

    def test_changed_new_and_removed_images_are_detected(self):
        self.features("tiny,color")
        first = self.load("tiny")
        Image.fromarray(make_pixels("red", 99)).save(self.folder / "photos" / self.paths[3])
        self.assertEqual(self.computed("tiny"), 1)  # and color is brought up to date with it
        second = self.load("tiny")
        np.testing.assert_array_equal(np.flatnonzero((first != second).any(axis=1)), [3])
        (self.folder / "photos" / self.paths[0]).unlink()
        shutil.copy(self.folder / "photos" / self.paths[5], self.folder / "photos/red/new.png")
        self.features("tiny")
        fresh = self.features("tiny,color", out="fresh")
        self.assertIn("18 images", fresh.out)
        for name in ("tiny", "color"):
            np.testing.assert_array_equal(self.load(name), self.load(name, out="fresh"))
        self.assertEqual(self.rows(), self.rows("fresh"))

    def test_touched_image_is_read_but_not_recomputed(self):
        self.features("tiny")
        os.utime(self.folder / "photos" / self.paths[2], (1, 1))
        self.assertEqual(self.computed("tiny"), 0)

    def test_changed_parameter_is_noticed(self):
        self.features("tiny,color")
        self.assertEqual(self.computed("tiny:size=5"), 18)
        self.assertEqual(self.load("tiny").shape, (18, 25))
        self.assertEqual(self.load("color").shape, (18, 128))
        self.assertEqual(self.computed("tiny:size=5", "--max-side", "20"), 18)

    def test_killed_run_resumes(self):
        make_folder(self.folder / "large", per_class=8, size=1500, ending="jpg")
        self.save("c.npy", np.random.RandomState(0).rand(7, 128).astype(np.float32))
        process = self.start("features", "large", "--feature", "dense-sift:step=3:codebook=c.npy",
                             "--out", "f", "--threads", "1", env=self.env)
        journal = self.folder / "f/.milieu/dense-sift.journal"
        deadline = time.monotonic() + 100
        while process.poll() is None and time.monotonic() < deadline:
            if journal.exists() and journal.read_bytes().count(b"\n") > 3:
                break
            time.sleep(0.002)
        process.kill()
        process.communicate()
        # An image is finished with its line in the list of files, which comes after its rows.
        kept = (self.folder / "f/.milieu/files").read_bytes().count(b"]\n")
        arguments = ("dense-sift:step=3:codebook=c.npy",)
        self.assertEqual(self.computed(*arguments, source="large"), 24 - kept)
        self.features(*arguments, source="large", out="fresh")
        np.testing.assert_array_equal(self.load("dense-sift"), self.load("dense-sift", "fresh"))
        self.assertEqual([p.name for p in (self.folder / "f/.milieu").glob("*.journal")], [])

    def test_interrupt_keeps_finished_images(self):
        make_folder(self.folder / "large", per_class=8, size=1500, ending="jpg")
        self.save("c.npy", np.random.RandomState(0).rand(7, 128).astype(np.float32))
        process = self.start("features", "large", "--feature", "dense-sift:step=2:codebook=c.npy",
                             "--out", "f", "--threads", "1", env=self.env)
        journal = self.folder / "f/.milieu/dense-sift.journal"
        while process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > 2:
                process.send_signal(signal.SIGINT)
                break
            time.sleep(0.002)
        _, err = process.communicate(timeout=100)
        if process.returncode == 130:
            self.assertIn("finished images are kept, the same command resumes", err)
            self.assertGreater(journal.read_bytes().count(b"\n"), 2)
            self.assertIn("is not complete", self.fail_with(1, "kmeans", "f", "-k", "2"))

    def test_incomplete_files_of_a_crash_are_repaired(self):
        self.features("tiny", out="whole")
        self.features("tiny")
        (self.folder / "f/features.json").unlink()  # as if killed before the end
        with open(self.folder / "f/.milieu/files", "ab") as file:
            file.write(b'["red/000.png",12')
        self.write("f/.milieu/tiny.journal", "no key\n")
        self.features("tiny")
        np.testing.assert_array_equal(self.load("tiny"), self.load("tiny", "whole"))

    def test_unreadable_images_are_named_and_skipped(self):
        photos = self.folder / "photos"
        Image.fromarray(make_pixels("red", 1, 300)).save(photos / "red/cut.jpg")
        whole = (photos / "red/cut.jpg").read_bytes()
        (photos / "red/cut.jpg").write_bytes(whole[:len(whole) // 2])
        (photos / "red/words.png").write_text("not an image")
        (photos / "red/empty.png").write_bytes(b"")
        (photos / "red/bomb.png").write_bytes(png_bomb())
        (photos / "red/nowhere.png").symlink_to("gone.png")
        (photos / "notes.txt").write_text("words")
        outcome = self.features("tiny", "--json")
        skipped = {entry["path"]: entry["reason"] for entry in outcome.json()["skipped"]}
        self.assertEqual(sorted(skipped),
                         ["red/bomb.png", "red/cut.jpg", "red/empty.png", "red/words.png"])
        self.assertIn("truncated JPEG", skipped["red/cut.jpg"])
        self.assertIn("60000 x 60000 pixels by its header", skipped["red/bomb.png"])
        for name in [*skipped, "red/nowhere.png", "notes.txt"]:
            self.assertIn(f"skipped {name}:", outcome.err)
        self.assertEqual(self.load("tiny").shape[0], 18)
        again = self.features("tiny", "--json")
        self.assertEqual(again.json()["computed"], 0)
        self.assertIn("skipped red/cut.jpg:", again.err)
        self.assertIn("red/bomb.png is", self.fail_with(1, "features", "photos", "--feature", "tiny",
                                                        "--out", "g", "--strict"))
        self.assertRegex(self.fail_with(1, "features", "photos", "--feature", "tiny", "--out", "f",
                                        "--strict"), "strict")

    def test_folder_without_a_readable_image_fails(self):
        (self.folder / "bad").mkdir()
        self.write("bad/a.png", "not an image")
        self.assertIn("no image in bad could be read",
                      self.fail_with(1, "features", "bad", "--feature", "tiny", "--out", "f"))
        (self.folder / "none").mkdir()
        self.assertIn("none has no images",
                      self.fail_with(1, "features", "none", "--feature", "tiny", "--out", "f"))

    def test_unusual_images_have_rows(self):
        odd = self.folder / "odd"
        odd.mkdir()
        Image.new("L", (1, 1), 7).save(odd / "one.png")
        Image.new("RGB", (60000, 1), (9, 9, 9)).save(odd / "line.png")
        Image.new("RGBA", (30, 20), (9, 9, 9, 0)).save(odd / "clear.png")
        Image.new("P", (30, 20), 3).save(odd / "palette.png")
        Image.fromarray(np.full((20, 30), 30000, np.uint16)).save(odd / "wide.png")
        Image.new("1", (30, 20), 1).save(odd / "bits.png")
        features = "tiny,color,dense-sift:words=3"
        make_folder(odd, per_class=1)
        self.features(features, source="odd")
        self.assertEqual(len(self.rows()), 9)
        self.assertEqual([r["width"] for r in self.rows() if r["path"] == "line.png"], ["60000"])
        for name in ("tiny", "color", "dense-sift"):
            self.assertTrue(np.isfinite(self.load(name)).all())
        index = [r["path"] for r in self.rows()].index("clear.png")
        self.assertEqual(self.load("tiny")[index].min(), 1)  # on white

    def test_symbolic_links_are_followed(self):
        (self.folder / "links").mkdir()
        (self.folder / "links/reds").symlink_to(self.folder / "photos/red")
        self.features("tiny", source="links")
        self.assertEqual({row["class"] for row in self.rows()}, {"reds"})

    def test_list_of_images(self):
        chosen = [self.paths[7], self.paths[1], self.paths[16]]
        self.write("photos/list.txt", "\n".join(chosen) + "\ngone.png\n")
        outcome = self.features("tiny", source="photos/list.txt")
        self.assertEqual([row["path"] for row in self.rows()], chosen)
        self.assertIn("skipped gone.png", outcome.err)
        self.features("tiny", out="all")
        np.testing.assert_array_equal(self.load("tiny"), self.load("tiny", "all")[[7, 1, 16]])
        summary = self.succeed("kmeans", "photos/list.txt", "--feature", "color", "-k", "3",
                               "--json").json()
        self.assertEqual((summary["n"], summary["metrics"]["accuracy"]), (3, 1))

    def test_patches_are_kept_on_request(self):
        self.features("dense-sift:step=16:words=4", "--patches")
        descriptors, frames = self.load("dense-sift.descriptors"), self.load("dense-sift.frames")
        offsets = self.load("dense-sift.offsets")
        self.assertEqual((offsets[0], offsets[-1], len(offsets)), (0, len(descriptors), 19))
        self.assertEqual((descriptors.shape[1], frames.shape), (128, (len(descriptors), 4)))
        counts = self.load("dense-sift") * np.diff(offsets)[:, None]
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-3)
        words = self.load("dense-sift.codebook")
        own = descriptors[offsets[2]:offsets[3]]
        nearest = ((own[:, None] - words[None]) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_allclose(np.bincount(nearest, minlength=4), counts[2], atol=1e-3)
        self.assertEqual(self.computed("dense-sift:step=16:words=4", "--patches"), 0)

    def test_info_describes_the_folder_and_the_options(self):
        self.features("tiny:size=8,color")
        self.assertEqual(self.succeed("info", "f").out,
                         "f: feature folder\n  images: 18 of photos\n  classes: 3\n"
                         "  tiny:size=8: 64 columns\n  color: 128 columns\n")
        self.assertIn("| `size` | `16` | between 1 and 1024 |",
                      self.succeed("info", "--options", "tiny").out)
        self.assertIn("| `num_words` | `200` |", self.succeed("info", "--options", "words").out)

    def test_threads_and_cache_do_not_change_a_number(self):
        spec = "dense-sift:words=9:pca=5:weight=tf-idf:norm=l2:pyramid=2"
        self.features(spec, "--threads", "1", out="one")
        self.features(spec, "--threads", "3", out="three")
        one = self.load("dense-sift", "one")
        np.testing.assert_array_equal(one, self.load("dense-sift", "three"))
        self.assertEqual(one.shape, (18, 45))
        lengths = np.linalg.norm(one, axis=1)
        np.testing.assert_allclose(lengths[lengths > 0], 1, atol=1e-5)

    def test_codebook_of_another_folder_or_run_is_used(self):
        self.features("dense-sift:words=6", "--patches")
        words = self.load("dense-sift.codebook")
        for codebook in ("f", "f/dense-sift.codebook.npy"):
            self.features("dense-sift", "--codebook", codebook, out="g" + codebook[-1])
            np.testing.assert_array_equal(self.load("dense-sift", "g" + codebook[-1]),
                                          self.load("dense-sift"))
        self.succeed("kmeans", "f/dense-sift.descriptors.npy", "-k", "4", "--out", "words")
        self.features("dense-sift", "--codebook", "words", out="h")
        self.assertEqual(self.load("dense-sift", "h").shape, (18, 4))
        self.assertEqual(self.load("dense-sift.codebook", "h").shape, (4, words.shape[1]))
        self.assertIn("no feature of 'tiny' is made of words",
                      self.fail_with(2, "features", "photos", "--feature", "tiny", "--codebook",
                                     "words", "--out", "i"))

    def test_rows_made_elsewhere_are_joined_by_name(self):
        values = np.arange(36, dtype=np.float32).reshape(18, 2)
        order = np.random.RandomState(0).permutation(18)
        self.save("clip.npy", values[order])
        self.write("clip.txt", "".join(self.paths[i] + "\n" for i in order))
        self.features("npy:clip.npy")
        np.testing.assert_array_equal(self.load("npy-clip"), values)
        self.write("short.txt", "one.png\n")
        self.assertIn("short.txt has 1 name, clip.npy has 18 rows",
                      self.fail_with(1, "features", "photos", "--feature",
                                     "npy:clip.npy:names=short.txt", "--out", "g"))
        self.write("bare.txt", "".join(self.paths[i].split("/")[1] + "\n" for i in order))
        self.assertIn("more than once",
                      self.fail_with(1, "features", "photos", "--feature",
                                     "npy:clip.npy:names=bare.txt", "--out", "g"))

    def test_wrong_names_and_options_are_refused(self):
        for list_, message in [
                ("nose", "feature is 'nose', must be one of"),
                ("tiny:sice=3", "feature tiny has no option 'sice': it has size"),
                ("tiny:size=0", "size is 0, must be between 1 and 1024"),
                ("tiny:size=x", "size is 'x'"),
                ("tiny:size", "option size needs a value"),
                ("tiny,tiny:size=3", "feature tiny is listed twice"),
                ("onnx", "feature onnx needs a file"),
                ("onnx:none.onnx", "none.onnx does not exist"),
                ("dense-sift:pca=900", "pca is 900")]:
            code = 1 if "none.onnx" in list_ else 2
            self.assertIn(message, self.fail_with(code, "features", "photos", "--feature", list_,
                                                  "--out", "f"))
        self.assertIn("--feature is missing", self.fail_with(2, "features", "photos", "--out", "f"))
        self.assertIn("--out is missing", self.fail_with(2, "features", "photos", "--feature", "tiny"))
        self.assertIn("photos holds other files",
                      self.fail_with(2, "features", "photos", "--feature", "tiny", "--out", "photos"))

    def test_network_that_cannot_run_names_its_operator(self):
        self.write("odd.onnx", onnx_model("Frobnicate"))
        message = self.fail_with(1, "features", "photos", "--feature", "onnx:odd.onnx", "--out", "f")
        self.assertIn("odd.onnx (opset 13) cannot be run by ONNX Runtime", message)
        self.assertIn("Frobnicate", message)
        self.assertIn("--vectors FILE", message)
        self.write("text.onnx", "no network")
        self.assertIn("text.onnx is not an ONNX model", self.fail_with(
            1, "features", "photos", "--feature", "onnx:text.onnx", "--out", "f"))

    def test_network_gives_its_output(self):
        self.write("mean.onnx", onnx_model("GlobalAveragePool"))
        self.features("onnx:mean.onnx:size=48:scale=1:normalize=false")
        expected = [np.asarray(Image.open(self.folder / "photos" / p), float).mean(axis=(0, 1))
                    for p in self.paths]
        np.testing.assert_allclose(self.load("onnx-mean"), expected, atol=0.01)
        self.features("onnx:mean.onnx:size=48:mean=0.5/0.25/0:std=2:bgr=true:normalize=false", out="g")
        scaled = (np.array(expected)[:, ::-1] / 255 - [0.5, 0.25, 0]) / 2
        np.testing.assert_allclose(self.load("onnx-mean", "g"), scaled, atol=0.001)

    def test_map_of_a_network_is_a_grid_of_patches(self):
        self.write("map.onnx", onnx_model("AveragePool", ints={"kernel_shape": [8, 8],
                                                               "strides": [8, 8]}))
        feature = "onnx-patches:map.onnx:size=48:scale=1:normalize=false:crop=false:words=2"
        self.features(feature, "--patches")
        name = "onnx-patches-map"
        found = self.load(f"{name}.descriptors").reshape(len(self.paths), 36, 3)
        for path, patches in zip(self.paths, found):
            picture = Image.open(self.folder / "photos" / path).convert("RGB")
            pixels = np.asarray(picture, float).reshape(6, 8, 6, 8, 3)
            np.testing.assert_allclose(patches, pixels.mean(axis=(1, 3)).reshape(36, 3), atol=0.01)
        frames = self.load(f"{name}.frames").reshape(len(self.paths), 36, 4)
        self.assertLess(frames[0, 0, 1], frames[0, 35, 1])
        # DLGMM takes them as its patches, grid and all.
        summary = self.succeed("dlgmm", "f", "--words", "4", "--clusters", "2", "--bands", "2",
                               "--gamma", "0.1", "--json").json()
        self.assertEqual(summary["n"], len(self.paths))
        self.assertEqual(sum(summary["sizes"]), len(self.paths))

    def test_network_without_a_map_gives_no_patches(self):
        self.write("flat.onnx", onnx_model("Flatten"))
        self.assertIn("gives an output of 1 x 6912, patches need a map", self.fail_with(
            1, "features", "photos", "--feature", "onnx-patches:flat.onnx:size=48", "--out", "f"))


def png_bomb():
    """60,000 x 60,000 pixels in a file of a thousand bytes."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b""))


if __name__ == "__main__":
    unittest.main()
