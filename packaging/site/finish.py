# SPDX-License-Identifier: Apache-2.0
"""What Debian's theme leaves to do on the finished pages: its script is one file that also runs from
file://, and what it draws can be read by a screen reader and reached by the keyboard."""

import re

REPLACED = [
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Contents of the site">'),
    ('<label class="overlay ', '<label aria-hidden="true" class="overlay '),
    ('<label class="toc-overlay-icon ', '<label aria-hidden="true" class="toc-overlay-icon '),
    ("<pre>", '<pre tabindex="0">'),
]


def label_contents(text):
    return re.sub(r'<aside class="(toc-drawer[^"]*)">', r'<aside class="\1" aria-label="Contents of this page">', text)


def bundle_script(scripts):
    """furo.js imports a classic script as if it were a module; before it, it needs no import."""
    script = scripts / "furo.js"
    text = script.read_text(encoding="utf-8")
    first, rest = text.split("\n", 1)
    if first.startswith("import Gumshoe"):
        script.write_text((scripts / "gumshoe-patched.js").read_text(encoding="utf-8") + rest, encoding="utf-8")


def finish(out):
    for path in out.rglob("*.html"):
        text = label_contents(path.read_text(encoding="utf-8"))
        for old, new in REPLACED:
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    bundle_script(out / "_static/scripts")
