"""One script per rule, of the same name."""
