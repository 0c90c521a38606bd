"""Faster twins of the formula for one device: the same numbers, tested against it."""
