"""How `make docs` makes a site of these pages: Markdown by MyST, docstrings read from the source,
never imported.
"""

import re

project = "Attention Ledger"
extensions = ["myst_parser", "autoapi.extension"]
html_theme = "furo"
html_title = project
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]

myst_heading_anchors = 3
suppress_warnings = ["autoapi.python_import_resolution"]

default_role = "code"  # docstrings write `name` as Markdown does
autoapi_dirs = ["../models", "../workflow"]
autoapi_root = "api"
autoapi_python_use_implicit_namespaces = True
autoapi_generate_api_docs = False
autoapi_add_toctree_entry = False
autoapi_python_class_content = "class"
autoapi_options = ["members", "undoc-members"]
autodoc_member_order = "bysource"


def setup(app):
    """Docstrings write `*shape` as Python does: outside of code too, a star begins no emphasis."""
    app.connect("autodoc-process-docstring", escape_stars)


def escape_stars(app, what, name, obj, options, lines):
    """Write lines anew, in place, each star outside of backticks as a star."""
    lines[:] = [re.sub(r"(`[^`]*`)|\*", lambda found: found[1] or r"\*", line) for line in lines]
