"""What the papers print, and their formulas."""

PAPERS = ("adaptive_span", "explicit_sparse", "aiayn")
