"""Texts for the character model."""
