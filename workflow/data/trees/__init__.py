"""Syntax trees for parsing."""
