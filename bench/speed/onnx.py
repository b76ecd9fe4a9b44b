#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks: images per second of `milieu features --feature onnx:MODEL` beside OpenCV's dnn and
onnxruntime-node, from JPEG files to vectors, on one and on two threads.

    bench/speed/onnx.py [--models DIR] [--data DIR] [--count N] [--repeat R] [--json FILE]

The networks are those of ../shared/models, the images those of ../shared/data/caltech101 (MILIEU_MODELS
and MILIEU_DATA name other places). node has no decoder of images: its time is that of Pillow, which
decodes and scales the images (divided by the threads), and its own; it is shown alone, too. Where OpenCV
cannot read a network there is a dash.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import common  # noqa: E402

NETWORKS = ("mobilenetv2_tv_embed_fp32", "mobilenetv2_google_embed_fp32", "mobilenetv2_tv_int8_qdq",
            "squeezenet_fp16", "vit_micro_random_dynamic", "vit_micro_random_ln17")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def side_of(model):
    return 244 if "int8" in str(model) else 224


def prepare_by_pillow(paths, side):
    """The images as the networks take them; N x 3 x side x side, float32."""
    import numpy as np
    from PIL import Image
    shorter = round(side * 256 / 224)
    out = np.empty((len(paths), 3, side, side), np.float32)
    for i, path in enumerate(paths):
        image = Image.open(path).convert("RGB")
        w, h = image.size
        image = image.resize((shorter, shorter * h // w) if w < h else (shorter * w // h, shorter),
                             Image.BILINEAR)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        pixels = np.asarray(image.crop((left, top, left + side, top + side)), np.float32)
        out[i] = ((pixels / 255 - MEAN) / STD).transpose(2, 0, 1)
    return out


def run_opencv(model, folder, threads):
    """Prints the seconds that OpenCV needs, or null when it cannot read the network."""
    import cv2
    import numpy as np
    cv2.setNumThreads(threads)
    side = side_of(model)
    shorter = round(side * 256 / 224)
    try:
        net = cv2.dnn.readNetFromONNX(model)
        net.setInput(np.zeros((1, 3, side, side), np.float32))
        net.forward()
    except cv2.error:
        print(json.dumps({"seconds": None}))
        return
    began = time.perf_counter()
    for path in sorted(pathlib.Path(folder).iterdir()):
        image = cv2.imread(str(path))
        h, w = image.shape[:2]
        size = (shorter, shorter * h // w) if w < h else (shorter * w // h, shorter)
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        left, top = (size[0] - side) // 2, (size[1] - side) // 2
        image = image[top:top + side, left:left + side]
        blob = cv2.dnn.blobFromImage(image, 1 / 255, (side, side), tuple(255 * m for m in MEAN),
                                     swapRB=True)
        net.setInput(blob / np.reshape(STD, (1, 3, 1, 1)).astype(np.float32))
        net.forward()
    print(json.dumps({"seconds": time.perf_counter() - began}))


def run_node(model, folder, threads, work):
    """Prints the seconds of Pillow and node together, and of node alone."""
    import numpy as np
    paths = sorted(pathlib.Path(folder).iterdir())
    began = time.perf_counter()
    images = prepare_by_pillow(paths, side_of(model))
    prepared = (time.perf_counter() - began) / threads
    half = "fp16" in model
    images.astype(np.float16 if half else np.float32).tofile(work)
    found = subprocess.run(
        [os.path.join(common.ROOT, "scripts/web"), "node",
         os.path.join(common.ROOT, "bench/speed/onnx_node.mjs"),
         os.path.join(common.ROOT, "build/onnxruntime-node"), model, work,
         "float16" if half else "float32", str(threads), *map(str, images.shape)],
        stdout=subprocess.PIPE, check=True)
    alone = json.loads(found.stdout)["seconds"]
    print(json.dumps({"seconds": prepared + alone, "alone": alone}))


def run_milieu(model, folder, threads):
    """Prints the seconds of the whole command, its start and the trial of the network included."""
    with tempfile.TemporaryDirectory(prefix="milieu-bench-") as out:
        began = time.perf_counter()
        subprocess.run([common.PROGRAM, "features", folder, "--feature", f"onnx:{model}:preset=imagenet",
                        "--threads", str(threads), "--out", out + "/f", "--quiet"], check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(json.dumps({"seconds": time.perf_counter() - began, "milieu_bytes": peak}))


def compare(model, folder, threads, repeat, work):
    this = [sys.executable, __file__]
    contenders = {name: [*this, "--run", name, "--model", model, "--folder", folder, "--work", work,
                         "--threads", threads] for name in ("milieu", "opencv", "node")}
    runs = common.interleave(contenders, repeat, threads)
    count = len(list(folder.iterdir()))
    rates = {name: None if found[0]["seconds"] is None else count / common.median(found)
             for name, found in runs.items()}
    rates["node alone"] = count / common.median(runs["node"], "alone")
    rates["peak MB"] = common.median(runs["milieu"], "milieu_bytes") / 1e6
    return rates


def link_images(data, count, folder):
    paths = sorted((data / "caltech101").glob("*/*.jpg"))
    if not paths:
        sys.exit(f"{data}/caltech101 has no images: give the folder of data sets by --data")
    folder.mkdir()
    for i, path in enumerate(paths[::max(1, len(paths) // count)][:count]):
        (folder / f"{i:05}.jpg").symlink_to(path.resolve())
    return folder


def parse():
    shared = pathlib.Path(common.ROOT).parent / "shared"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=os.environ.get("MILIEU_MODELS", shared / "models"))
    parser.add_argument("--data", default=os.environ.get("MILIEU_DATA", shared / "data"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    for name in ("run", "model", "folder", "work"):  # of one contender
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.run == "opencv":
        return run_opencv(arguments.model, arguments.folder, arguments.threads)
    if arguments.run == "node":
        return run_node(arguments.model, arguments.folder, arguments.threads, arguments.work)
    if arguments.run == "milieu":
        return run_milieu(arguments.model, arguments.folder, arguments.threads)
    rows, found = [], {}
    with tempfile.TemporaryDirectory(prefix="milieu-bench-") as name:
        folder = link_images(pathlib.Path(arguments.data), arguments.count, pathlib.Path(name) / "images")
        for network in NETWORKS:
            for threads in (1, 2):
                rates = compare(pathlib.Path(arguments.models) / f"{network}.onnx", folder, threads,
                                arguments.repeat, pathlib.Path(name) / "inputs.raw")
                found[f"{network} {threads}"] = rates
                opencv = rates["opencv"]
                rows.append((network, threads, rates["milieu"], opencv or "-", rates["node"],
                             rates["node alone"], rates["milieu"] / opencv if opencv else "-",
                             rates["milieu"] / rates["node"], rates["peak MB"]))
    common.print_table(("images/s", "threads", "milieu", "opencv", "node", "node alone", "/ opencv", "/ node", "peak MB"),
                       rows)
    common.write_json(arguments.json, count=arguments.count, repeat=arguments.repeat, rates=found)
    return None


if __name__ == "__main__":
    main()
