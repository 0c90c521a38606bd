"""How `make docs` makes a site of these pages: Markdown by MyST, docstrings read from the source, never imported."""

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
