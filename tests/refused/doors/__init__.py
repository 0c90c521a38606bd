"""Kinds of bad input, a file for each door that they come in through."""
