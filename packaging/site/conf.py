# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the documentation site; packaging/site/make prepares the pages."""

import pathlib

project = "Milieu"
author = "The Milieu developers"
copyright = "2026, The Milieu developers"  # pylint: disable=redefined-builtin
version = release = pathlib.Path("VERSION").read_text(encoding="utf-8").strip()
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = []
myst_heading_anchors = 5
myst_enable_extensions = ["colon_fence"]
html_theme = "furo"
html_title = f"Milieu {version}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
pygments_style = "site_style.Readable"
pygments_dark_style = "github-dark"
