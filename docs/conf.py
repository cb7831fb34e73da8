"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

from neocc import __version__

ROOT = Path(__file__).parents[1]

project = "neocc"
author = "neocc developers"
copyright = "neocc developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "literal"
suppress_warnings = ["config.cache"]  # the order of examples is an object

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

EXAMPLES = [
    "southern_women",
    "planted",
    "leukemia",
    "single_cells",
    "tissues",
    "soil_microbes",
    "news",
    "reuters",
    "counts",
    "digits",
    "wine",
    "ratings",
]
os.environ.setdefault("MPLBACKEND", "agg")
warnings.filterwarnings("ignore", message=".*agg.*cannot be shown")
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": ExplicitOrder([f"plot_{name}.py" for name in EXAMPLES]),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),  # what examples print, not what their last line returns
    "min_reported_time": 0,
    "remove_config_comments": True,
    "reference_url": {"neocc": None},
    "doc_module": ("neocc",),
    "backreferences_dir": "api/examples",
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "neocc"
html_static_path = ["_static"]
html_css_files = ["neocc.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
