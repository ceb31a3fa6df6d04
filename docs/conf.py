"""The site: guides as they are, a gallery that is run, a reference made from docstrings. ``make docs`` builds it."""

import sys
import warnings
from pathlib import Path

from robscore import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "robscore"
author = "The robscore developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_static", "_templates", "_ext", "gallery"]
templates_path = ["_templates"]
nitpicky = True  # a name in a text that leads nowhere ends the build

autosummary_generate = True
autodoc_typehints = "none"  # shapes and types stand in the docstrings
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the template of a class lists its members
myst_heading_anchors = 3  # guides link to headings of each other

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": ".*",  # every page is run
    "ignore_pattern": "__init__",
    "subsection_order": [
        "gallery/bad_rows",
        "gallery/bad_cells",
        "gallery/kinds_of_data",
        "gallery/groups_and_time",
        "gallery/how_sure",
        "gallery/large_tables",
        "gallery/other_tools",
    ],
    "within_subsection_order": "gallery_style.OverviewsFirst",
    "nested_sections": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|Text|Axes|tuple|list",
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1000,  # times are those of the machine that built the page
    "thumbnail_size": (420, 300),
    "doc_module": ("robscore",),
    "reference_url": {"robscore": None},
    "backreferences_dir": None,
}
warnings.filterwarnings("ignore", message=".*non-interactive.*")  # figures are kept, not shown

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "robscore"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 4,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
copyright = "the robscore developers, BSD-3-Clause"


def skip_foreign(app, what, name, obj, skip, options):
    """What classes inherit from other libraries is documented there."""
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None)
    return True if home and not home.startswith("robscore") else skip


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_foreign)
