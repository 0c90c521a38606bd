"""Pairs of sentences for translation."""
