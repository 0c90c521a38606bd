"""Sets of results: read, bundled, compared and merged, wherever they come from."""
