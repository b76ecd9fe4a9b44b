# SPDX-License-Identifier: Apache-2.0
"""The C++ reference: a page per module from doxygen's XML. Our comments are plain `//` above what they
describe, so a filter makes them doxygen's before it reads them."""

import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

DOXYFILE = """
PROJECT_NAME = Milieu
INPUT = {headers}
STRIP_FROM_PATH = {source}
INPUT_FILTER = {filter}
OUTPUT_DIRECTORY = {out}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
ENABLE_PREPROCESSING = NO
QUIET = YES
WARNINGS = NO
"""
PRIVATE = re.compile(r"_(internal|steps|loops)\.h$")


def public_headers(root):
    """Those that export something (base/export.h), by module."""
    modules = {}
    for path in sorted((root / "src/milieu").rglob("*.h")):
        if not PRIVATE.search(path.name) and "namespace MILIEU_API milieu {" in path.read_text(encoding="utf-8"):
            modules.setdefault(path.relative_to(root / "src/milieu").parts[0], []).append(path)
    return modules


def text_of(node):
    """A description without doxygen's structure."""
    words = "".join(node.itertext()) if node is not None else ""
    return re.sub(r"\s+", " ", words).strip()


def described(node):
    return " ".join(filter(None, (text_of(node.find("briefdescription")), text_of(node.find("detaileddescription")))))


def signature(member):
    kind = member.get("kind")
    if kind == "enum":
        values = ", ".join(value.findtext("name") for value in member.findall("enumvalue"))
        return f"enum class {member.findtext('name')} {{ {values} }};"
    template = member.find("templateparamlist")
    head = ""
    if template is not None:
        parts = [" ".join(filter(None, (text_of(p.find("type")), p.findtext("declname")))) for p in template]
        head = f"template <{', '.join(parts)}>\n"
    text = f"{text_of(member.find('type'))} {member.findtext('name')}{member.findtext('argsstring') or ''}".strip()
    return head + text + (member.findtext("initializer") and " " + text_of(member.find("initializer")) or "") + ";"


def members_text(owner, level):
    out = ""
    for section in owner.findall("sectiondef"):
        if not section.get("kind").startswith(("public", "enum", "func", "var", "typedef", "user")):
            continue
        for member in section.findall("memberdef"):
            if member.get("prot") == "public" and member.findtext("name"):
                out += f"```cpp\n{signature(member)}\n```\n\n"
                if words := described(member):
                    out += escaped(words) + "\n\n"
    return out


def escaped(text):
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def compounds(folder):
    """The XML of every class by its header, and of namespace milieu."""
    classes, functions = {}, {}
    for path in sorted(folder.glob("*.xml")):
        node = xml.parse(path).getroot().find("compounddef")
        if node is None:
            continue
        place = node.find("location")
        if node.get("kind") in ("class", "struct") and "internal" not in node.findtext("compoundname"):
            classes.setdefault(place.get("file"), []).append(node)
        if node.get("kind") == "namespace" and node.findtext("compoundname") == "milieu":
            for member in node.iter("memberdef"):
                functions.setdefault(member.find("location").get("file"), []).append(member)
    return classes, functions


def header_text(path):
    """The first lines of a header: what it is for."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return escaped(" ".join(lines))


def header_section(root, header, classes, functions):
    name = str(header.relative_to(root / "src"))
    key = str(header.relative_to(root / "src"))
    text = f"## {name}\n\n```cpp\n#include <{name}>\n```\n\n{header_text(header)}\n\n"
    for node in classes.get(key, []):
        kind = node.get("kind")
        text += f"### {kind} {escaped(node.findtext('compoundname').replace('milieu::', '', 1))}\n\n"
        if words := described(node):
            text += escaped(words) + "\n\n"
        text += members_text(node, 4)
    for member in functions.get(key, []):
        if member.findtext("name"):
            text += f"```cpp\n{signature(member)}\n```\n\n"
            if words := described(member):
                text += escaped(words) + "\n\n"
    return text


def write(root, out, work):
    modules = public_headers(root)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    headers = " ".join(str(path) for paths in modules.values() for path in paths)
    settings = DOXYFILE.format(headers=headers, source=root / "src", out=work,
                               filter=root / "packaging/site/comment_filter")
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, stdout=subprocess.DEVNULL)
    classes, functions = compounds(pathlib.Path(work) / "xml")
    (out / "cpp").mkdir()
    text = "# C++\n\nThe public headers, module by module, in the order of the layers.\n\n```{toctree}\n:maxdepth: 1\n\n"
    order = re.findall(r"add_subdirectory\((\w+)\)", (root / "src/milieu/CMakeLists.txt").read_text(encoding="utf-8"))
    for module in [name for name in order if name in modules and name != "testing"]:
        page = f"# milieu/{module}\n\n"
        for header in modules[module]:
            page += header_section(root, header, classes, functions)
        (out / "cpp" / f"{module}.md").write_text(page, encoding="utf-8")
        text += f"cpp/{module}\n"
    (out / "cpp.md").write_text(text + "```\n", encoding="utf-8")
