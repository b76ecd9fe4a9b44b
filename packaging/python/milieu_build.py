# SPDX-License-Identifier: Apache-2.0
"""A PEP 517 backend over the project's CMake: builds the package as `make python` does and zips it.

It needs nothing but the standard library and what the build itself needs, so that a wheel can be made
without a network."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

try:
    import tomllib
except ModuleNotFoundError:  # Python < 3.11
    tomllib = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = (2020, 1, 1, 0, 0, 0)  # the same bytes for the same content


def _version():
    return (ROOT / "VERSION").read_text(encoding="utf-8").strip()


def _project():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if tomllib:
        return tomllib.loads(text)["project"]
    return {"name": "milieu", "description": "Milieu", "requires-python": ">=3.9",
            "dependencies": ["numpy>=1.22", "scipy>=1.8", "scikit-learn>=1.2"],
            "readme": "docs/python.md", "license": {"text": "Apache-2.0"}, "classifiers": [],
            "keywords": []}


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}",
             f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += [f"Requires-Dist: {requirement}" for requirement in project["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "",
              (ROOT / project["readme"]).read_text(encoding="utf-8")]
    return "\n".join(lines)


def _tag():
    abi = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{abi}-{abi}-{platform}"


def _build_package():
    """Builds the package and returns its folder."""
    folder = os.environ.get("MILIEU_PYTHON_DIR")  # one that is built already
    if folder:
        return pathlib.Path(folder) / "milieu"
    subprocess.run(["cmake", "--preset", "release", "-DMILIEU_BUILD_TESTS=OFF",
                    f"-DPython_EXECUTABLE={sys.executable}"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "milieu_python"],
                   cwd=ROOT, check=True, stdout=sys.stderr)
    return ROOT / "build/python/milieu"


def _runtime_files(package, info):
    """Return ONNX Runtime and its licences where the build brought its own, by their place in the
    wheel."""
    runtime = package.parents[1] / "onnxruntime"
    library = runtime / "lib/libonnxruntime.so.1"
    if not library.is_file():
        return {}  # the system's is used
    files = {f"milieu/{library.name}": library.read_bytes()}
    for name in ("LICENSE", "ThirdPartyNotices.txt"):
        files[f"{info}/licenses/onnxruntime/{name}"] = (runtime / name).read_bytes()
    return files


def _record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel of the package; returns its file name."""
    package = _build_package()
    info = f"milieu-{_version()}.dist-info"
    wheel = ("Wheel-Version: 1.0\nGenerator: milieu_build\nRoot-Is-Purelib: false\n"
             f"Tag: {_tag()}\n")
    files = {f"milieu/{path.relative_to(package).as_posix()}": path.read_bytes()
             for path in sorted(package.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}
    files.update(_runtime_files(package, info))
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = [_record_line(name, data) for name, data in files.items()] + [f"{info}/RECORD,,", ""]
    files[f"{info}/RECORD"] = "\n".join(record).encode()
    name = f"milieu-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
            out.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Build an archive of the tracked sources; returns its file name."""
    base = f"milieu-{_version()}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as out:
        for name in listed:
            out.add(ROOT / name, f"{base}/{name}")
    return f"{base}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    """Return what must be installed first: nothing from an index."""
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
