"""How the documentation is built: offline, and a warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

import deniable

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "deniable"
author = "The deniable authors"
project_copyright = author
version = release = deniable.__version__

extensions = [
    "bars",
    "commands",
    "errors_table",
    "example",
    "mathml",
    "myst_parser",
    "rooms",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Signatures carry the types; docstrings do not repeat them.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_include_init_with_doc = True
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "deniable"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["house.css"]
# One page each: there is nothing beside it to go to.
html_sidebars: dict[str, list[str]] = {"index": [], "glossary": []}
html_theme_options = {
    "show_toc_level": 2,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
