"""Sets of results, from wherever they come: read alike, bundled, compared."""
