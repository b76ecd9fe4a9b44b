#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpora of the data readers' fuzzers: small files, valid ones and near misses.

    tests/fuzz/make_corpus.py        writes corpus/<name>/*

Needs nothing but Python. Seeds that a fuzzer found are added by hand beside these, named after the
fault they showed.
"""

import gzip
import io
import pathlib
import struct
import sys
import zipfile

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def npy(descr, shape, data, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    length = "<H" if version == 1 else "<I"
    prefix = 8 + struct.calcsize(length)
    header += " " * (-(prefix + len(header) + 1) % 16) + "\n"
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + struct.pack(length, len(header))
        + header.encode("utf-8" if version == 3 else "latin1")
        + data
    )


def npy_seeds():
    write("npy", "f4", npy("<f4", (3, 2), struct.pack("<6f", 0, 1, 2, 3, float("nan"), 5)))
    write("npy", "f8_big_endian", npy(">f8", (2,), struct.pack(">2d", 1, 1e300)))
    write("npy", "f2_fortran", npy("<f2", (2, 2, 2), struct.pack("<8e", *range(8)), fortran=True))
    write("npy", "u1_images_v2", npy("|u1", (2, 2, 3), bytes(range(12)), version=2))
    write("npy", "i8_v3", npy("<i8", (3, 1), struct.pack("<3q", -1, 0, 2**40), version=3))
    write("npy", "bool", npy("|b1", (4,), bytes([0, 1, 0, 2])))
    write("npy", "bytes_text", npy("|S3", (2,), b"catant"))
    write("npy", "unicode_text", npy("<U2", (2,), "abé ".encode("utf-32-le")))
    write("npy", "complex", npy("<c8", (1,), bytes(8)))
    write("npy", "structured", npy("", (1,), b"").replace(b"''", b"[('a', '<f4')]"))
    write("npy", "overflow", npy("|u1", (2**62, 4), b""))
    write("npy", "no_rows", npy("<f4", (0, 7), b""))
    write("npy", "truncated", npy("<i2", (5,), b"\x01\x02"))


def npz_seeds():
    matrix = npy("<f4", (2, 3), struct.pack("<6f", *range(6)))
    names = npy("<U1", (2,), "ab".encode("utf-32-le"))
    for name, method in (("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as archive:
            for member, content in (("vectors.npy", matrix), ("names.npy", names)):
                archive.writestr(zipfile.ZipInfo(member), content, method)
        write("npz", name, file.getvalue())
    write("npz", "cut", file.getvalue()[:-9])


def onnx_seeds():
    sys.path.insert(0, str(CORPUS.parents[1] / "cli"))
    from networks import FLOAT, network, node, onnx_model, weight
    write("onnx", "mean", onnx_model("GlobalAveragePool"))
    write("onnx", "pooled", network(
        [node("Relu", ["x"], ["m"], name="r"),
         node("GlobalAveragePool", ["m"], ["p"], {"k": [1, 2]}, "g"),
         node("Flatten", ["p"], ["y"], name="f")], (None, 3, None, None)))
    write("onnx", "external", network([node("Mul", ["x", "w"], ["y"])], (1, 8, 8, 3),
                                      [weight("w", FLOAT, [1], file="w.data")]))


def idx(code, extents, data):
    return bytes([0, 0, code, len(extents)]) + struct.pack(f">{len(extents)}I", *extents) + data


def idx_seeds():
    images = idx(8, [2, 1, 3], bytes([1, 2, 3, 255, 5, 6]))
    write("idx", "images", images)
    write("idx", "images.gz", gzip.compress(images, mtime=0))
    write("idx", "two_members.gz", gzip.compress(images[:7], mtime=0) + gzip.compress(images[7:], mtime=0))
    write("idx", "int16", idx(11, [2], struct.pack(">2h", -5, 300)))
    write("idx", "float64", idx(14, [1, 2], struct.pack(">2d", 0.5, 1e300)))
    write("idx", "bomb.gz", gzip.compress(idx(8, [1], bytes(3000)), mtime=0))
    write("idx", "lie.gz", gzip.compress(idx(8, [2**32 - 1, 4], b"x"), mtime=0))


def csv_seeds():
    # The first byte chooses the options, see fuzz_csv.cc.
    write("csv", "header", "\0a,b\n1,2\n3,4.5e-3\n")
    write("csv", "labels", "\1x;kind\r\n1;cat\r\n2;\"dog; big\"\r\n\r\n")
    write("csv", "label_by_number", "\2setosa 5.1 3.5\nvirginica  4.9 3\n")
    write("csv", "label_last", "\3\ufeff5.1\t3.5\tx\n4.9\t3\ty\n")
    write("csv", "row_names", '\0,a,label\n"r ""1""",1,0\nr2,2,1\n')
    write("csv", "comments", "\0# one\n\n1 2\n  3\t4 \n")
    write("csv", "non_finite", "\4nan,-inf\n1e39,+5\n")
    write("csv", "ragged", "\0001,2\n3\n")
    write("csv", "open_quote", '\0001,"2\n3",4\n')
    write("csv", "decimal_comma", "\0001,5;2\n3;4\n")
    write("csv", "blank_line", "\0001\n\n2\n")
    write("csv", "tabs", "\x18a b\tc\n1\t2\n")
    write("csv", "pandas", "\0,0,1\n0,5,6\n1,7,8\n")


def label_seeds():
    write("labels", "numbers", "3\n10\n-1\n3.0\n")
    write("labels", "signs", "1\n-1\n1\n")
    write("labels", "names", "dog\ncat\nliving room\n")
    write("labels", "table", "sample,label\n0,2\na.png,0\n")
    write("labels", "fraction", "1\n0.5\n")
    write("labels", "mixed", "1\nx\n-1\n")
    write("labels", "two_columns", "1,2\n")


def group_seeds():
    banner = "%%MatrixMarket matrix coordinate real general\n"
    write("groups", "lines", "\x314 8\n15,16, 23\n\nx: 42 42\n")
    write("groups", "unknown_samples", b"\xffbeach: 1 2\n\n# no group\n3\n\n")
    write("groups", "out_of_range", "\x020 2\n")
    write("groups", "mtx", "\x03" + banner + "% hello\n4 3 4\n3 2 0.5\n1 3 2\n3 1 1e0\n1 3 1\n")
    write("groups", "mtx_pattern", "\x02" + banner.replace("real", "pattern") + "1 2 2\n1 2\n1 1\n")
    write("groups", "mtx_lie", b"\xff" + (banner + "999999999999 1 0\n").encode())


def selection_seeds():
    write("selection", "numbers", "6,0\n0\n1\n6\n6\n")
    write("selection", "ranges", "0-3,-5--2\n-5\n0\n9\n")
    write("selection", "quoted", '"sand, wet",brick\nbrick\n"sand, wet"\nx\n')
    write("selection", "unknown", "7\n1\n2\n")
    write("selection", "written_differently", "03,1.0\n1\n3\n")


def ranking_seeds():
    split = ('{"name":"a","objective":0.5,"separation":0.25,"confidence":0.75,"agreement":0.75,"stability":0,'
             '"seconds":0.125,"labels":[0,0,1,1]}')
    write("ranking", "one", f'k\n{{"key":"k","splits":[{split}]}}')
    write("ranking", "none", 'k\n{"key":"k","splits":[]}')
    write("ranking", "short_labels", f'k\n{{"key":"k","splits":[{split}]}}'.replace(",1,1", ""))
    write("ranking", "other_key", f'j\n{{"key":"k","splits":[{split}]}}')


def request_seeds():
    write("request", "dcp", '{"method":"dcp","set":{"classes":["a"]},"context":{"rest":true},'
                            '"options":{"num_clusters":2,"seed":3}}')
    write("request", "rows", '{"method":"kmeans","set":{"rows":[0,2,5]},"name":"n","options":{}}')
    write("request", "constraints", '{"method":"dcp","set":{"classes":["a"]},"context":{"rows":[3,4]},'
                                    '"constraints":{"memberships":[[0,1]],"cannot_link":[[1,2]]}}')
    write("request", "ranking", '{"method":"dcp","set":{"classes":["a"]},"rank_contexts":true}')
    write("request", "unknown", '{"method":"dpc","set":{"rows":[99]}}')


def feature_seeds():
    write("feature", "list", "gist,dense-sift:words=400:step=8,lbp")
    write("feature", "network", "onnx:a.onnx:preset=clip:layer=x")
    write("feature", "quoted", 'npy:"a,b:c.npy",tiny')
    write("feature", "unknown", "gits:size=3")


def sizes_seeds():
    for name, text in [("share", "5%-"), ("range", "1-4"), ("each", "2-3,3-4"), ("most", "-60%"),
                       ("wrong", "9-1"), ("exact", "3,3")]:
        write("sizes", name, text)


def run_folder_seeds():
    labels = "sample,label\n" + "".join(f"{i},{i // 5}\n" for i in range(10))
    write("run_folder", "labels", "labels.csv\n" + labels)
    write("run_folder", "few_labels", "labels.csv\nsample,label\n0,1\n")
    write("run_folder", "summary", 'summary.json\n{"method":"dcp","n":10,"sizes":[5,5]}')
    write("run_folder", "options", 'options.json\n{"method":"dcp","options":{}}')
    write("run_folder", "columns", b"columns.safetensors\n" + struct.pack("<Q", 2) + b"{}")


def image_seeds():
    """Needs python3-pil. Tiny, since every prefix of a seed is tried."""

    from PIL import Image

    image = Image.frombytes("RGB", (3, 2), bytes(14 * i for i in range(18)))
    exif = image.getexif()
    exif[0x0112] = 6
    for name, picture, options in [
            ("jpeg", image.convert("L"), {"format": "JPEG", "optimize": True}),
            ("jpeg_progressive", image.convert("L"),
             {"format": "JPEG", "progressive": True, "exif": exif}),
            ("png", image, {"format": "PNG"}),
            ("png_palette", image.convert("P"), {"format": "PNG", "bits": 4}),
            ("png_alpha", image.convert("RGBA"), {"format": "PNG"}),
            ("tiff", image, {"format": "TIFF", "compression": "tiff_lzw"}),
            ("webp", image, {"format": "WEBP", "lossless": True}),
            ("bmp", image, {"format": "BMP"}),
            ("ppm", image, {"format": "PPM"})]:
        file = io.BytesIO()
        picture.save(file, **options)
        write("image", name, file.getvalue())
    write("image", "pgm_text", "P2\n# a\n2 2 9\n0 1 5 9\n")
    write("image", "pbm_lie", "P4 9999999 9999999\n")
    write("image", "png_bomb", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xea\x60\0\0\xea\x60\x08\x02\0\0\0")


if __name__ == "__main__":
    image_seeds()
    npy_seeds()
    npz_seeds()
    onnx_seeds()
    idx_seeds()
    csv_seeds()
    label_seeds()
    group_seeds()
    selection_seeds()
    ranking_seeds()
    request_seeds()
    feature_seeds()
    sizes_seeds()
    run_folder_seeds()
