"""Faster twins of one formula for one device, never a second meaning."""
