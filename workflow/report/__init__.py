"""Tables, figures, claims and pages from runs tables."""
